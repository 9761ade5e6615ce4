import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { KdebugError } from '../../../src/core/errors.ts';
import { destinationOf, privateDestinationOf, threadOf } from '../../../src/flow/context/destinations.ts';
import type { Destination } from '../../../src/flow/ports/slack.ts';
import { anOrigin, aPlan, aRun, aTermination } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { World } from '../support/world.ts';

const MENTION = anOrigin({ source: 'mention', threadTs: '5.0', beginsThread: true });
const SHOP = { channelId: 'C0SHOP' };
const AT_CARD = { ...SHOP, threadTs: '1.0' };

async function started(): Promise<World> {
  const world = new World();
  world.thread.goneThreads.add('5.0');
  await world.say('web-1', MENTION);
  return world;
}

async function ended(world: World, log = ''): Promise<void> {
  world.cluster.log = log;
  world.cluster.report({ terminated: aTermination() });
  await settle();
  await world.clock.advance(3_600_000);
}

/** Every place that Slack is asked to post to. */
function asked(world: World): readonly Destination[] {
  const places: Destination[] = [];
  const post = world.thread.post.bind(world.thread);
  world.thread.post = (place, ...rest) => {
    places.push(place);
    return post(place, ...rest);
  };
  return places;
}

const posted = ({ thread }: World) => thread.posts.map(({ meta, place }) => [meta.kind, place]);
const errors = ({ logged }: World) => logged.filter(({ level }) => level === 'error');

describe('a reply that Slack put into the channel, because its thread is gone', () => {
  it('is posted, and the rest of the run follows in the thread of its card', async () => {
    const world = await started();
    const places = asked(world);
    await ended(world);
    expect(posted(world)).toEqual([
      ['anchor', SHOP],
      ['result', AT_CARD],
    ]);
    expect(places).toEqual([AT_CARD]);
    const { anchor, threadsGone, closed } = (await world.run()).delivery;
    expect([anchor, threadsGone, closed]).toEqual([{ ...SHOP, ts: '1.0' }, ['5.0'], true]);
    expect(world.thread.posts[0]?.updates).toBeGreaterThan(0);
    expect(errors(world)).toEqual([]);
  });

  it('counts as one that Slack refused', async () => {
    const world = new World();
    const post = world.thread.post.bind(world.thread);
    world.thread.post = async (place, ...rest) => {
      if (place.threadTs === '5.0') throw new KdebugError('slack_message_gone');
      return post(place, ...rest);
    };
    await world.say('web-1', MENTION);
    await ended(world);
    expect(posted(world)).toEqual([
      ['anchor', SHOP],
      ['result', AT_CARD],
    ]);
    expect((await world.run()).delivery.threadsGone).toEqual(['5.0']);
  });

  it('leaves the channel when the card is gone as well', async () => {
    const world = await started();
    world.thread.goneThreads.add('1.0');
    await ended(world);
    expect(posted(world)).toEqual([
      ['anchor', SHOP],
      ['result', SHOP],
    ]);
    const { delivery } = await world.run();
    expect([delivery.result, delivery.threadsGone]).toEqual([{ ...SHOP, ts: '2.0' }, ['5.0', '1.0']]);
    expect([threadOf(await world.run()), errors(world)]).toEqual([SHOP, []]);
  });

  it('is found in the channel after an answer that got lost, and not posted again', async () => {
    const world = new World();
    world.thread.goneThreads.add('5.0');
    world.thread.faults.add('post', 'slack_unanswered', 'after');
    await world.say('web-1', MENTION);
    await world.clock.advance(60_000);
    await ended(world);
    expect(posted(world)).toEqual([
      ['anchor', SHOP],
      ['result', AT_CARD],
    ]);
    expect((await world.run()).delivery.threadsGone).toEqual(['5.0']);
  });

  it.each(['result', 'file'] as const)(
    'is found there by the next replica after a crash in between: %s',
    async (kind) => {
      const world = new World();
      world.thread.goneThreads.add('5.0');
      const log = {
        bytes: 1,
        lines: 1,
        sha256: '',
        redactions: 0,
        completeness: { complete: true, limitReached: false, beginningMayBeMissing: false, gaps: [] },
        head: 'x',
        tail: '',
        omittedLines: 1,
      };
      const over = { state: 'finished', plan: aPlan(), outcome: { kind: 'succeeded' } } as const;
      const run = aRun({
        id: world.runId,
        origin: MENTION,
        ...over,
        ...(kind === 'file' && { log }),
        delivery: {
          anchorGone: true,
          ...(kind === 'file' && { threadsGone: ['5.0'], result: { ...SHOP, ts: '0.9' } }),
        },
      });
      await world.store.create(run, 'dead-replica');
      const message = { summary: '', tone: 'neutral', parts: [] } as const;
      const at = { ...SHOP, threadTs: '5.0' };
      const open = () => Readable.from([Buffer.from('x')]);
      const file = { filename: `kdebug-${run.id}.log`, title: 'x', bytes: 1, open };
      if (kind === 'file') await world.thread.share(at, () => message, [file]);
      else await world.thread.post(at, message, { run: run.id, kind: 'result', seq: 1 });
      world.pipeline.startAdopting();
      await world.clock.advance(120_000);
      expect(posted(world)).toEqual([['result', SHOP]]);
      const { result, threadsGone, closed } = (await world.run()).delivery;
      expect([result, threadsGone, closed]).toEqual([{ ...SHOP, ts: kind === 'file' ? '0.9' : '1.0' }, ['5.0'], true]);
      await world.pipeline.drain(0);
    },
  );
});

it('nobody is answered in a thread that is gone', () => {
  const delivery = { anchor: { ...SHOP, ts: '1.0' } };
  const run = aRun({ origin: anOrigin({ threadTs: '5.0' }), delivery });
  expect([destinationOf(run), privateDestinationOf(run)]).toMatchObject([{ threadTs: '5.0' }, { threadTs: '5.0' }]);
  const without = { ...run, delivery: { ...delivery, threadsGone: ['5.0'] } };
  expect([destinationOf(without), threadOf(without)]).toEqual([SHOP, AT_CARD]);
  expect(privateDestinationOf(without).threadTs).toBeUndefined();
});
