import type { BatchEvent, BatchHead, BatchPod, PodResult, PodState } from './batch.ts';
import {
  countStartFailure,
  headAfter,
  isAtWork,
  launchWidth,
  type OpenBatch,
  replaceHead,
  settle,
  ttlEndsAtMs,
} from './open-batch.ts';
import { stateOfResults } from './pod-result.ts';
import { inFlightOf, stateOf } from './pod-state.ts';

type EventOf<Kind extends BatchEvent['kind']> = Extract<BatchEvent, { kind: Kind }>;

/**
 * The state machine of a batch (design, section 5). Changes `open` in place. `illegal`: the event cannot happen now (it
 * is late, repeated or foreign), and nothing changed. The cost never grows with the batch: a pod's own event is O(1),
 * the time to live O(in flight), a new `replicas` O(the difference).
 */
export function batchTransition(open: OpenBatch, event: BatchEvent, nowMs: number): 'moved' | 'illegal' {
  if (!apply(open, event, nowMs)) return 'illegal';
  settle(open, nowMs);
  return 'moved';
}

/** Returns whether the event was legal. */
function apply(open: OpenBatch, event: BatchEvent, nowMs: number): boolean {
  switch (event.kind) {
    case 'launched':
      return launched(open, event, nowMs);
    case 'started':
      return started(open, event, nowMs);
    case 'ended':
      return ended(open, event, nowMs);
    case 'ttl-expired':
      return ttlExpired(open, nowMs);
    case 'resized':
      return resized(open, event);
    default:
      return changeHead(open, headAfter(open.head, event, nowMs));
  }
}

function changeHead(open: OpenBatch, head: BatchHead | undefined): boolean {
  if (head) replaceHead(open, head);
  return head !== undefined;
}

function launched(open: OpenBatch, { index }: EventOf<'launched'>, atMs: number): boolean {
  const pod = open.pods[index];
  const hasRoom = inFlightOf(open.counts) < launchWidth(open.head);
  if (!pod || !hasRoom || stateOf(open.head, pod) !== 'queued') return false;
  setPod(open, { ...pod, state: 'starting', launchedAtMs: atMs });
  open.queue.launched(index);
  open.inFlight.add(index);
  if (open.head.firstLaunchAtMs === undefined) open.head = { ...open.head, firstLaunchAtMs: atMs };
  return true;
}

function started(open: OpenBatch, { index }: EventOf<'started'>, atMs: number): boolean {
  const pod = open.pods[index];
  if (pod?.state !== 'starting') return false;
  setPod(open, { ...pod, state: 'running', startedAtMs: atMs });
  return true;
}

/** Level-triggered: the start may have been missed. A stored result is replaced only while its log is being read. */
function ended(open: OpenBatch, event: EventOf<'ended'>, atMs: number): boolean {
  const { index, container = 0, result } = event;
  const pod = open.pods[index];
  if (!pod || !(open.inFlight.has(index) || open.reading.has(index))) return false;
  const results = [...(pod.results ?? emptyResults(open, pod))];
  const known = results[container];
  if (known === undefined || (known !== null && !known.reading)) return false;
  results[container] = result;
  endOrSet(open, { ...pod, results }, atMs);
  return true;
}

function endOrSet(open: OpenBatch, pod: BatchPod, atMs: number): void {
  const results = pod.results ?? [];
  if (results.some((result) => result?.reading)) open.reading.add(pod.index);
  else open.reading.delete(pod.index);
  const state = stateOfResults(results);
  if (!state) setPod(open, pod);
  else if (open.inFlight.has(pod.index)) end(open, pod, { state, atMs });
  else setPod(open, { ...pod, state });
}

const emptyResults = ({ head }: OpenBatch, { variant = -1 }: BatchPod): readonly (PodResult | null)[] =>
  (head.variants[variant] ?? []).map(() => null);

interface End {
  readonly state: PodState;
  readonly atMs: number;
}

function end(open: OpenBatch, pod: BatchPod, { state, atMs }: End): void {
  const done: BatchPod = { ...pod, state, endedAtMs: atMs };
  setPod(open, done);
  open.queue.ended(pod.index);
  open.inFlight.delete(pod.index);
  countStartFailure(open, done);
}

function setPod(open: OpenBatch, pod: BatchPod): void {
  const old = open.pods[pod.index];
  if (old) open.counts[stateOf(open.head, old)] -= 1;
  open.counts[stateOf(open.head, pod)] += 1;
  open.pods[pod.index] = pod;
}

function ttlExpired(open: OpenBatch, atMs: number): boolean {
  const endsAtMs = ttlEndsAtMs(open.head);
  if (open.head.endedAtMs !== undefined || endsAtMs === undefined || atMs < endsAtMs) return false;
  if (!open.head.closed) replaceHead(open, { ...open.head, closed: { because: 'ttl', atMs } });
  for (const index of [...open.inFlight]) stopWaiting(open, index, atMs);
  return true;
}

function stopWaiting(open: OpenBatch, index: number, atMs: number): void {
  const pod = open.pods[index];
  if (!pod) return;
  const timedOut: PodResult = { outcome: 'timed-out', reason: 'ttl' };
  const results = (pod.results ?? emptyResults(open, pod)).map((known) => known ?? timedOut);
  endOrSet(open, { ...pod, results }, atMs);
}

function resized(open: OpenBatch, { parallelism, replicas }: EventOf<'resized'>): boolean {
  const numbers = [parallelism, replicas].filter((number) => number !== undefined);
  const areUsable = numbers.length > 0 && numbers.every((number) => Number.isSafeInteger(number) && number >= 1);
  if (!areUsable || !isAtWork(open.head)) return false;
  if (parallelism !== undefined) open.head = { ...open.head, parallelism };
  if (replicas !== undefined) moveQueueEnd(open, replicas);
  return true;
}

/** `replicas` bounds how many pods are ever launched: launched ones count, and the youngest queued pods are skipped. */
function moveQueueEnd(open: OpenBatch, replicas: number): void {
  const { counts, queue, pods } = open;
  const { eligible } = open.head;
  const launchedOnce = pods.length - counts.queued - counts.skipped;
  const wanted = Math.max(0, replicas - launchedOnce);
  let { queueEnd } = open.head;
  const isQueued = (index: number): boolean => pods[index]?.state === 'queued';
  for (; counts.queued > wanted; queueEnd -= 1) {
    if (!isQueued(queueEnd - 1)) continue;
    queue.withdraw(queueEnd - 1);
    counts.queued -= 1;
    counts.skipped += 1;
  }
  for (; counts.queued < wanted && queueEnd < eligible; queueEnd += 1) {
    if (!isQueued(queueEnd)) continue;
    queue.admit(queueEnd);
    counts.queued += 1;
    counts.skipped -= 1;
  }
  open.head = { ...open.head, replicas, queueEnd };
}
