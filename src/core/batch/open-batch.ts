import type { ReasonCode } from '../errors.ts';
import { type Batch, type BatchEvent, type BatchHead, type BatchPod, headOf, type PodState } from './batch.ts';
import { createLaunchQueue, type LaunchQueue } from './launch-queue.ts';
import { stateOfResults } from './pod-result.ts';
import { countPods, inFlightOf, REASON_OF_SKIP } from './pod-state.ts';

/** Opens a record when the batch may run, after a crash, or when another replica takes over. O(pods). */
export function openBatch(batch: Batch, nowMs: number): OpenBatch {
  const pods = [...batch.pods];
  const open: OpenBatch = {
    head: headOf(batch),
    pods,
    counts: { ...countPods(batch) },
    queue: createLaunchQueue(pods),
    inFlight: new Set(),
    reading: new Set(),
    startFailures: new Map(),
  };
  for (const pod of pods) enter(open, pod);
  settle(open, nowMs);
  return open;
}

function enter(open: OpenBatch, pod: BatchPod): void {
  const { index, state, launchedAtMs } = pod;
  if (state === 'queued' && index < open.head.queueEnd) open.queue.admit(index);
  if (state === 'starting' || state === 'running') {
    open.queue.admit(index);
    open.queue.launched(index);
    open.inFlight.add(index);
  }
  if (launchedAtMs !== undefined && open.head.firstLaunchAtMs === undefined) {
    open.head = { ...open.head, firstLaunchAtMs: launchedAtMs };
  }
  if (pod.results?.some((result) => result?.reading)) open.reading.add(index);
  if (!open.inFlight.has(index)) countStartFailure(open, pod);
}

/** Marks queued pods as launched whose containers are in the cluster, since the last write before a crash. */
export function withLaunched(batch: Batch, indexes: ReadonlySet<number>, atMs: number): Batch {
  const pods = batch.pods.map((pod) =>
    indexes.has(pod.index) && pod.state === 'queued' ? { ...pod, state: 'starting' as const, launchedAtMs: atMs } : pod,
  );
  return { ...batch, pods };
}

/** The current record. A view: call it again after the next event. */
export const recordOf = ({ head, pods }: OpenBatch): Batch => ({ ...head, pods });

/**
 * The pods to launch now: as many as `parallelism` leaves room for. None while the batch is paused, closed or ended,
 * and one alone before its canary is reviewed. Changes nothing. O(parallelism).
 */
export function nextLaunches(open: OpenBatch): readonly number[] {
  const room = launchWidth(open.head) - inFlightOf(open.counts);
  return room > 0 ? open.queue.next(room) : [];
}

/** The number of pods that may be in flight now. */
export function launchWidth({ endedAtMs, paused, closed, canary, parallelism, firstLaunchAtMs }: BatchHead): number {
  if (endedAtMs !== undefined || paused || closed || canary === 'waiting') return 0;
  if (canary === 'first') return firstLaunchAtMs === undefined ? 1 : 0;
  return parallelism;
}

/** The end of a batch with a time to live, counted from its creation (`ttlSecondsAfterCreated`). */
export const ttlEndsAtMs = ({ createdAtMs, ttlMs }: BatchHead): number | undefined =>
  ttlMs === undefined ? undefined : createdAtMs + ttlMs;

/**
 * A running batch: its record, and indexes that keep the cost of an event independent of the number of pods. Everything
 * is derived from the record, so a crash loses nothing. It has one owner; do not share it.
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
  /** Indexes of the pods whose log is still being read; they are no longer in flight, or about to end. */
  readonly reading: Set<number>;
  /** The number of pods that failed to start, by reason. */
  readonly startFailures: Map<string, number>;
  /** The reason that reached `MAX_START_FAILURES`. */
  commonFailure?: string;
}

/** This many start failures for the same reason stop further launches (design, section 5). */
const MAX_START_FAILURES = 3;

/**
 * Counts a pod whose container did not start, whatever the pod's other containers did. Drift is not counted: a pod that
 * changed since the approval says nothing about the others.
 */
export function countStartFailure(open: OpenBatch, pod: BatchPod): void {
  const reason = startFailureOf(pod);
  if (reason === undefined || DRIFT.has(reason)) return;
  const times = (open.startFailures.get(reason) ?? 0) + 1;
  open.startFailures.set(reason, times);
  if (times >= MAX_START_FAILURES) open.commonFailure ??= reason;
}

const DRIFT: ReadonlySet<string> = new Set<ReasonCode>(['approval_changed', ...Object.values(REASON_OF_SKIP)]);

/** `CreateContainerError` and the like; without a reason, the outcome. */
function startFailureOf({ results = [] }: BatchPod): string | undefined {
  const failed = results.find((result) => stateOfResults([result]) === 'start-failed');
  return failed?.reason ?? failed?.outcome;
}

/** Sets the head. Closing cancels the queued pods through the head alone, so only the counts change. */
export function replaceHead(open: OpenBatch, head: BatchHead): void {
  const isClosing = head.closed !== undefined && open.head.closed === undefined;
  open.head = head;
  if (!isClosing) return;
  open.counts.cancelled += open.counts.queued;
  open.counts.queued = 0;
}

/**
 * Applies the consequences of the current state: the end of the canary waits for a person, three equal start failures
 * close the batch, a batch with nothing queued or in flight ends, and idle time is counted.
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

/** Idle: nothing may be launched without a person's decision. Time before the first launch does not count. */
function withIdleTime(head: BatchHead, nowMs: number): BatchHead {
  const isOnHold = head.paused !== undefined || head.canary === 'waiting';
  const isWaiting = head.firstLaunchAtMs !== undefined && isAtWork(head) && isOnHold;
  if (isWaiting) return head.idleSinceMs === undefined ? { ...head, idleSinceMs: nowMs } : head;
  const { idleSinceMs, ...rest } = head;
  return idleSinceMs === undefined ? head : { ...rest, idleMs: head.idleMs + nowMs - idleSinceMs };
}

/** The events that change only the head: people's decisions. */
export type HeadEvent = Exclude<BatchEvent, { kind: 'launched' | 'started' | 'ended' | 'ttl-expired' | 'resized' }>;

/** The condition of each event. */
const IS_ALLOWED: Readonly<Record<HeadEvent['kind'], (head: BatchHead) => boolean>> = {
  paused: (head) => isAtWork(head) && head.paused === undefined,
  resumed: (head) => isAtWork(head) && head.paused !== undefined,
  continued: (head) => isAtWork(head) && head.canary === 'waiting',
  cancelled: isAtWork,
};

/** The head after such an event; undefined if it cannot happen now. */
export function headAfter(head: BatchHead, event: HeadEvent, atMs: number): BatchHead | undefined {
  if (!IS_ALLOWED[event.kind](head)) return undefined;
  switch (event.kind) {
    case 'paused':
      return { ...head, paused: { byUserId: event.byUserId, atMs } };
    case 'resumed': {
      const { paused: _, ...resumed } = head;
      return resumed;
    }
    case 'continued':
      return { ...head, canary: 'continued' };
    case 'cancelled':
      return { ...head, closed: { because: 'cancelled', atMs, byUserId: event.byUserId } };
  }
}

/** Neither ended nor closed. */
export function isAtWork({ endedAtMs, closed }: BatchHead): boolean {
  return endedAtMs === undefined && !closed;
}
