import { expect, it } from 'vitest';
import { KdebugError, type ReasonCode } from '../../../src/core/errors.ts';
import type { Destination } from '../../../src/flow/ports/slack.ts';
import { anOrigin, aTermination } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { World } from '../support/world.ts';

const HOUR_MS = 3_600_000;

/** Slack refuses this call for good, at those places. */
function refuse(
  world: World,
  method: 'post' | 'update' | 'tell',
  code: ReasonCode,
  at = (_: Destination): boolean => true,
) {
  const call = world.thread[method].bind(world.thread) as (where: Destination, ...rest: unknown[]) => Promise<unknown>;
  const refusing = async (where: Destination, ...rest: unknown[]): Promise<unknown> => {
    if (!at(where)) return call(where, ...rest);
    world.thread.calls.push(`${method} refused`);
    throw new KdebugError(code);
  };
  Object.assign(world.thread, { [method]: refusing });
}

async function ended(world: World, log = ''): Promise<void> {
  world.cluster.log = log;
  world.cluster.report({ terminated: aTermination() });
  await settle();
  await world.clock.advance(HOUR_MS);
}

const outcomes = ({ audit }: World): number => audit.entries.filter(({ step }) => step === 'outcome').length;
const refusals = ({ thread }: World, method: string): number =>
  thread.calls.filter((call) => call === `${method} refused`).length;

it('an anchor that may not be changed any more does not hold up the result', async () => {
  const world = new World();
  refuse(world, 'update', 'slack_refused');
  await world.say('web-1');
  await ended(world);
  expect(world.thread.posts.map(({ meta }) => meta.kind)).toEqual(['anchor', 'result']);
  expect((await world.run()).delivery).toMatchObject({ anchorGone: true, closed: true });
  expect([refusals(world, 'update'), world.pipeline.active]).toEqual([1, 0]);
});

it('a result that may not be changed any more stays as it was, and the run is let go', async () => {
  const world = new World();
  await world.say('web-1');
  await world.clock.advance(61_000);
  refuse(world, 'update', 'slack_message_gone');
  await ended(world);
  expect((await world.run()).delivery.closed).toBe(true);
  expect(world.cluster.watchers).toBe(0);
});

it('a thread that is gone is left for its channel, by the anchor, the result and the file', async () => {
  const world = new World();
  const inThread = ({ threadTs }: Destination): boolean => threadTs === '5.0';
  refuse(world, 'post', 'slack_message_gone', inThread);
  world.thread.faults.add('share', 'slack_message_gone');
  await world.say('web-1', anOrigin({ source: 'mention', threadTs: '5.0' }));
  await ended(world, 'line\n'.repeat(500));
  expect(world.thread.posts.map(({ meta, place }) => [meta.kind, place])).toEqual([
    ['anchor', { channelId: 'C0SHOP' }],
    ['result', { channelId: 'C0SHOP', threadTs: '1.0' }],
    ['result', { channelId: 'C0SHOP' }],
  ]);
  expect(world.thread.files.map(({ place }) => place)).toEqual([{ channelId: 'C0SHOP' }]);
});

it('from a channel that is closed as well, who asked gets it directly', async () => {
  const world = new World();
  await world.say('web-1', anOrigin({ source: 'mention', threadTs: '5.0' }));
  refuse(world, 'post', 'slack_message_gone', ({ threadTs }) => threadTs !== undefined);
  const isClosed = ({ channelId, threadTs }: Destination): boolean => channelId === 'C0SHOP' && threadTs === undefined;
  refuse(world, 'post', 'slack_channel_closed', isClosed);
  await ended(world);
  expect(world.thread.posts.map(({ meta, place }) => [meta.kind, place])).toEqual([
    ['anchor', { channelId: 'C0SHOP', threadTs: '5.0' }],
    ['result', { channelId: 'D-U0ROY' }],
  ]);
});

it.each(['slack_channel_closed', 'slack_refused'] as const)(
  'a refusal that cannot be told where it was asked (%s) goes to a direct message, once',
  async (code) => {
    const world = new World();
    refuse(world, 'tell', code);
    world.thread.faults.add('post', 'slack_unanswered', 'after');
    await world.say('web-1 -n forbidden');
    await world.clock.advance(HOUR_MS);
    expect(world.thread.posts.map(({ place }) => place)).toEqual([{ channelId: 'D-U0ROY' }]);
    expect(world.result()?.code).toBe('namespace_not_allowed');
    expect((await world.run()).delivery.told).toBe(true);
    expect([outcomes(world), world.pipeline.active]).toEqual([1, 0]);
  },
);

it('a refusal that nobody can be told is on record, and the run is let go', async () => {
  const world = new World();
  refuse(world, 'tell', 'slack_channel_closed');
  refuse(world, 'post', 'slack_refused');
  await world.say('web-1 -n forbidden');
  await world.clock.advance(HOUR_MS);
  expect((await world.run()).delivery.told).toBe(true);
  expect([refusals(world, 'tell'), outcomes(world), world.pipeline.active]).toEqual([1, 1, 0]);
});

it('a refusal is on record while it cannot be told yet', async () => {
  const world = new World();
  for (let n = 0; n < 20; n += 1) world.thread.faults.add('tell', 'slack_unreachable');
  await world.say('web-1 -n forbidden');
  await world.clock.advance(60_000);
  expect((await world.run()).delivery.told).toBeUndefined();
  expect(outcomes(world)).toBe(1);
});
