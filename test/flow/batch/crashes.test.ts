import { describe, expect, it } from 'vitest';
import type { ActionName } from '../../../src/core/actions.ts';
import { asRunId } from '../../../src/core/ids.ts';
import { inFullOr } from '../../support/sample.ts';
import { BatchWorld } from './batch-world.ts';
import type { Death } from './mortal.ts';

const ASKED = 'deployment/web -n shop --image=debian --parallelism=2';
const PODS = 5;
const LONG = 120_000;

/** What must be true of a batch that has ended, whatever happened to the bots that worked on it. */
async function checkEnd(world: BatchWorld, pods = PODS, parallelism = 2): Promise<void> {
  const run = await world.run();
  expect([run.state, run.delivery.closed]).toEqual(['finished', true]);
  expect(await world.counts()).toMatchObject({ succeeded: pods });
  expect(new Set(world.fleet.launches.map(({ pod }) => pod.name)).size).toBe(pods);
  expect(world.fleet.launches).toHaveLength(pods);
  expect(world.fleet.peak).toBeLessThanOrEqual(parallelism);
  expect([world.anchors.length, world.results.length]).toEqual([1, 1]);
  const shared = world.shares.flatMap(({ files }) => files);
  expect(new Set(shared).size).toBe(shared.length);
  expect(world.text('anchor')).toContain(`on ${pods} pods in shop: all runs succeeded`);
  const names = world.thread.files.map(({ filename }) => filename);
  expect(names).toEqual([`kdebug-batch-${world.id}.txt`, `kdebug-batch-${world.id}.csv`]);
  const logs = world.thread.files[0]?.content ?? '';
  for (let index = 0; index < pods; index += 1) expect(logs.split(`seen in web-${index}\n`)).toHaveLength(2);
}

async function effectsOfAWholeLife(): Promise<number> {
  const world = new BatchWorld(PODS);
  await world.say(ASKED);
  await world.clock.advance(LONG);
  await checkEnd(world);
  return world.process.effects;
}

async function dieAndGoOn(death: Death): Promise<BatchWorld> {
  const world = new BatchWorld(PODS, { death });
  await world.say(ASKED);
  await world.clock.advance(20_000);
  world.restart();
  // Nothing was acknowledged when it died before the request was kept: Slack delivers it again.
  if (!(await world.store.read(world.id))) {
    world.id = asRunId('bbbbbbbbbb');
    await world.say(ASKED);
  }
  await world.clock.advance(LONG);
  return world;
}

describe('a bot that dies at any of its effects', () => {
  it.each(['before', 'after'] as const)(
    '%s it happened, leaves a batch that another one brings to its right end',
    async (when) => {
      const effects = await effectsOfAWholeLife();
      expect(effects).toBeGreaterThan(20);
      for (let at = 1; at <= effects; at += inFullOr(1, 3)) {
        const world = await dieAndGoOn({ at, when });
        try {
          expect(world.process.isDead).toBe(false);
          await checkEnd(world);
        } catch (error) {
          throw new Error(`after a death ${when} effect ${at} of ${effects}: ${error}`);
        }
      }
    },
  );

  it('between two writes of the batch, finds in the cluster what it had launched', async () => {
    const world = new BatchWorld(30);
    world.fleet.fateOf = () => ({ startMs: 10, runMs: 100, exitCode: 0 });
    await world.say(ASKED);
    await world.clock.advance(950);
    const kept = (await world.batch()).pods.filter(({ launchedAtMs }) => launchedAtMs !== undefined).length;
    expect(world.fleet.launches.length).toBeGreaterThan(kept + 4);
    world.restart();
    await world.clock.advance(LONG);
    await checkEnd(world, 30);
  });

  it('never says of a pod that it had no turn when a container was started there', async () => {
    const world = new BatchWorld(20);
    world.fleet.fateOf = () => ({ startMs: 10, runMs: 190, exitCode: 0 });
    await world.say(`${ASKED} --ttl=3s`);
    await world.clock.advance(900);
    const untouched = 20 - world.fleet.launches.length;
    world.restart();
    await world.clock.advance(LONG);
    expect(untouched).toBeGreaterThan(0);
    expect([(await world.run()).state, (await world.counts()).cancelled]).toEqual(['finished', untouched]);
  });

  it('again and again, gets through', async () => {
    const world = new BatchWorld(10);
    await world.say(ASKED);
    for (let times = 0; times < 6; times += 1) {
      await world.clock.advance(700);
      world.restart();
      await world.clock.advance(4_000);
    }
    await world.clock.advance(LONG);
    await checkEnd(world, 10);
  });
});

describe('a store that loses everything', () => {
  it('gets the batch back from who works on it, with what had ended', async () => {
    const world = new BatchWorld(PODS);
    await world.say(ASKED);
    await world.clock.advance(1_500);
    world.emptyStore();
    await world.clock.advance(LONG);
    await checkEnd(world);
  });

  it('together with the only bot that knew the batch: what was started is found in the cluster, followed, and told with what is not known', async () => {
    const world = new BatchWorld(PODS);
    await world.say(ASKED);
    await world.clock.advance(1_500);
    const started = world.fleet.launches.map(({ pod }) => pod.name);
    expect(started.length).toBeGreaterThan(0);
    expect(started.length).toBeLessThan(PODS);
    world.emptyStore();
    world.restart();
    await world.clock.advance(LONG);
    const run = await world.run();
    expect([run.state, run.delivery.closed, run.rebuilt]).toEqual(['finished', true, true]);
    expect(world.fleet.launches).toHaveLength(started.length);
    expect(await world.counts()).toMatchObject({ succeeded: started.length, queued: 0 });
    expect([world.anchors.length, world.results.length]).toEqual([1, 1]);
    for (const kind of ['anchor', 'result'] as const) {
      expect(world.text(kind)).toContain(`: ${started.length} runs succeeded`);
      expect(world.text(kind)).toContain('kdebug restarted and recovered this from the cluster');
    }
    for (const name of started) expect(world.thread.files[0]?.content).toContain(`seen in ${name}`);
  });

  it('after a batch was told of: nothing is told again', async () => {
    const world = new BatchWorld(PODS);
    await world.say(ASKED);
    await world.clock.advance(LONG);
    world.emptyStore();
    world.restart();
    await world.clock.advance(LONG);
    expect(await world.store.read(world.id)).toBeUndefined();
    expect([world.anchors.length, world.results.length]).toEqual([1, 1]);
  });
});

describe('a batch that is taken over while the cluster does not answer', () => {
  async function changed(...actions: readonly ActionName[]): Promise<BatchWorld> {
    const world = new BatchWorld(8);
    world.fleet.fateOf = () => ({ startMs: 100, runMs: 30_000, exitCode: 0 });
    await world.say(ASKED);
    await world.clock.advance(3_000);
    world.fleet.isSilent = true;
    world.restart();
    await world.clock.advance(10_000);
    for (const action of actions) {
      await world.click(action);
      await world.clock.advance(1_000);
    }
    world.fleet.isSilent = false;
    await world.clock.advance(LONG * 2);
    return world;
  }

  it('stays cancelled when somebody cancels it meanwhile', async () => {
    const world = await changed('cancel');
    expect(world.fleet.launches).toHaveLength(2);
    expect((await world.batch()).closed).toMatchObject({ because: 'cancelled', byUserId: 'U0ROY' });
    expect(await world.counts()).toMatchObject({ succeeded: 2, cancelled: 6 });
    expect((await world.run()).delivery.closed).toBe(true);
  });

  it('stays paused when somebody pauses it meanwhile', async () => {
    const world = await changed('pause');
    expect(world.fleet.launches).toHaveLength(2);
    expect((await world.batch()).paused).toMatchObject({ byUserId: 'U0ROY' });
  });

  it('is not begun again when it was ended meanwhile', async () => {
    const world = new BatchWorld(8);
    await world.say(`${ASKED} --canary`);
    await world.clock.advance(10_000);
    expect((await world.batch()).canary).toBe('waiting');
    world.fleet.isSilent = true;
    world.restart();
    await world.clock.advance(10_000);
    await world.click('cancel');
    await world.clock.advance(10_000);
    expect((await world.run()).delivery.closed).toBe(true);
    world.fleet.isSilent = false;
    await world.clock.advance(LONG);
    expect((await world.run()).state).toBe('finished');
    expect(world.fleet.launches).toHaveLength(1);
  });
});
