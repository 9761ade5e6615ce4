import type { Pod, PodRef } from '../../core/container/pod.ts';
import { type ContainerState, outcomeOfTermination, stateOfContainer } from '../../core/container/status.ts';
import { KdebugError } from '../../core/errors.ts';
import { type Deadline, deadlineOf, type LaunchedRun } from '../../core/run/life-cycle.ts';
import type { Outcome } from '../../core/run/outcome.ts';
import { LatestValue } from '../../lib/latest-value.ts';
import { Rounds } from '../../lib/rounds.ts';
import type { FlowDeps } from '../deps.ts';
import type { HeldRun } from '../held-run.ts';
import type { Cluster, PodSeen } from '../ports/cluster.ts';
import type { LogReaders } from './logs.ts';

/** How often the events are asked why a container has not started. */
const EVENTS_EVERY_MS = 5_000;
/** What a run gets whose clock ran out while nobody followed it: its end may have come meanwhile, and there is a log to read. */
const CATCH_UP_MS = 5_000;

/**
 * Follows a launched container until it ends, a clock runs out, or its pod is gone. Level-triggered: every step looks at the
 * pod as it is now, so it may be entered again at any time, by any replica.
 */
export async function watch(
  session: HeldRun,
  run: LaunchedRun,
  { deps, readers }: { readonly deps: FlowDeps; readonly readers: LogReaders },
): Promise<void> {
  const { plan } = run;
  const cluster = deps.clusters.get(plan.cluster);
  const pod: PodRef = { namespace: plan.namespace, name: plan.podName, uid: plan.podUid };
  const latest = new LatestValue<PodSeen>(deps.clock);
  const subscription = cluster.watch(pod, (seen) => latest.put(seen));
  const stop = session.onChange(() => {
    if (session.isOver) latest.nudge();
  });
  try {
    await untilEnded({ session, run, deps, readers, cluster, pod, latest });
  } finally {
    stop();
    subscription.close();
  }
}

interface Following {
  readonly session: HeldRun;
  /** As it was launched: its plan and its container do not change any more. */
  readonly run: LaunchedRun;
  readonly deps: FlowDeps;
  readonly readers: LogReaders;
  readonly cluster: Cluster;
  readonly pod: PodRef;
  readonly latest: LatestValue<PodSeen>;
}

async function untilEnded(following: Following): Promise<void> {
  const { session, deps, latest } = following;
  const beganMs = deps.clock.now();
  const rounds = new Rounds(deps.clock);
  let state: ContainerState = { kind: 'unseen' };
  while (session.run.state === 'starting' || session.run.state === 'running') {
    await rounds.next();
    const deadline = orCatchUp(deadlineOf(session.run, state), beganMs);
    const deadlineMs = deadline?.atMs ?? deps.clock.now();
    const nextLookMs = session.run.state === 'starting' ? deps.clock.now() + EVENTS_EVERY_MS : Number.POSITIVE_INFINITY;
    const seen = await sight(session, latest, Math.min(deadlineMs, nextLookMs));
    if (seen) {
      state = await onPodChange(following, seen, state);
    } else if (deadline && deps.clock.now() >= deadlineMs) {
      await end(following, await orNodeLost(following, deadline.outcome));
    } else {
      await askEvents(following);
    }
  }
}

const orCatchUp = (deadline: Deadline | undefined, beganMs: number): Deadline | undefined =>
  deadline && deadline.atMs <= beganMs ? { ...deadline, atMs: beganMs + CATCH_UP_MS } : deadline;

async function sight(session: HeldRun, latest: LatestValue<PodSeen>, untilMs: number): Promise<PodSeen | undefined> {
  const seen = await latest.next(untilMs);
  if (session.isOver) throw new KdebugError('lease_lost');
  return seen;
}

/** Takes one sight of the pod; returns the container's state for the clocks' words. */
async function onPodChange(following: Following, seen: PodSeen, before: ContainerState): Promise<ContainerState> {
  if (seen.kind === 'gone' || seen.kind === 'replaced') {
    await end(following, { kind: 'pod-gone' });
    return before;
  }
  const { containerName, plan } = following.run;
  const state = stateOfContainer(seen.pod, containerName, plan.targetContainerName);
  await act(following, seen.pod, state);
  return state;
}

async function act(following: Following, pod: Pod, state: ContainerState): Promise<void> {
  const { session, deps, run } = following;
  switch (state.kind) {
    case 'unseen':
      return;
    case 'waiting':
      if (state.reason !== session.run.waiting?.reason && state.message !== '') await session.apply(state);
      return;
    case 'start-failed':
      return end(following, state);
    case 'running':
      if (session.run.state !== 'running')
        await session.apply({ kind: 'started', atMs: deps.clock.now(), imageId: state.imageId });
      // Also of a run that another replica saw start.
      await following.readers.start(run, { terminated: false, startedAtMs: state.startedAtMs });
      return;
    case 'terminated': {
      const { termination, imageId } = state;
      const outcome = outcomeOfTermination(pod, termination, run.plan.targetContainerName);
      await following.readers.start(run, { terminated: true, startedAtMs: Date.parse(termination.startedAt) });
      await session.apply({ kind: 'ended', outcome, termination, imageId, atMs: deps.clock.now() });
    }
  }
}

/** Who is silent until a clock runs out may be a node that is lost: then that is said. Without the right to look, the clock's word stands. */
async function orNodeLost({ cluster, run: { plan }, deps }: Following, outcome: Outcome): Promise<Outcome> {
  if (outcome.kind !== 'timed-out' && outcome.kind !== 'no-status') return outcome;
  try {
    const node = await cluster.node(plan.nodeName);
    const ready = node?.conditions.find(({ type }) => type === 'Ready');
    return ready && ready.status !== 'True' ? { kind: 'node-lost' } : outcome;
  } catch (error) {
    deps.log.debug('a node could not be looked at', { node: plan.nodeName, error });
    return outcome;
  }
}

async function end(following: Following, outcome: Outcome): Promise<void> {
  await following.session.apply({ kind: 'ended', outcome, atMs: following.deps.clock.now() });
}

/** A container that waits for its target says so in an event only (cluster facts, "Target not running"). */
async function askEvents({ session, run, cluster, pod, deps }: Following): Promise<void> {
  try {
    const [newest] = await cluster.events(pod, run.containerName);
    if (!newest || newest.type === 'Normal') return;
    if (newest.message === session.run.waiting?.message) return;
    await session.apply({ kind: 'waiting', reason: newest.reason, message: newest.message });
  } catch (error) {
    // Only for a better sentence; the watch decides.
    deps.log.debug('events could not be read', { runId: session.run.id, error });
  }
}
