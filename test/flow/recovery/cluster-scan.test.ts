import { describe, expect, it } from 'vitest';
import { createSeal } from '../../../src/adapters/seal/index.ts';
import { MemoryRunStore } from '../../../src/adapters/store/index.ts';
import { containerName } from '../../../src/core/container/build.ts';
import { KdebugError } from '../../../src/core/errors.ts';
import { asRunId, type RunId } from '../../../src/core/ids.ts';
import { RunSupervisor } from '../../../src/flow/supervisor.ts';
import { anOrigin, aPod, aTermination } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { BatchWorld } from '../batch/batch-world.ts';
import { World } from '../support/world.ts';

const MINUTE_MS = 60_000;

/** A bot without Redis: what it knows is gone with it. */
function boot(world: World): { readonly bot: RunSupervisor; readonly store: MemoryRunStore } {
  const store = new MemoryRunStore({ clock: world.clock });
  const { seal, open: unseal } = createSeal(Buffer.alloc(32, 1));
  const bot = new RunSupervisor({ ...world.deps(), store, seal, unseal });
  return { bot, store };
}

/** A container that was launched and never heard of again; its run was given up and told. */
async function neverEnded(): Promise<World> {
  const world = new World();
  const { bot } = boot(world);
  await bot.inbox.command(anOrigin(), 'web-1');
  await world.clock.advance(70_000);
  expect(world.thread.posts.map(({ meta }) => meta.kind)).toEqual(['anchor', 'result']);
  await bot.drain(0);
  return world;
}

/** A container that runs, and whose bot is gone. */
async function leftRunning(): Promise<World> {
  const world = new World();
  const { bot } = boot(world);
  await bot.inbox.command(anOrigin(), 'web-1');
  await settle();
  const drained = bot.drain(0);
  await world.clock.advance(2_000);
  await drained;
  return world;
}

async function restarted(world: World) {
  const { bot, store } = boot(world);
  bot.startAdopting();
  await world.clock.advance(20_000);
  const run = await store.read(world.runId);
  await bot.drain(0);
  return run;
}

const said = ({ thread, audit }: World) => ({
  posts: thread.posts.length,
  updates: thread.posts.reduce((sum, { updates }) => sum + updates, 0),
  outcomes: audit.entries.filter(({ step }) => step === 'outcome').length,
});

describe('a container that never ended, after a restart without a store', () => {
  it('is left alone when its clocks have run out and its result stands in its thread', async () => {
    const world = await neverEnded();
    world.clock.standStill(10 * MINUTE_MS);
    const before = said(world);
    expect(await restarted(world)).toBeUndefined();
    expect(said(world)).toEqual(before);
  });

  it('is told when nobody had told of it', async () => {
    const world = await neverEnded();
    world.clock.standStill(10 * MINUTE_MS);
    world.thread.posts.length = 1;
    expect(await restarted(world)).toMatchObject({ state: 'finished', rebuilt: true });
    expect(world.thread.posts.map(({ meta }) => meta.kind)).toEqual(['anchor', 'result']);
  });

  it('is told when its thread cannot be looked into any more', async () => {
    const world = await neverEnded();
    world.clock.standStill(10 * MINUTE_MS);
    world.thread.posts.length = 0;
    world.thread.faults.add('find', 'slack_message_gone');
    expect(await restarted(world)).toMatchObject({ state: 'finished', rebuilt: true });
  });

  it('is not said again for ever, once its anchor is not among the newest messages any more', async () => {
    const world = await neverEnded();
    world.clock.standStill(9 * 24 * 60 * MINUTE_MS);
    world.thread.find = () => Promise.resolve(undefined);
    const before = said(world);
    for (let n = 0; n < 3; n += 1) expect(await restarted(world)).toBeUndefined();
    expect(said(world)).toEqual(before);
  });

  it('is followed while its clocks run', async () => {
    const world = await leftRunning();
    const { bot: next, store } = boot(world);
    next.startAdopting();
    await world.clock.advance(1_000);
    world.cluster.report({ terminated: aTermination() });
    await settle();
    expect(await store.read(world.runId)).toMatchObject({ outcome: { kind: 'succeeded' }, rebuilt: true });
    await next.drain(0);
  });

  it('does not keep a run that is under way waiting while Slack is searched', async () => {
    const world = new World();
    const { bot } = boot(world);
    await bot.inbox.command(anOrigin(), 'web-1');
    await settle();
    world.cluster.report({ terminated: aTermination({ finishedAt: new Date(world.clock.now()).toISOString() }) });
    await world.clock.advance(5_000);
    await bot.inbox.command(anOrigin({ dedupeKey: 'slash:2' }), 'web-1 --timeout=9m');
    await settle();
    const drained = bot.drain(0);
    await world.clock.advance(2_000);
    await drained;

    world.thread.find = () => new Promise(() => {});
    const { bot: next, store } = boot(world);
    next.startAdopting();
    await settle();
    const held = (await world.cluster.pod('shop', 'web-1')).spec.ephemeralContainers.map(({ runId }) => runId);
    const [over, underWay] = await Promise.all(held.map((id) => id && store.read(id as RunId)));
    expect([held.length, over, underWay]).toEqual([2, undefined, expect.objectContaining({ rebuilt: true })]);
    const stopped = next.drain(0);
    await world.clock.advance(2_000);
    await stopped;
  });

  it('nor is its batch said again', async () => {
    const world = new BatchWorld(2);
    world.fleet.fateOf = () => ({ startMs: 100, runMs: 1_000, exitCode: 0, fails: 'ImagePullBackOff' });
    await world.say('deployment/web -n shop --image=debian --parallelism=2');
    await world.clock.advance(10 * MINUTE_MS);
    expect([world.anchors.length, world.results.length]).toEqual([1, 1]);
    world.clock.standStill(9 * 24 * 60 * MINUTE_MS);
    world.thread.find = () => Promise.resolve(undefined);
    world.emptyStore();
    world.restart();
    await world.clock.advance(10 * MINUTE_MS);
    expect(await world.store.read(world.id)).toBeUndefined();
    expect([world.anchors.length, world.results.length, world.shares.length]).toEqual([1, 1, 1]);
  });
});

it('the log says when a namespace cannot be scanned, and when it can again, however often it was tried', async () => {
  const world = await leftRunning();
  const lines: string[] = [];
  const note = (message: string): void => void lines.push(message);
  const { cluster } = world;
  const pods = cluster.pods.bind(cluster);
  cluster.pods = () => Promise.reject(new KdebugError('cluster_unreachable'));
  const store = new MemoryRunStore({ clock: world.clock });
  const { seal, open: unseal } = createSeal(Buffer.alloc(32, 1));
  const log = { debug: () => {}, info: note, warn: note, error: note };
  const next = new RunSupervisor({ ...world.deps(), store, seal, unseal, log });
  next.startAdopting();
  await world.clock.advance(5 * MINUTE_MS);
  expect(lines).toEqual(['scan for lost runs failed, will retry']);
  cluster.pods = pods;
  await world.clock.advance(30_000);
  expect(lines.slice(1).toSorted()).toEqual([
    'found a run in the cluster that the store had lost',
    'found ended runs in the cluster, searching for their results',
    'scan for lost runs works again',
  ]);
  const stopped = next.drain(0);
  await world.clock.advance(2_000);
  await stopped;
});

describe('what a container carries', () => {
  /** A run was launched and its bot is gone; then somebody who may patch pods adds a container that carries the same. */
  async function copied(over: {
    readonly name: string;
    readonly runId: RunId;
    readonly uid?: string;
    readonly fingerprint?: string;
  }) {
    const world = await leftRunning();
    const [ours] = (await world.cluster.pod('shop', 'web-1')).spec.ephemeralContainers;
    const { name, runId, uid = 'uid-1', fingerprint = ours?.fingerprint ?? '' } = over;
    const copy = { ...ours, name, runId, image: 'evil:1', fingerprint };
    world.cluster.setPod(aPod({ metadata: { uid }, spec: { ephemeralContainers: [copy] } }));
    const { bot: next, store } = boot(world);
    next.startAdopting();
    await world.clock.advance(1_000);
    const drainedToo = next.drain(0);
    await world.clock.advance(2_000);
    await drainedToo;
    return store.read(runId);
  }
  const own = asRunId('aaaaaaaaaa');
  const other = asRunId('zzzzzzzzzz');

  it('opens in that very container', async () => {
    expect(await copied({ name: containerName(own, 'uid-1'), runId: own })).toMatchObject({ id: own, rebuilt: true });
  });

  it.each([
    ['of another run', { name: containerName(other, 'uid-1'), runId: other }],
    ['of another pod', { name: containerName(own, 'uid-2'), runId: own, uid: 'uid-2' }],
    ['of another name', { name: 'kdebug-mine', runId: own }],
    ['that does something else', { name: containerName(own, 'uid-1'), runId: own, fingerprint: 'other' }],
  ])('does not open in a container %s', async (_, over) => {
    expect(await copied(over)).toBeUndefined();
  });
});
