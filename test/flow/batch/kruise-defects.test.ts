import { describe, expect, it } from 'vitest';
import { statusOf } from '../../../src/core/batch/pod-state.ts';
import { BatchWorld } from './batch-world.ts';

/**
 * The ten defects of OpenKruise's EphemeralJob (features.md, "Defects to avoid", by number), each as it would show here.
 * Kruise: issue 2514 and pull request 2516 confirm the first two.
 */
const WEB = 'deployment/web -n shop --image=debian';
const LONG = 300_000;

const quick = { startMs: 10, runMs: 100, exitCode: 0 };
const isDone = async (world: BatchWorld) => (await world.run()).state === 'finished';
const statusNow = async (world: BatchWorld) => statusOf(await world.batch(), await world.counts());

describe('what EphemeralJob of Kruise gets wrong', () => {
  it('1: one success and one failure end', async () => {
    const world = new BatchWorld(2);
    world.fleet.fateOf = (name) => ({ ...quick, exitCode: name === 'web-1' ? 1 : 0 });
    await world.say(`${WEB} --parallelism=2`);
    await world.clock.advance(LONG);
    expect([await isDone(world), await statusNow(world)]).toEqual([true, 'PartiallySucceeded']);
  });

  it('2: replicas above what matches end', async () => {
    const world = new BatchWorld(2);
    world.fleet.fateOf = () => quick;
    await world.say(`${WEB} --replicas=5`);
    await world.clock.advance(LONG);
    expect([await isDone(world), await statusNow(world)]).toEqual([true, 'Succeeded']);
  });

  it('3: what waits for its image counts for the width', async () => {
    const world = new BatchWorld(6);
    world.fleet.fateOf = () => ({ startMs: 30_000, runMs: 1_000, exitCode: 0 });
    await world.say(`${WEB} --parallelism=2`);
    await world.clock.advance(29_000);
    expect([world.fleet.launches.length, world.fleet.peak]).toEqual([2, 2]);
    expect(await world.counts()).toMatchObject({ starting: 2, queued: 4 });
    await world.clock.advance(LONG);
    expect([await isDone(world), world.fleet.peak]).toEqual([true, 2]);
  });

  it('4: near the end the last pods do not wait until all others have ended', async () => {
    const world = new BatchWorld(4);
    world.fleet.fateOf = (name) => ({ startMs: 0, runMs: name === 'web-0' ? 60_000 : 1_000, exitCode: 0 });
    await world.say(`${WEB} --parallelism=3`);
    await world.clock.advance(1_001);
    expect(world.fleet.launches).toHaveLength(4);
  });

  it.each(['ImagePullBackOff', 'CreateContainerConfigError'])(
    '5: a container that cannot start (%s) does not wait for ever',
    async (fails) => {
      const world = new BatchWorld(2);
      world.fleet.fateOf = () => ({ ...quick, fails });
      await world.say(`${WEB} --parallelism=2`);
      await world.clock.advance(5_000);
      expect([await isDone(world), await world.counts()]).toMatchObject([true, { 'start-failed': 2 }]);
      expect(world.text('result')).toContain(fails);
    },
  );

  it('6: a second batch on the same pods runs in all of them', async () => {
    const world = new BatchWorld(2);
    world.fleet.fateOf = () => quick;
    await world.say(WEB);
    await world.clock.advance(LONG);
    await world.say(WEB);
    await world.clock.advance(LONG);
    expect(world.fleet.launches).toHaveLength(4);
    expect(new Set(world.fleet.launches.map(({ container }) => container.name)).size).toBe(4);
    expect(world.results).toHaveLength(2);
  });

  it('7: a pod that is deleted stays in the counts, and its result in the file', async () => {
    const world = new BatchWorld(2);
    world.fleet.fateOf = (name) => ({ startMs: 0, runMs: name === 'web-1' ? 60_000 : 100, exitCode: 0 });
    await world.say(`${WEB} --parallelism=2`);
    await world.clock.advance(1_000);
    world.fleet.set('web-0', undefined);
    world.fleet.set('web-1', undefined);
    await world.clock.advance(LONG);
    expect(await world.counts()).toMatchObject({ succeeded: 1, lost: 1 });
    expect(world.thread.files[0]?.content).toContain('seen in web-0');
    expect(world.thread.files[0]?.content).toContain('web-1\tnode-1\tlost');
  });

  it('8: the deadline and a cancel stop it, and say what still runs', async () => {
    const world = new BatchWorld(4);
    world.fleet.fateOf = () => ({ startMs: 0, runMs: 60_000, exitCode: 0 });
    await world.say(`${WEB} --ttl=10s`);
    await world.clock.advance(11_000);
    expect([await isDone(world), world.fleet.launches.length]).toEqual([true, 1]);
    expect(world.text('anchor')).toContain('kdebug no longer waits for those still running');
    const cancelled = new BatchWorld(4);
    await cancelled.say(WEB);
    await cancelled.click('cancel');
    await cancelled.clock.advance(LONG);
    expect([await isDone(cancelled), cancelled.fleet.launches.length]).toEqual([true, 1]);
  });

  it('9: a server without the subresource is a failure, not a success', async () => {
    const world = new BatchWorld(3);
    world.fleet.isUnsupported = true;
    await world.say(WEB);
    await world.clock.advance(LONG);
    expect(await world.counts()).toMatchObject({ succeeded: 0 });
    expect([await statusNow(world), world.text('result').includes('subresource')]).toEqual(['Failed', false]);
    expect(world.thread.files[0]?.content).toContain('no ephemeralcontainers subresource');
  });

  it('10: there are logs, exit codes and a list of pods', async () => {
    const world = new BatchWorld(2);
    world.fleet.fateOf = (name) => ({ ...quick, exitCode: name === 'web-1' ? 3 : 0 });
    await world.say(WEB);
    await world.clock.advance(LONG);
    const [text, table] = world.thread.files.map(({ content }) => content);
    expect(text).toContain('1\tweb-0\tnode-0\tsucceeded\t0');
    expect(text).toContain('2\tweb-1\tnode-1\tfailed\t3');
    expect(text).toMatch(/===== 2 shop\/web-1 .* 14 bytes of log follow\nseen in web-1\n/);
    expect(table).toMatch(/2,shop,web-1,uid-1,node-1,failed,failed,3,Error/);
  });
});
