import { buildStopContainer } from '../../core/container/build.ts';
import { fingerprintOf } from '../../core/container/fingerprint.ts';
import type { Pod } from '../../core/container/pod.ts';
import { stateOfContainer } from '../../core/container/status.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { PlannedRun } from '../../core/run/life-cycle.ts';
import type { Stop, StopContainer } from '../../core/run/run.ts';
import { FOUND_NONE, outcomeAfterStop } from '../../core/run/stop.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun } from '../context/held-run.ts';
import { isIn } from '../context/pod-room.ts';
import type { PodSeen } from '../ports/cluster.ts';
import { awaitState } from './await-state.ts';

/** The time that an ended run waits for the end of the container that stopped it. */
const MAX_END_WAIT_MS = 12_000;

/**
 * The outcome of a run whose container has ended: `stopped` if somebody's stop ended it. May wait some seconds for the
 * end of the stop's own container, which is the better witness. @throws KdebugError lease_lost
 */
export async function orStopped(held: HeldRun, outcome: Outcome, deps: FlowDeps): Promise<Outcome> {
  const { plan, stop } = held.run;
  if (!plan || !stop?.container || stop.failed) return outcome;
  const { id } = held.run;
  const sent = { id, plan, stop: { byUserId: stop.byUserId, container: stop.container } };
  const exitCode = stop.ended?.exitCode ?? (await exitCodeOfStop(held, sent, deps));
  return outcomeAfterStop(outcome, stop, exitCode);
}

/** The stop of a run, with the container that was sent. */
interface SentStop extends Pick<PlannedRun, 'id' | 'plan'> {
  readonly stop: Pick<Stop, 'byUserId'> & { readonly container: StopContainer };
}

export function stopContainerOf({ id, plan, stop: { byUserId, container } }: SentStop) {
  const { name: containerName, ...mark } = container;
  return buildStopContainer(plan, { ...mark, runId: id, containerName, byUserId });
}

/** The pod must hold the container that stops this run unchanged; one that a webhook has changed is not recognised. */
export function isStopIn(pod: Pod, sent: SentStop): boolean {
  const fingerprint = fingerprintOf(stopContainerOf(sent));
  return pod.spec.ephemeralContainers.some(
    (held) => held.name === sent.stop.container.name && held.fingerprint === fingerprint,
  );
}

/** Undefined: unknown, because the pod is gone, its node is silent, or its container of that name is not the one that was sent. */
async function exitCodeOfStop(held: HeldRun, sent: SentStop, deps: FlowDeps): Promise<number | undefined> {
  const untilMs = deps.clock.elapsed() + MAX_END_WAIT_MS;
  const find = (seen: PodSeen) => {
    if (seen.kind !== 'pod') return { exitCode: undefined };
    const exitCode = exitCodeIn(seen.pod, sent);
    return exitCode === undefined ? undefined : { exitCode };
  };
  return (await awaitState(held, sent.plan, { untilMs, find }, deps))?.exitCode;
}

/** Never sent, or never started: it stopped nothing. */
function exitCodeIn(pod: Pod, sent: SentStop): number | undefined {
  const { name } = sent.stop.container;
  if (!isIn(pod, name)) return FOUND_NONE;
  if (!isStopIn(pod, sent)) return undefined;
  const state = stateOfContainer(pod, name, sent.plan.targetContainerName);
  if (state.kind === 'start-failed') return FOUND_NONE;
  return state.kind === 'terminated' ? state.termination.exitCode : undefined;
}
