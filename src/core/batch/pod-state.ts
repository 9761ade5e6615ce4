import type { ReasonCode } from '../errors.ts';
import { type Batch, type BatchHead, type BatchPod, POD_STATES, type PodState, type SkipReason } from './batch.ts';

/** How many pods are in each state; together they are all that matched. */
export type Counts = Readonly<Record<PodState, number>>;

/** Where a person reads why a pod was left alone. */
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

type Closing = Pick<BatchHead, 'queueEnd' | 'closed'>;

/** Where a pod is now: a queued one is skipped beyond `replicas`, and cancelled once nothing more is launched. */
export function stateOf(batch: Closing, pod: Pick<BatchPod, 'index' | 'state'>): PodState {
  if (pod.state !== 'queued') return pod.state;
  if (pod.index >= batch.queueEnd) return 'skipped';
  return batch.closed ? 'cancelled' : 'queued';
}

/** Why a pod is skipped; undefined where it is not. */
export function skipReasonOf(batch: Closing, pod: BatchPod): SkipReason | undefined {
  if (stateOf(batch, pod) !== 'skipped') return undefined;
  return pod.skip ?? 'beyond-replicas';
}

/** Counts every pod: in proportion to the batch, so for messages; an open batch keeps its counts. */
export function countPods(batch: Batch): Counts {
  const counts = noCounts();
  for (const pod of batch.pods) counts[stateOf(batch, pod)] += 1;
  return counts;
}

const noCounts = (): Record<PodState, number> =>
  Object.fromEntries(POD_STATES.map((state) => [state, 0])) as Record<PodState, number>;

/** How a batch stands, in EphemeralJob's words. */
export type BatchStatus =
  | 'Waiting'
  | 'Running'
  | 'Paused'
  | 'Succeeded'
  | 'Failed'
  | 'PartiallySucceeded'
  | 'Cancelled';

/**
 * The status of a batch that may run. An ended one is `Cancelled` when a person's stop kept a pod from its turn, `Succeeded` when all pods that were worked on did, `Failed` when none did, else, and when not all of its pods are known, `PartiallySucceeded`.
 */
export function statusOf(batch: BatchHead, counts: Counts): BatchStatus {
  if (batch.endedAtMs === undefined) return openStatus(batch, counts);
  if (batch.closed?.because === 'cancelled' && counts.cancelled > 0) return 'Cancelled';
  if (counts.succeeded === 0) return 'Failed';
  const isWhole = batch.closed?.because !== 'record-lost';
  return isWhole && counts.succeeded === matchedOf(counts) - counts.skipped ? 'Succeeded' : 'PartiallySucceeded';
}

/** The proposal: `Waiting` until the first ephemeral container has reached the running state. */
function openStatus(batch: BatchHead, counts: Counts): BatchStatus {
  if (batch.paused && !batch.closed) return 'Paused';
  return counts.running + endedOf(counts) > 0 ? 'Running' : 'Waiting';
}

export const matchedOf = (counts: Counts): number => POD_STATES.reduce((sum, state) => sum + counts[state], 0);

/** Pods that were worked on and have ended, however. */
export const endedOf = (counts: Counts): number => counts.succeeded + failedOf(counts);

/** What EphemeralJob counts as failed: everything that ended and did not succeed. */
const failedOf = (counts: Counts): number => counts.failed + counts['start-failed'] + counts['timed-out'] + counts.lost;

export const inFlightOf = (counts: Counts): number => counts.starting + counts.running;

/** The columns that `kubectl get ejob` has (proposal, story 1). */
export interface Columns {
  readonly match: number;
  readonly succeed: number;
  readonly failed: number;
  readonly running: number;
  readonly waiting: number;
}

/**
 * The proposal's columns. MATCH is what the selector matched, so skipped and cancelled pods are in it and in no other column;
 * WAITING is queued and starting.
 */
export const columnsOf = (counts: Counts): Columns => ({
  match: matchedOf(counts),
  succeed: counts.succeeded,
  failed: failedOf(counts),
  running: counts.running,
  waiting: counts.queued + counts.starting,
});
