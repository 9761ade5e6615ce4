import type { ReasonCode } from '../errors.ts';
import { type Batch, type BatchEvent, type BatchHead, type BatchPod, headOf, type PodState } from './batch.ts';
import { createLaunchQueue, type LaunchQueue } from './launch-queue.ts';
import { stateOfResults } from './pod-result.ts';
import { countPods, inFlightOf, REASON_OF_SKIP } from './pod-state.ts';

/** Opens a record: once it may run, after a crash, or when another replica takes over. In proportion to the batch. */
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

/**
 * The record with queued pods put in flight whose containers were found in the cluster: they were launched between the last
 * time it was written and a crash.
 */
export function withLaunched(batch: Batch, indexes: ReadonlySet<number>, atMs: number): Batch {
  const pods = batch.pods.map((pod) =>
    indexes.has(pod.index) && pod.state === 'queued' ? { ...pod, state: 'starting' as const, launchedAtMs: atMs } : pod,
  );
  return { ...batch, pods };
}

/** The record as it is now. A view: take it again after the next event. */
export const recordOf = ({ head, pods }: OpenBatch): Batch => ({ ...head, pods });

/**
 * The pods to launch now: as many as keep starting + running at `parallelism`, or all that are left. None while it is paused,
 * closed or ended, and one alone until its canary was looked at. Asking changes nothing. In proportion to `parallelism`.
 */
export function nextLaunches(open: OpenBatch): readonly number[] {
  const room = launchWidth(open.head) - inFlightOf(open.counts);
  return room > 0 ? open.queue.next(room) : [];
}

/** How many pods may be in flight now. */
export function launchWidth({ endedAtMs, paused, closed, canary, parallelism, firstLaunchAtMs }: BatchHead): number {
  if (endedAtMs !== undefined || paused || closed || canary === 'waiting') return 0;
  if (canary === 'first') return firstLaunchAtMs === undefined ? 1 : 0;
  return parallelism;
}

/** When the batch is over whatever happens, if its request says so: counted from its creation (`ttlSecondsAfterCreated`). */
export const ttlEndsAtMs = ({ createdAtMs, ttlMs }: BatchHead): number | undefined =>
  ttlMs === undefined ? undefined : createdAtMs + ttlMs;

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
const MAX_START_FAILURES = 3;

/**
 * Counts a pod that has ended by the container that did not start, whatever became of the others. A pod that is not any more as
 * it was approved says nothing of the other pods.
 */
export function countStartFailure(open: OpenBatch, pod: BatchPod): void {
  const reason = startFailureOf(pod);
  if (reason === undefined || DRIFT.has(reason)) return;
  const times = (open.startFailures.get(reason) ?? 0) + 1;
  open.startFailures.set(reason, times);
  if (times >= MAX_START_FAILURES) open.commonFailure ??= reason;
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

/** The events that change no pod: what people decide. */
export type HeadEvent = Exclude<BatchEvent, { kind: 'launched' | 'started' | 'ended' | 'ttl-expired' | 'resized' }>;

/** When an event that changes the head alone may happen. */
const MAY: Readonly<Record<HeadEvent['kind'], (head: BatchHead) => boolean>> = {
  paused: (head) => isAtWork(head) && head.paused === undefined,
  resumed: (head) => isAtWork(head) && head.paused !== undefined,
  continued: (head) => isAtWork(head) && head.canary === 'waiting',
  cancelled: isAtWork,
};

/** The head after such an event; undefined: it cannot happen now. */
export function headAfter(head: BatchHead, event: HeadEvent, atMs: number): BatchHead | undefined {
  if (!MAY[event.kind](head)) return undefined;
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

/** It has not ended, and is not about to. */
export function isAtWork({ endedAtMs, closed }: BatchHead): boolean {
  return endedAtMs === undefined && !closed;
}
