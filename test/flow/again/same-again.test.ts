import { describe, expect, it } from 'vitest';
import { KdebugError } from '../../../src/core/errors.ts';
import { asChannelId, asRunId, asUserId } from '../../../src/core/ids.ts';
import type { Message } from '../../../src/core/say/message/message.ts';
import { anOrigin, aPod, aPolicy } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { buttonsOf, textOf } from '../../support/plain-message.ts';
import { endAll } from '../support/ended.ts';
import { World } from '../support/world.ts';

const WORDS = 'web-1 --image=debian --profile=restricted -- ls';
const EVE = asUserId('U0EVE');

async function finished(policy = aPolicy()): Promise<World> {
  const world = new World({ policy });
  await world.say(WORDS);
  world.cluster.log = 'a line\n';
  await endAll(world);
  return world;
}

const launches = (world: World) => world.cluster.launches.length;

/** Sends the command once more; resolves with the private answer, if there is one. */
async function again(world: World, words = WORDS, over: object = {}): Promise<Message | undefined> {
  const before = world.thread.told.length;
  const answer = await world.say(words, anOrigin({ dedupeKey: 'two', ...over }));
  await settle();
  return answer ?? world.thread.told[before]?.message;
}

/** Presses the button under the newest private answer, wherever Slack shows it. */
async function runAnyway(world: World, userId: string): Promise<Message | undefined> {
  const [{ id: value } = { id: '' }] = await world.store.recent('C0SHOP', 1);
  const answer = await world.click(userId, 'run-anyway', { value, channelId: 'C0SHOP', messageTs: '55.5' });
  return answer.kind === 'message' ? answer.message : undefined;
}

describe('the same again', () => {
  it('is offered with its result instead of a second container', async () => {
    const world = await finished();
    await world.clock.advance(40_000);
    const posts = world.thread.posts.length;
    const offer = await again(world, WORDS, { requesterId: EVE });
    expect(textOf(offer)).toMatch(/Succeeded/);
    expect(textOf(offer)).toMatch(/same run for .*U0ROY.* finished \d+s ago, so nothing was started/);
    expect(JSON.stringify(offer)).toContain('See the result');
    expect(buttonsOf(offer)).toEqual(['run-anyway']);
    expect(launches(world)).toBe(1);
    expect(world.thread.posts).toHaveLength(posts);
  });

  it('is a refused request like any other: listed, with its reason, and in the audit log once', async () => {
    const world = await finished();
    await again(world);
    const [request] = await world.store.recent('C0SHOP', 1);
    expect(request).toMatchObject({ state: 'denied', refusal: { code: 'same_again', equalRun: 'aaaaaaaaaa' } });
    const recorded = world.audit.entries.filter(({ runId }) => runId === request?.id);
    expect(recorded.filter(({ step }) => step === 'decision').map(({ facts }) => facts)).toEqual([
      expect.objectContaining({ kind: 'deny', code: 'same_again' }),
    ]);
  });

  it('is looked for after the decision of the policy', async () => {
    const world = await finished();
    world.policy = aPolicy({ channels: {} });
    expect(textOf(await again(world))).toMatch(/Not started/);
    expect(await world.store.recent('C0SHOP', 1)).toMatchObject([{ refusal: { code: 'channel_unknown' } }]);
  });

  it('is planned once: one access review, recorded for the request that it is about', async () => {
    const world = await finished(
      aPolicy({ identity: { mode: 'impersonate', user: 'slack:{userId}', groups: [], users: {} } }),
    );
    const before = world.audit.entries.length;
    await again(world);
    const [request] = await world.store.recent('C0SHOP', 1);
    const reviews = world.audit.entries.slice(before).filter(({ step }) => step === 'access-review');
    expect(reviews.map(({ runId }) => runId)).toEqual([request?.id]);
  });

  it('links to no post that only the other requester can read', async () => {
    const world = await finished();
    const run = await world.store.read(asRunId('aaaaaaaaaa'));
    const result = { channelId: asChannelId('D0ROY'), ts: '7.0' };
    const { read } = world.store;
    world.store.read = async (id) =>
      id === run?.id ? { ...run, delivery: { ...run.delivery, result } } : read.call(world.store, id);
    const offer = await again(world, WORDS, { requesterId: EVE });
    expect(buttonsOf(offer)).toEqual(['run-anyway']);
    expect(JSON.stringify(offer)).not.toContain('D0ROY');
    expect(JSON.stringify(await again(world, WORDS, { dedupeKey: 'three' }))).toContain('D0ROY');
  });

  it('is the same whoever asks and why', async () => {
    const world = await finished();
    expect(buttonsOf(await again(world, WORDS.replace(' -- ', ' --reason="other words" -- ')))).toEqual(['run-anyway']);
  });

  it('runs on a click, once', async () => {
    const world = await finished();
    await again(world, WORDS, { requesterId: EVE });
    await Promise.all([runAnyway(world, 'U0EVE'), runAnyway(world, 'U0EVE')]);
    expect(launches(world)).toBe(2);
  });

  it('is the request just typed that runs: its own reason, in its own thread', async () => {
    const world = await finished();
    await again(world, WORDS.replace(' -- ', ' --reason="other words" -- '), { requesterId: EVE, threadTs: '7.7' });
    await runAnyway(world, 'U0EVE');
    const [newest] = await world.store.recent('C0SHOP', 1);
    expect(newest).toMatchObject({
      origin: { requesterId: 'U0EVE', threadTs: '7.7' },
      request: { reason: 'other words' },
    });
    expect(launches(world)).toBe(2);
  });

  it('runs for nobody but the person to whom it was offered', async () => {
    const world = await finished();
    await again(world, WORDS, { requesterId: EVE });
    expect(textOf(await runAnyway(world, 'U0ROY'))).toContain('button_stale');
    expect(launches(world)).toBe(1);
  });

  it('is the only refusal that a click overrules', async () => {
    const world = await finished();
    world.policy = aPolicy({ channels: {} });
    await again(world, WORDS, { requesterId: EVE });
    world.policy = aPolicy();
    expect(textOf(await runAnyway(world, 'U0EVE'))).toContain('button_stale');
    expect(launches(world)).toBe(1);
  });

  it.each([
    ['another command', WORDS.replace('ls', 'ps')],
    ['another image', 'web-1'],
    ['another profile', WORDS.replace('restricted', 'baseline')],
    ['another limit of time', WORDS.replace(' -- ', ' --timeout=7s -- ')],
  ])('is not %s', async (_, words) => {
    const world = await finished();
    expect(await again(world, words)).toBeUndefined();
    expect(launches(world)).toBe(2);
  });

  it('is not another pod of the same name', async () => {
    const world = await finished();
    world.cluster.setPod(aPod({ metadata: { uid: 'uid-2' } }));
    expect(await again(world)).toBeUndefined();
    expect(launches(world)).toBe(2);
  });

  it('is not pushed out of sight by its own offers', async () => {
    const world = await finished(aPolicy({ limits: { ...aPolicy().limits, runsPerUserPerMinute: 60 } }));
    for (let count = 0; count < 11; count += 1) await again(world, WORDS, { dedupeKey: `again-${count}` });
    expect(launches(world)).toBe(1);
  });

  it('is not one that ended in the future, by the clock of another replica', async () => {
    const world = await finished();
    const { recent } = world.store;
    world.store.recent = async (...which) =>
      (await recent.apply(world.store, which)).map((run) =>
        run.finishedAtMs === undefined ? run : { ...run, finishedAtMs: run.finishedAtMs + 86_400_000 },
      );
    expect(await again(world)).toBeUndefined();
    expect(launches(world)).toBe(2);
  });

  it('is forgotten after two minutes', async () => {
    const world = await finished();
    await world.clock.advance(121_000);
    expect(await again(world)).toBeUndefined();
    expect(launches(world)).toBe(2);
  });

  it('is offered to a failed command too, but not to one that never started', async () => {
    const failed = new World();
    await failed.say(WORDS);
    await endAll(failed, { exitCode: 3, reason: 'Error' });
    expect(textOf(await again(failed))).toMatch(/exit code 3/);
    const missing = new World();
    await missing.say(WORDS);
    missing.cluster.report({ waiting: { reason: 'ErrImagePull', message: 'no such image' } });
    await missing.clock.advance(61_000);
    expect(await again(missing)).toBeUndefined();
    expect(launches(missing)).toBe(2);
  });

  it('is no matter for a dry run', async () => {
    const world = await finished();
    await again(world, WORDS.replace(' -- ', ' --dry-run -- '));
    expect(textOf(world.thread.told.at(-1)?.message)).toContain('Dry run');
  });

  it('is not mistaken for a second delivery of the first command', async () => {
    const world = await finished();
    expect(await world.say(WORDS)).toBeUndefined();
    expect(launches(world)).toBe(1);
  });

  it('shows no private result to another person: their request runs', async () => {
    const { output } = aPolicy();
    const world = await finished(aPolicy({ output: { ...output, deliverTo: 'requester' } }));
    expect(await again(world, WORDS, { requesterId: EVE })).toBeUndefined();
    expect(launches(world)).toBe(2);
  });

  it.each([
    ['fails', () => Promise.reject(new KdebugError('store_unreachable'))],
    ['takes too long', () => new Promise<never>(() => undefined)],
  ])('holds no request back: where the search %s, it runs', async (_, recent) => {
    const world = await finished();
    world.store.recent = recent;
    expect(await again(world)).toBeUndefined();
    await world.clock.advance(1_100);
    expect(launches(world)).toBe(2);
  });

  it('counts as a run of the person: beyond the limit of a minute it is refused', async () => {
    const world = await finished(aPolicy({ limits: { ...aPolicy().limits, runsPerUserPerMinute: 2 } }));
    for (const dedupeKey of ['2', '3'])
      expect(buttonsOf(await again(world, WORDS, { dedupeKey, requesterId: EVE }))).toEqual(['run-anyway']);
    const third = await again(world, WORDS, { dedupeKey: '4', requesterId: EVE });
    expect(third?.code).toBe('limit_per_person');
    expect(launches(world)).toBe(1);
  });
});

describe('a secret in the command', () => {
  const SECRET = 'web-1 --image=debian --profile=restricted --env=TOKEN=hunter2hunter2 -- ls';

  it('is not confirmed to somebody who guesses it: their own request runs', async () => {
    const world = new World();
    await world.say(SECRET);
    await endAll(world);
    expect(await again(world, SECRET, { requesterId: EVE })).toBeUndefined();
    expect(launches(world)).toBe(2);
  });

  it('keeps the offer for whoever typed it', async () => {
    const world = new World();
    await world.say(SECRET);
    await endAll(world);
    expect(buttonsOf(await again(world, SECRET))).toEqual(['run-anyway']);
  });
});
