import type { Pod, PodRef } from '../../core/container/pod.ts';
import { type ContainerState, outcomeOfTermination, stateOfContainer } from '../../core/container/status.ts';
import { KdebugError } from '../../core/errors.ts';
import type { Outcome } from '../../core/outcome.ts';
import { type Deadline, deadlineOf, type LaunchedRun } from '../../core/run/life-cycle.ts';
import { isStopping } from '../../core/run/stop.ts';
import { elapsedAt } from '../../lib/clock.ts';
import { LatestValue } from '../../lib/latest-value.ts';
import { Rounds } from '../../lib/rounds.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun } from '../context/held-run.ts';
import type { PodRoom } from '../context/pod-room.ts';
import type { LogReaders } from '../log/logs.ts';
import type { Cluster, PodSeen } from '../ports/cluster.ts';
import { Stopper } from './stop-run.ts';

/** The time between two reads of the events that explain why a container has not started. */
const EVENTS_INTERVAL_MS = 5_000;
/** Extra time when a deadline passed unwatched: the run may have ended meanwhile, and its log can still be read. */
const CATCH_UP_MS = 5_000;

/**
 * Watches a launched container until it ends, a deadline passes, or its pod is gone. Level-triggered: every step reads
 * the current pod, so any replica may enter this stage again at any time.
 */
export async function watch(
  held: HeldRun,
  run: LaunchedRun,
  { deps, readers, room }: { readonly deps: FlowDeps; readonly readers: LogReaders; readonly room: PodRoom },
): Promise<void> {
  const { plan } = run;
  const cluster = deps.clusters.get(plan.cluster);
  const pod: PodRef = { namespace: plan.namespace, name: plan.podName, uid: plan.podUid };
  const latest = new LatestValue<PodSeen>(deps.clock);
  const subscription = cluster.watch(pod, (seen) => latest.put(seen));
  const stop = held.onChange(() => {
    if (held.isOver || isStopping(held.run)) latest.nudge();
  });
  try {
    const stopper = new Stopper({ held, run, deps, room });
    await untilEnded({ held, run, deps, readers, cluster, pod, latest, stopper });
  } finally {
    stop();
    subscription.close();
  }
}

interface WatchContext {
  readonly held: HeldRun;
  /** The launched run: its plan and its container do not change any more. */
  readonly run: LaunchedRun;
  readonly deps: FlowDeps;
  readonly readers: LogReaders;
  readonly cluster: Cluster;
  readonly pod: PodRef;
  readonly latest: LatestValue<PodSeen>;
  readonly stopper: Stopper;
}

async function untilEnded(context: WatchContext): Promise<void> {
  const { held, deps, latest, stopper } = context;
  const beganMs = deps.clock.now();
  const rounds = new Rounds(deps.clock);
  let state: ContainerState = { kind: 'unseen' };
  while (held.run.state === 'starting' || held.run.state === 'running') {
    await rounds.next();
    const deadline = withCatchUp(deadlineOf(held.run, state), beganMs);
    // By the wall clock: another replica may have launched the run, and the pod names when the container started.
    const deadlineMs = deadline?.atMs ?? deps.clock.now();
    const nextCheckMs =
      held.run.state === 'starting' ? deps.clock.elapsed() + EVENTS_INTERVAL_MS : Number.POSITIVE_INFINITY;
    const untilMs = Math.min(elapsedAt(deps.clock, deadlineMs), nextCheckMs, stopper.nextCheckMs);
    const seen = await nextPodState(held, latest, untilMs);
    if (seen) {
      state = await onPodChange(context, seen, state);
    } else if (deadline && deps.clock.now() >= deadlineMs) {
      await end(context, await orNodeLost(context, deadline.outcome));
    } else if (held.run.state === 'starting') {
      await readWaitingReason(context);
    }
    await stopper.carryOn(seen);
  }
}

const withCatchUp = (deadline: Deadline | undefined, beganMs: number): Deadline | undefined =>
  deadline && deadline.atMs <= beganMs ? { ...deadline, atMs: beganMs + CATCH_UP_MS } : deadline;

async function nextPodState(
  held: HeldRun,
  latest: LatestValue<PodSeen>,
  untilMs: number,
): Promise<PodSeen | undefined> {
  // An abandonment before this wait has woken nobody.
  const seen = held.isOver ? undefined : await latest.next(untilMs);
  if (held.isOver) throw new KdebugError('lease_lost');
  return seen;
}

/** Handles one state of the pod; returns the container's state for the next deadline. */
async function onPodChange(context: WatchContext, seen: PodSeen, before: ContainerState): Promise<ContainerState> {
  if (seen.kind === 'gone' || seen.kind === 'replaced') {
    await end(context, { kind: 'pod-gone' });
    return before;
  }
  const { containerName, plan } = context.run;
  const state = stateOfContainer(seen.pod, containerName, plan.targetContainerName);
  await act(context, seen.pod, state);
  return state;
}

async function act(context: WatchContext, pod: Pod, state: ContainerState): Promise<void> {
  const { held, deps, run } = context;
  switch (state.kind) {
    case 'unseen':
      return;
    case 'waiting':
      if (state.reason !== held.run.waiting?.reason && state.message !== '') await held.apply(state);
      return;
    case 'start-failed':
      return end(context, state);
    case 'running':
      // Before the store: it may be slow, and the node rotates a first log file that nobody holds open. Also when another replica saw it start.
      await context.readers.start(run, { terminated: false, startedAtMs: state.startedAtMs });
      if (held.run.state !== 'running')
        await held.apply({ kind: 'started', atMs: deps.clock.now(), imageId: state.imageId });
      return;
    case 'terminated': {
      const { termination, imageId } = state;
      const outcome = outcomeOfTermination(pod, termination, run.plan.targetContainerName);
      await context.readers.start(run, { terminated: true, startedAtMs: Date.parse(termination.startedAt) });
      await held.apply({ kind: 'ended', outcome, termination, imageId, atMs: deps.clock.now() });
    }
  }
}

/**
 * If a deadline passes without news, checks whether the node is NotReady and reports `node-lost` instead. Without
 * permission to read nodes, the original outcome stays.
 */
async function orNodeLost({ cluster, run: { plan }, deps }: WatchContext, outcome: Outcome): Promise<Outcome> {
  if (outcome.kind !== 'timed-out' && outcome.kind !== 'no-status') return outcome;
  try {
    const node = await cluster.node(plan.nodeName);
    const ready = node?.conditions.find(({ type }) => type === 'Ready');
    return ready && ready.status !== 'True' ? { kind: 'node-lost' } : outcome;
  } catch (error) {
    deps.log.debug('node read failed', { node: plan.nodeName, error });
    return outcome;
  }
}

async function end(context: WatchContext, outcome: Outcome): Promise<void> {
  await context.held.apply({ kind: 'ended', outcome, atMs: context.deps.clock.now() });
}

/** Only an event shows that a container waits for its target (cluster facts, "Target not running"). */
async function readWaitingReason({ held, run, cluster, pod, deps }: WatchContext): Promise<void> {
  try {
    const [newest] = await cluster.events(pod, run.containerName);
    if (!newest || newest.type === 'Normal') return;
    if (newest.message === held.run.waiting?.message) return;
    await held.apply({ kind: 'waiting', reason: newest.reason, message: newest.message });
  } catch (error) {
    // The event only improves the message; the watch decides.
    deps.log.debug('event read failed', { runId: held.run.id, error });
  }
}
