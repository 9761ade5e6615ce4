import type { ReasonCode } from '../errors.ts';
import type { BatchHead, BatchPod, PodState } from './batch.ts';
import { isAtWork } from './head-transition.ts';
import type { LaunchQueue } from './launch-queue.ts';
import { stateOfResults } from './pod-result.ts';
import { REASON_OF_SKIP } from './pod-state.ts';

/**
 * A batch at work: its record, and beside it what makes an event cost the same however many pods there are. Derived from
 * the record alone, so a crash loses nothing of it. Held by one owner; not to be shared.
 */
export interface OpenBatch {
  /** Replaced, never changed in place. */
  head: BatchHead;
  /** Entries are replaced; the array changes in place. */
  readonly pods: BatchPod[];
  readonly counts: Record<PodState, number>;
  readonly queue: LaunchQueue;
  /** Indexes of the pods that are starting or running. */
  readonly inFlight: Set<number>;
  /** Indexes of the pods of which a log is still being read; they are no longer in flight, or about not to be. */
  readonly reading: Set<number>;
  /** How often each reason kept a pod's container from starting. */
  readonly startFailures: Map<string, number>;
  /** The reason that has come too often. */
  commonFailure?: string;
}

/** Start failures of the same reason after which nothing more is launched (design, section 5). */
const MOST_START_FAILURES = 3;

/**
 * Counts a pod that has ended by the container that did not start, whatever became of the others. A pod that is not any more as
 * it was approved says nothing of the other pods.
 */
export function countStartFailure(open: OpenBatch, pod: BatchPod): void {
  const reason = startFailureOf(pod);
  if (reason === undefined || DRIFT.has(reason)) return;
  const times = (open.startFailures.get(reason) ?? 0) + 1;
  open.startFailures.set(reason, times);
  if (times >= MOST_START_FAILURES) open.commonFailure ??= reason;
}

const DRIFT: ReadonlySet<string> = new Set<ReasonCode>(['approval_changed', ...Object.values(REASON_OF_SKIP)]);

/** `CreateContainerError` and the like; what has no reason is told apart by its outcome. */
function startFailureOf({ results = [] }: BatchPod): string | undefined {
  const failed = results.find((result) => stateOfResults([result]) === 'start-failed');
  return failed?.reason ?? failed?.outcome;
}

/** Sets the head. Closing it cancels what is queued: by the head's word alone, so only the counts move. */
export function replaceHead(open: OpenBatch, head: BatchHead): void {
  const isClosing = head.closed !== undefined && open.head.closed === undefined;
  open.head = head;
  if (!isClosing) return;
  open.counts.cancelled += open.counts.queued;
  open.counts.queued = 0;
}

/**
 * Draws the consequences, from where it stands alone: the canary's end waits for a person, a start failure that came three
 * times stops all that is queued, nothing queued or in flight is the end, and time without launches is counted apart.
 */
export function settle(open: OpenBatch, nowMs: number): void {
  if (open.head.endedAtMs !== undefined) return;
  const { canary, firstLaunchAtMs } = open.head;
  if (canary === 'first' && firstLaunchAtMs !== undefined && isIdle(open)) {
    open.head = { ...open.head, canary: 'waiting' };
  }
  if (open.commonFailure !== undefined && isAtWork(open.head)) {
    const closed = { because: 'start-failures', atMs: nowMs, reason: open.commonFailure } as const;
    replaceHead(open, { ...open.head, closed });
  }
  if (isOver(open)) open.head = { ...open.head, endedAtMs: nowMs };
  open.head = withIdleTime(open.head, nowMs);
}

const isIdle = ({ inFlight, reading }: OpenBatch): boolean => inFlight.size === 0 && reading.size === 0;

const isOver = (open: OpenBatch): boolean =>
  (open.head.closed !== undefined || open.counts.queued === 0) && isIdle(open);

/** Idle: nothing may be launched until a person says so. Time before the first launch does not count. */
function withIdleTime(head: BatchHead, nowMs: number): BatchHead {
  const isHeld = head.paused !== undefined || head.canary === 'waiting';
  const isWaiting = head.firstLaunchAtMs !== undefined && isAtWork(head) && isHeld;
  if (isWaiting) return head.idleSinceMs === undefined ? { ...head, idleSinceMs: nowMs } : head;
  const { idleSinceMs, ...rest } = head;
  return idleSinceMs === undefined ? head : { ...rest, idleMs: head.idleMs + nowMs - idleSinceMs };
}
