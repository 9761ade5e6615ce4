import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BatchEvent, PodResult } from '../../../src/core/batch/batch.ts';
import { launchWidth, nextLaunches, type OpenBatch, openBatch, recordOf } from '../../../src/core/batch/open-batch.ts';
import { countPods, inFlightOf, matchedOf, stateOf, statusOf } from '../../../src/core/batch/pod-state.ts';
import { batchTransition } from '../../../src/core/batch/transition.ts';
import { START_MS } from '../../support/builders.ts';
import { inFullOr } from '../../support/sample.ts';
import { aBatch, aResult, aStartFailure } from './a-batch.ts';

const RESULTS: readonly PodResult[] = [
  aResult(),
  aResult({ outcome: 'failed', exitCode: 1 }),
  aResult({ outcome: 'pod-gone' }),
  aResult({ outcome: 'stopped' }),
  aResult({ reading: true }),
  aStartFailure('A'),
  aStartFailure('B'),
];

const result = fc.constantFrom(...RESULTS);
const finalResult = fc.constantFrom(...RESULTS.filter(({ reading }) => !reading));
const size = fc.integer({ min: 1, max: 30 });

/** `step` is what the flow does: it launches what may be launched, and tells what the cluster says of any pod. */
const event: fc.Arbitrary<BatchEvent | 'launch' | 'crash'> = fc.oneof(
  { weight: 6, arbitrary: fc.constant('launch' as const) },
  { weight: 1, arbitrary: fc.constant('crash' as const) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('launched' as const), index: size }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('started' as const), index: fc.nat(30) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('ended' as const), index: fc.nat(30), result }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<BatchEvent>(
      { kind: 'paused', byUserId: 'U' },
      { kind: 'resumed' },
      { kind: 'continued' },
    ),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('resized' as const), parallelism: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('resized' as const), replicas: fc.nat(35) }) },
);

const ending: fc.Arbitrary<BatchEvent> = fc.constantFrom({ kind: 'cancelled', byUserId: 'U' }, { kind: 'ttl-expired' });
const parts = fc.record({
  size,
  nodes: fc.integer({ min: 1, max: 6 }),
  batch: fc.record(
    { parallelism: fc.integer({ min: 1, max: 10 }), replicas: size, ttlMs: fc.constant(10), canary: fc.boolean() },
    { requiredKeys: ['canary'] },
  ),
});

/** What must hold whatever happened. */
function check(open: OpenBatch, widest: number): void {
  const record = recordOf(open);
  expect(open.counts).toEqual(countPods(record));
  expect(matchedOf(open.counts)).toBe(open.pods.length);
  expect(inFlightOf(open.counts)).toBe(open.inFlight.size);
  expect(inFlightOf(open.counts)).toBeLessThanOrEqual(widest);
  const hasWork = open.counts.queued > 0 || open.inFlight.size > 0 || open.reading.size > 0;
  const isOver = open.head.endedAtMs !== undefined;
  if (!isOver && !open.head.closed) expect(hasWork).toBe(true);
  if (isOver) expect(hasWork).toBe(false);
  const launched = open.pods.filter(({ launchedAtMs }) => launchedAtMs !== undefined).length;
  if (open.counts.queued > 0)
    expect(launched + open.counts.queued).toBeLessThanOrEqual(open.head.replicas ?? open.pods.length);
}

/** Every node that has a pod queued must have at least as many in flight as any node had before it was given one more. */
function checkSpread(open: OpenBatch, next: readonly number[]): void {
  const inFlight = new Map<string, number>();
  for (const index of open.inFlight)
    inFlight.set(open.pods[index]!.node, (inFlight.get(open.pods[index]!.node) ?? 0) + 1);
  const left = open.pods.filter((pod) => stateOf(open.head, pod) === 'queued').map(({ index }) => index);
  const queued = new Set(left);
  for (const index of next) {
    const mine = inFlight.get(open.pods[index]!.node) ?? 0;
    const fewest = Math.min(...[...queued].map((other) => inFlight.get(open.pods[other]!.node) ?? 0));
    expect(mine).toBe(fewest);
    expect(queued.delete(index)).toBe(true);
    inFlight.set(open.pods[index]!.node, mine + 1);
  }
}

describe('under any schedule of events', () => {
  it('counts add up to what matched, the width is kept, nodes are spread, and a crash changes nothing', () => {
    fc.assert(
      fc.property(
        parts,
        fc.array(fc.oneof({ weight: 40, arbitrary: event }, { weight: 1, arbitrary: ending }), { maxLength: 120 }),
        (made, events) => {
          let open = openBatch(aBatch(made), START_MS);
          let now = START_MS;
          for (const happened of events) {
            const before = inFlightOf(open.counts);
            now += 1;
            if (happened === 'crash') {
              const next = nextLaunches(open);
              open = openBatch(JSON.parse(JSON.stringify(recordOf(open))), now);
              expect(nextLaunches(open)).toHaveLength(next.length);
            } else if (happened === 'launch') {
              const next = nextLaunches(open);
              expect(nextLaunches(open)).toEqual(next);
              checkSpread(open, next);
              for (const index of next) expect(batchTransition(open, { kind: 'launched', index }, now)).toBe('moved');
              // Never below min(parallelism, left): every gap was filled.
              const width = Math.min(launchWidth(open.head), inFlightOf(open.counts) + open.counts.queued);
              expect(inFlightOf(open.counts)).toBeGreaterThanOrEqual(width);
            } else {
              const record = JSON.stringify(recordOf(open));
              if (batchTransition(open, happened, now) === 'illegal')
                expect(JSON.stringify(recordOf(open))).toBe(record);
            }
            check(open, Math.max(before, open.head.parallelism));
          }
        },
      ),
      { numRuns: inFullOr(400, 50) },
    );
  });

  it('it ends: when every run in flight ends, and those who are asked say yes', () => {
    fc.assert(
      fc.property(parts, fc.array(event, { maxLength: 40 }), finalResult, (made, events, last) => {
        const open = openBatch(aBatch(made), START_MS);
        for (const happened of events) if (typeof happened !== 'string') batchTransition(open, happened, START_MS);
        for (let steps = 0; open.head.endedAtMs === undefined && steps <= open.pods.length + 1; steps += 1) {
          batchTransition(open, { kind: 'resumed' }, START_MS);
          batchTransition(open, { kind: 'continued' }, START_MS);
          for (const index of nextLaunches(open)) batchTransition(open, { kind: 'launched', index }, START_MS);
          for (const index of [...open.inFlight, ...open.reading])
            batchTransition(open, { kind: 'ended', index, result: last }, START_MS);
        }
        expect(open.head.endedAtMs).toBe(START_MS);
        expect(['Succeeded', 'Failed', 'PartiallySucceeded', 'Cancelled']).toContain(statusOf(open.head, open.counts));
      }),
      { numRuns: inFullOr(300, 50) },
    );
  });
});

describe('ten thousand pods', () => {
  it('take three events each, and no event looks at all of them', () => {
    const batch = aBatch({ size: 10_000, nodes: 300, batch: { parallelism: 500 } });
    const open = openBatch(batch, START_MS);
    let events = 0;
    const waiting: number[] = [];
    const launch = (): void => {
      for (const index of nextLaunches(open)) {
        waiting.push(index);
        batchTransition(open, { kind: 'launched', index }, START_MS);
        events += 1;
      }
    };
    launch();
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      batchTransition(open, { kind: 'started', index }, START_MS);
      batchTransition(open, { kind: 'ended', index, result: aResult() }, START_MS);
      events += 2;
      launch();
    }
    expect([open.head.endedAtMs, events]).toEqual([START_MS, 30_000]);
    // Work in proportion to the batch for each event would not end within the time that any test has.
    expect(JSON.stringify(recordOf(open)).length / 10_000).toBeLessThan(1_024);
  });
});
