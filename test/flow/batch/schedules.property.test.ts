import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnsOf, countPods, inFlightOf, matchedOf } from '../../../src/core/batch/pod-state.ts';
import type { ReasonCode } from '../../../src/core/errors.ts';
import { isBatchRun } from '../../../src/core/run/life-cycle.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { inFullOr } from '../../support/sample.ts';
import { BatchWorld } from './batch-world.ts';
import type { Fate } from './fleet.ts';
import type { Mortal } from './mortal.ts';

const ms = fc.integer({ min: 0, max: 2_500 });
const fate: fc.Arbitrary<Fate> = fc.record({
  startMs: fc.integer({ min: 0, max: 400 }),
  runMs: fc.integer({ min: 0, max: 3_000 }),
  exitCode: fc.constantFrom(0, 0, 0, 1, 137),
  fails: fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    fc.constantFrom('ErrImageNeverPull', 'RunContainerError'),
  ),
});

/** What happens to the bots and their surroundings; time passes in between. */
const happening = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('time' as const), ms }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('death' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('sleep' as const), ms: fc.integer({ min: 100, max: 9_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('empty-store' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('trouble' as const),
      code: fc.constantFrom<ReasonCode>('cluster_busy', 'cluster_unreachable'),
      when: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('pause' as const, 'resume' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pod-gone' as const), index: fc.nat(11) }) },
);
type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never;

const parts = fc.record({
  pods: fc.integer({ min: 1, max: 12 }),
  parallelism: fc.integer({ min: 1, max: 4 }),
  fates: fc.array(fate, { minLength: 1, maxLength: 12 }),
  happenings: fc.array(happening, { maxLength: 14 }),
});

async function happen(world: BatchWorld, what: Happening): Promise<void> {
  switch (what.kind) {
    case 'time':
      return world.clock.advance(what.ms);
    case 'death':
      world.restart();
      return world.clock.advance(4_500);
    case 'sleep':
      return sleep(world, what.ms);
    case 'empty-store':
      return world.emptyStore();
    case 'trouble':
      world.fleet.troubles.push({ code: what.code, when: what.when });
      return undefined;
    case 'pod-gone':
      return world.fleet.set(`web-${what.index}`, undefined);
    default:
      return world.click(what.kind);
  }
}

/** Its machine stands still; another replica takes over, if it lasts; then it wakes, and both are there. */
async function sleep(world: BatchWorld, ms: number): Promise<void> {
  const sleeper: Mortal = world.process;
  sleeper.sleep();
  world.another();
  await world.clock.advance(ms);
  sleeper.wake();
  await world.clock.advance(10);
}

/** All that matched; of a batch that was rebuilt from the cluster, those that had been launched. */
function expectPods({ rebuilt, batch }: Run, pods: number): void {
  const matched = batch ? matchedOf(countPods(batch)) : pods;
  if (rebuilt) expect(matched).toBeLessThanOrEqual(pods);
  else expect(matched).toBe(pods);
}

describe('whatever happens to the bots, the store and the cluster', () => {
  it('no more run at a time than asked, none is started twice, counts add up, and it ends and is told once', async () => {
    await fc.assert(
      fc.asyncProperty(parts, async ({ pods, parallelism, fates, happenings }) => {
        const world = new BatchWorld(pods);
        world.fleet.fateOf = (name) =>
          fates[Number(name.slice(4)) % fates.length] ?? { startMs: 0, runMs: 0, exitCode: 0 };
        await world.say(`deployment/web -n shop --image=debian --parallelism=${parallelism}`);
        for (const what of happenings) {
          await happen(world, what);
          const run = await world.store.read(world.id);
          if (run && isBatchRun(run)) expectPods(run, pods);
        }
        // An emptied store is given back by whoever works on it. When both went at the same time, what was launched is found in the
        // cluster some seconds later; of a batch that had launched nothing there is nothing to find.
        await world.clock.advance(10_000);
        if (!(await world.store.read(world.id))) return;
        await world.click('resume');
        await world.clock.advance(120_000);
        const counts = await world.counts();
        expect(world.fleet.peak).toBeLessThanOrEqual(parallelism);
        const launched = world.fleet.launches.map(({ pod }) => pod.uid);
        expect(new Set(launched).size).toBe(launched.length);
        expectPods(await world.run(), pods);
        expect([inFlightOf(counts), counts.queued]).toEqual([0, 0]);
        expect(columnsOf(counts).running).toBe(0);
        expect((await world.run()).state).toBe('finished');
        expect([world.anchors.length, world.results.length]).toEqual([1, 1]);
      }),
      { numRuns: inFullOr(60, 20) },
    );
  });
});
