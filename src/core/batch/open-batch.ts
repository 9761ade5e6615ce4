import { type Batch, type BatchHead, type BatchPod, headOf } from './batch.ts';
import { createLaunchQueue } from './launch-queue.ts';
import { countPods, inFlightOf } from './pod-state.ts';
import { countStartFailure, type OpenBatch, settle } from './settle.ts';

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
