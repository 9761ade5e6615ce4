import type { Pod } from '../../core/container/pod.ts';
import { outcomeOfTermination, stateOfContainer } from '../../core/container/status.ts';
import { KdebugError } from '../../core/errors.ts';
import { isLaunched, type LaunchedRun, nextStep } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { isStopping, stopDeadlineMs } from '../../core/run/stop.ts';
import { elapsedAt } from '../../lib/clock.ts';
import { LatestValue } from '../../lib/latest-value.ts';
import { defined } from '../../lib/object.ts';
import { Rounds } from '../../lib/rounds.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun } from '../context/held-run.ts';
import type { PodRoom } from '../context/pod-room.ts';
import type { LogReaders } from '../log/logs.ts';
import type { PodSeen } from '../ports/cluster.ts';
import { diagnose, shownLog } from './collect.ts';
import { orStopped } from './stop-end.ts';
import { Stopper } from './stop-run.ts';
import { orTargetEnded } from './target-end.ts';

/** The time to wait for the true end of a run that kdebug gave up; it costs one entry in a shared watch. */
const WAIT_MS = 30 * 60_000;

/** The time to wait for the reason of a failed stop. */
const MARGIN_MS = 5_000;

interface Waiting {
  /** The run as Slack shows it. */
  readonly shown: Pick<Run, 'grant' | 'stop'>;
  readonly wanted: () => boolean;
}

interface Tools {
  readonly deps: FlowDeps;
  readonly readers: LogReaders;
  readonly room: PodRoom;
}

export type LateEndWait = (waiting: Waiting) => Promise<boolean>;

/**
 * Waits up to half an hour for the end of a run that kdebug gave up: a container that starts late, a node that comes
 * back (cluster facts, "Late start is real"). Each wait resolves with whether there is more to post: the end has come,
 * or the run's grant was used or has ended, or somebody stops it. Carries out a stop meanwhile.
 * @throws KdebugError lease_lost
 */
export function awaitLateEnd(held: HeldRun, { deps, readers, room }: Tools): LateEndWait {
  const untilMs = deps.clock.elapsed() + WAIT_MS;
  return async (waiting) => {
    const { run } = held;
    if (!isLaunched(run)) return false;
    const { plan } = run;
    const latest = new LatestValue<PodSeen>(deps.clock);
    const pod = { namespace: plan.namespace, name: plan.podName, uid: plan.podUid };
    const subscription = deps.clusters.get(plan.cluster).watch(pod, (seen) => latest.put(seen));
    const stop = held.onChange(() => latest.nudge());
    try {
      const stopper = new Stopper({ held, run, deps, room });
      return await untilNews({ ...waiting, held, deps, readers, run, latest, untilMs, stopper });
    } finally {
      stop();
      subscription.close();
    }
  };
}

interface Wait extends Waiting {
  readonly held: HeldRun;
  readonly deps: FlowDeps;
  readonly readers: LogReaders;
  readonly run: LaunchedRun;
  readonly latest: LatestValue<PodSeen>;
  /** By `clock.elapsed`, as `untilMsOf`. */
  readonly untilMs: number;
  readonly stopper: Stopper;
}

async function untilNews(wait: Wait): Promise<boolean> {
  const { held, deps, latest, stopper } = wait;
  const rounds = new Rounds(deps.clock);
  while (wait.wanted()) {
    await rounds.next();
    const step = nextStep(held.run, deps.clock.now());
    if (step.kind === 'post' || isNews(held.run, wait)) return true;
    const untilMs = untilMsOf(wait);
    if (step.kind !== 'await-late-end' || deps.clock.elapsed() >= untilMs) return false;
    const seen = await latest.next(Math.min(untilMs, elapsedAt(deps.clock, step.untilMs), stopper.nextCheckMs));
    if (held.isOver) throw new KdebugError('lease_lost');
    const end = seen && (await endOf(wait, seen));
    if (end !== undefined) return end === 'ended';
    await stopper.carryOn(seen);
  }
  return false;
}

const isNews = ({ grant, stop }: Run, { shown }: Waiting): boolean => grant !== shown.grant || stop !== shown.stop;

const untilMsOf = ({ held: { run }, deps: { clock }, untilMs }: Wait): number =>
  isStopping(run) ? Math.max(untilMs, elapsedAt(clock, stopDeadlineMs(run) + MARGIN_MS)) : untilMs;

/** Undefined while the container may still end. */
async function endOf(wait: Wait, seen: PodSeen): Promise<'ended' | 'never' | undefined> {
  if (seen.kind !== 'pod') {
    const { held, deps } = wait;
    if (!isStopping(held.run)) return 'never';
    await held.apply({ kind: 'stop-failed', why: 'the pod is gone', atMs: deps.clock.now() });
    return 'ended';
  }
  return (await cameLate(wait, seen.pod)) ? 'ended' : undefined;
}

/** Records the end, if the container has ended: its log, outcome and verdict. */
async function cameLate({ held, deps, readers, run }: Wait, pod: Pod): Promise<boolean> {
  const { plan, containerName } = run;
  const state = stateOfContainer(pod, containerName, plan.targetContainerName);
  if (state.kind !== 'terminated') return false;
  const { termination, imageId } = state;
  await readers.forget(held.run.id);
  const reader = await readers.start(run, { terminated: true, startedAtMs: Date.parse(termination.startedAt) });
  const read = await reader.result;
  const natural = outcomeOfTermination(pod, termination, plan.targetContainerName);
  const outcome = await orStopped(held, await orTargetEnded(held, { outcome: natural, termination }, deps), deps);
  const left = { logEnd: read.end, terminationMessage: termination.message, termination, outcome };
  const verdict = await diagnose(held.run, left, deps);
  await held.apply({
    kind: 'came-late',
    outcome,
    termination,
    imageId,
    log: shownLog(held.run, read.log, left, deps),
    ...defined({ verdict }),
    atMs: deps.clock.now(),
  });
  return true;
}
