import type { Batch, BatchPod, PodState } from './batch.ts';
import { resultOfPod } from './pod-result.ts';
import { type Counts, endedOf, stateOf } from './pod-state.ts';

/** Pods that came to the same: equal state, exit code, reason and findings. */
export interface ResultGroup {
  readonly state: PodState;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly findings: readonly string[];
  readonly count: number;
  /** The first of them, in the order of the snapshot. */
  readonly examples: readonly Example[];
}

export interface Example {
  readonly name: string;
  /** What its report says, where that found something: equal codes have numbers of their own. */
  readonly verdict?: string;
}

/** Pods that a group names. */
const EXAMPLES = 5;

/** Groups the pods that have ended, the largest first, then in the order in which they first came. In proportion to the batch. */
export function groupResults(batch: Batch): readonly ResultGroup[] {
  const groups = new Map<string, { first: BatchPod; count: number; examples: Example[] }>();
  for (const pod of batch.pods) {
    if (pod.endedAtMs === undefined) continue;
    const key = keyOf(pod);
    const group = groups.get(key) ?? { first: pod, count: 0, examples: [] };
    group.count += 1;
    if (group.examples.length < EXAMPLES) group.examples.push(exampleOf(pod));
    groups.set(key, group);
  }
  return [...groups.values()]
    .sort((a, b) => b.count - a.count)
    .map(({ first, count, examples }) => {
      const result = resultOfPod(first.results);
      return {
        state: stateOf(batch, first),
        ...(result?.exitCode !== undefined && { exitCode: result.exitCode }),
        ...(result?.reason !== undefined && { reason: result.reason }),
        findings: findingsOf(first),
        count,
        examples,
      };
    });
}

function exampleOf(pod: BatchPod): Example {
  const { findings, message } = resultOfPod(pod.results) ?? {};
  return { name: pod.name, ...(findings && message !== undefined && { verdict: message }) };
}

/** Of all its containers, each once, sorted. */
const findingsOf = ({ results = [] }: BatchPod): readonly string[] =>
  [...new Set(results.flatMap((result) => result?.findings ?? []))].sort();

function keyOf(pod: BatchPod): string {
  const { exitCode, reason } = resultOfPod(pod.results) ?? {};
  return JSON.stringify([pod.state, exitCode, reason, findingsOf(pod)]);
}

/** Pods that a rerun takes up again: what ended and did not succeed, and what never had its turn. */
export function podsToRerun(batch: Batch): readonly BatchPod[] {
  return batch.pods.filter((pod) => RERUN.has(stateOf(batch, pod)));
}

const RERUN: ReadonlySet<PodState> = new Set(['failed', 'start-failed', 'timed-out', 'lost', 'cancelled']);

/** How fast it goes, from what has ended so far. */
export interface Pace {
  /** Pods a minute. */
  readonly perMinute: number;
  /** Until the last one ends, if it goes on like this; undefined while nobody can know. */
  readonly leftMs?: number;
}

/** Time in which nothing could be launched does not count. Undefined before the first pod has ended. */
export function paceOf(batch: Batch, counts: Counts, nowMs: number): Pace | undefined {
  const { firstLaunchAtMs, idleMs, idleSinceMs, endedAtMs } = batch;
  const ended = endedOf(counts);
  if (firstLaunchAtMs === undefined || ended === 0) return undefined;
  const untilMs = endedAtMs ?? idleSinceMs ?? nowMs;
  const workedMs = Math.max(1, untilMs - firstLaunchAtMs - idleMs);
  const left = counts.queued + counts.starting + counts.running;
  const isMoving = endedAtMs === undefined && idleSinceMs === undefined && left > 0;
  return {
    perMinute: (ended * 60_000) / workedMs,
    ...(isMoving && { leftMs: (left * workedMs) / ended }),
  };
}
