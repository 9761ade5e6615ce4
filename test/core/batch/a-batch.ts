import type { Batch, BatchPod, PodResult } from '../../../src/core/batch/batch.ts';
import { type NewBatch, newBatch } from '../../../src/core/batch/new-batch.ts';
import { nextLaunches, type OpenBatch, openBatch } from '../../../src/core/batch/open-batch.ts';
import { batchTransition } from '../../../src/core/batch/transition.ts';
import type { RunRequest } from '../../../src/core/request/command.ts';
import { aPlan, aPod, START_MS } from '../../support/builders.ts';

export interface BatchParts extends Partial<NewBatch> {
  /** How many pods, one on each of `nodes` nodes in turn. */
  readonly size?: number;
  readonly nodes?: number;
  readonly batch?: Partial<RunRequest['batch']>;
  readonly containers?: number;
}

/** A batch of `size` pods (`web-0`, `web-1` …), as it was snapshotted. */
export function aBatch({ size = 4, nodes = 2, batch = {}, containers = 1, ...parts }: BatchParts = {}): Batch {
  const pods = Array.from({ length: size }, (_, index) => {
    const [podName, podUid, nodeName] = [`web-${index}`, `uid-${index}`, `node-${index % nodes}`];
    const plan = aPlan({ podName, podUid, nodeName });
    return {
      pod: aPod({ metadata: { name: podName, uid: podUid }, spec: { nodeName } }),
      plans: Array.from({ length: containers }, (_, at) => (at === 0 ? plan : { ...plan, label: `c${at}` })),
    };
  });
  return newBatch({ pods, requested: { canary: false, ...batch }, nowMs: START_MS, ...parts });
}

export const aResult = (parts: Partial<PodResult> = {}): PodResult => ({
  outcome: 'succeeded',
  exitCode: 0,
  ...parts,
});

/** A container that could not start. */
export const aStartFailure = (reason = 'ImagePullBackOff'): PodResult => ({
  outcome: 'start-failed',
  reason,
});

/** Launches all that may be launched now; gives their indexes. */
export function launchAll(open: OpenBatch, nowMs = START_MS): readonly number[] {
  const next = nextLaunches(open);
  for (const index of next) batchTransition(open, { kind: 'launched', index }, nowMs);
  return next;
}

export const end = (open: OpenBatch, index: number, result = aResult(), nowMs = START_MS) =>
  batchTransition(open, { kind: 'ended', index, result }, nowMs);

export const opened = (parts: BatchParts = {}): OpenBatch => openBatch(aBatch(parts), START_MS);

/** Runs it to its end; `resultOf` says what each pod comes to. */
export function runThrough(open: OpenBatch, resultOf: (pod: BatchPod) => PodResult = () => aResult()): void {
  for (let next = launchAll(open); next.length > 0; next = launchAll(open)) {
    for (const index of next) end(open, index, resultOf(open.pods[index] as BatchPod));
  }
}
