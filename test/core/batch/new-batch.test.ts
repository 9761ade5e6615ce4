import { describe, expect, it } from 'vitest';
import { batchPlanHash, newBatch, plansOf, runIdOf, variantKeyOf } from '../../../src/core/batch/new-batch.ts';
import { planHash } from '../../../src/core/container/plan.ts';
import { asRunId, isRunId } from '../../../src/core/ids.ts';
import { aPlan, aPod } from '../../support/builders.ts';
import { aBatch } from './a-batch.ts';

describe('a new batch', () => {
  it('keeps equal plans once, and gives every pod’s own plan back', () => {
    const other = { ...aPlan({ podName: 'db-0', podUid: 'uid-db', nodeName: 'node-b', profile: 'general' }) };
    const pods = [
      { pod: aPod(), plans: [aPlan()] },
      {
        pod: aPod({ metadata: { name: 'web-2', uid: 'uid-2' } }),
        plans: [aPlan({ podName: 'web-2', podUid: 'uid-2' })],
      },
      { pod: aPod({ metadata: { name: 'db-0', uid: 'uid-db' }, spec: { nodeName: 'node-b' } }), plans: [other] },
      { pod: aPod({ metadata: { name: 'old', uid: 'uid-old' } }), skip: 'finished' as const, plans: [] },
    ];
    const batch = aBatch({ pods });
    expect(batch.variants).toHaveLength(2);
    expect(plansOf(batch, 2).map(planHash)).toEqual([planHash(other)]);
    expect(plansOf(batch, 1)).toEqual([aPlan({ podName: 'web-2', podUid: 'uid-2' })]);
    expect([plansOf(batch, 3), plansOf(batch, 9), batch.eligible, batch.queueEnd]).toEqual([[], [], 3, 3]);
    expect(batch.pods[3]).toEqual({
      index: 3,
      name: 'old',
      uid: 'uid-old',
      node: 'node-a',
      state: 'skipped',
      skip: 'finished',
    });
  });

  it('remembers what was approved, and who wants it to begin paused', () => {
    expect(aBatch()).toMatchObject({ approvedPods: 4, approvedParallelism: 1, parallelism: 1 });
    expect(aBatch({ pausedBy: 'U0ROY', batch: { canary: true, ttlMs: 5 } })).toMatchObject({
      canary: 'first',
      ttlMs: 5,
      paused: { byUserId: 'U0ROY' },
    });
  });

  it('has another hash for other pods, plans, sizes or widths', () => {
    const hashes = [
      aBatch(),
      aBatch({ size: 5 }),
      aBatch({ nodes: 1 }),
      aBatch({ batch: { replicas: 2 } }),
      aBatch({ batch: { parallelism: 2 } }),
      aBatch({ batch: { canary: true } }),
      aBatch({ containers: 2 }),
    ].map(batchPlanHash);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(batchPlanHash(aBatch())).toBe(hashes[0]);
  });

  it('is plain data', () => {
    expect(JSON.parse(JSON.stringify(aBatch()))).toEqual(aBatch());
  });

  it('derives run ids: the same after a crash, others for another pod, container or batch', () => {
    const [one, two] = [asRunId('batchbatch'), asRunId('otherother')];
    const ids = [runIdOf(one, 'uid-1'), runIdOf(one, 'uid-2'), runIdOf(one, 'uid-1', 1), runIdOf(two, 'uid-1')];
    expect(new Set(ids).size).toBe(4);
    expect(ids.every(isRunId)).toBe(true);
  });
});

it('reads the plans of pods with a key only once for each key', () => {
  let reads = 0;
  const plan = Object.defineProperty({ ...aPlan() }, 'command', {
    enumerable: true,
    get: () => {
      reads += 1;
      return ['id'];
    },
  });
  const key = variantKeyOf([plan]);
  reads = 0;
  const pods = Array.from({ length: 100 }, (_, index) => ({
    pod: aPod({ metadata: { name: `web-${index}`, uid: `u${index}` } }),
    plans: [plan],
    key,
  }));
  const batch = newBatch({ pods, requested: { canary: false }, nowMs: 0 });
  expect(batch.variants).toHaveLength(1);
  expect(batch.pods.every(({ variant }) => variant === 0)).toBe(true);
  expect(reads).toBe(1);
});
