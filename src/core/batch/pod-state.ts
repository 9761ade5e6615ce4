import type { ReasonCode } from '../errors.ts';
import { type Batch, type BatchHead, type BatchPod, POD_STATES, type PodState, type SkipReason } from './batch.ts';

/** The number of pods in each state; the sum is all matched pods. */
export type Counts = Readonly<Record<PodState, number>>;

/** The reason that explains each skip to people. */
export const REASON_OF_SKIP: Readonly<Record<SkipReason, ReasonCode>> = {
  static: 'pod_is_static',
  finished: 'pod_finished',
  deleting: 'pod_deleting',
  'not-scheduled': 'pod_unscheduled',
  windows: 'pod_is_windows',
  'cap-reached': 'pod_has_too_many_containers',
  'share-reached': 'pod_has_too_many_of_yours',
  'no-such-target': 'target_container_not_found',
  'target-ended': 'target_container_ended',
  'beyond-replicas': 'batch_beyond_replicas',
};

const SKIP_TEXT: Readonly<Record<SkipReason, string>> = {
  static: 'static',
  finished: 'finished',
  deleting: 'being deleted',
  'not-scheduled': 'not scheduled yet',
  windows: 'on Windows',
  'cap-reached': 'at their limit of debug containers',
  'share-reached': 'at their limit of your debug containers',
  'no-such-target': 'without that container',
  'target-ended': 'whose target has exited',
  'beyond-replicas': 'beyond --replicas',
};

/** `2 finished, 1 on Windows`: the most frequent reason first. */
export function skipSummary(skips: readonly (SkipReason | undefined)[]): string {
  const numbers = new Map<SkipReason, number>();
  for (const skip of skips) if (skip) numbers.set(skip, (numbers.get(skip) ?? 0) + 1);
  const byNumber = [...numbers].sort(([, a], [, b]) => b - a);
  return byNumber.map(([skip, count]) => `${count} ${SKIP_TEXT[skip]}`).join(', ');
}

type Closing = Pick<BatchHead, 'queueEnd' | 'closed'>;

/** The current state of a pod: a queued one is skipped beyond `replicas`, and cancelled in a closed batch. */
export function stateOf(batch: Closing, pod: Pick<BatchPod, 'index' | 'state'>): PodState {
  if (pod.state !== 'queued') return pod.state;
  if (pod.index >= batch.queueEnd) return 'skipped';
  return batch.closed ? 'cancelled' : 'queued';
}

/** Undefined: the pod is not skipped. */
export function skipReasonOf(batch: Closing, pod: BatchPod): SkipReason | undefined {
  if (stateOf(batch, pod) !== 'skipped') return undefined;
  return pod.skip ?? 'beyond-replicas';
}

/** Counts every pod. O(pods), so only for messages; an open batch keeps its counts. */
export function countPods(batch: Batch): Counts {
  const counts = noCounts();
  for (const pod of batch.pods) counts[stateOf(batch, pod)] += 1;
  return counts;
}

const noCounts = (): Record<PodState, number> =>
  Object.fromEntries(POD_STATES.map((state) => [state, 0])) as Record<PodState, number>;

/** EphemeralJob's statuses. */
export type BatchStatus =
  | 'Waiting'
  | 'Running'
  | 'Paused'
  | 'Succeeded'
  | 'Failed'
  | 'PartiallySucceeded'
  | 'Cancelled';

/**
 * The status of an approved batch. An ended one is `Cancelled` if a person cancelled it before all pods were launched,
 * `Succeeded` if all launched pods succeeded, `Failed` if none did, else `PartiallySucceeded`, also when some of its
 * pods are unknown.
 */
export function statusOf(batch: BatchHead, counts: Counts): BatchStatus {
  if (batch.endedAtMs === undefined) return openStatus(batch, counts);
  if (batch.closed?.because === 'cancelled' && counts.cancelled > 0) return 'Cancelled';
  if (counts.succeeded === 0) return 'Failed';
  const isWhole = batch.closed?.because !== 'record-lost';
  return isWhole && counts.succeeded === matchedOf(counts) - counts.skipped ? 'Succeeded' : 'PartiallySucceeded';
}

/** By the proposal, it is `Waiting` until the first ephemeral container runs. */
function openStatus(batch: BatchHead, counts: Counts): BatchStatus {
  if (batch.paused && !batch.closed) return 'Paused';
  return counts.running + endedOf(counts) > 0 ? 'Running' : 'Waiting';
}

export const matchedOf = (counts: Counts): number => POD_STATES.reduce((sum, state) => sum + counts[state], 0);

/** Launched pods that have ended, with or without success. */
export const endedOf = (counts: Counts): number => counts.succeeded + failedOf(counts);

/** EphemeralJob counts every end without success as failed. */
const failedOf = (counts: Counts): number => counts.failed + counts['start-failed'] + counts['timed-out'] + counts.lost;

export const inFlightOf = (counts: Counts): number => counts.starting + counts.running;

/** The columns of `kubectl get ejob` (proposal, story 1). */
export interface Columns {
  readonly match: number;
  readonly succeed: number;
  readonly failed: number;
  readonly running: number;
  readonly waiting: number;
}

/**
 * MATCH counts all that the selector matched, so skipped and cancelled pods appear in no other column. WAITING counts
 * queued and starting pods.
 */
export const columnsOf = (counts: Counts): Columns => ({
  match: matchedOf(counts),
  succeed: counts.succeeded,
  failed: failedOf(counts),
  running: counts.running,
  waiting: counts.queued + counts.starting,
});
