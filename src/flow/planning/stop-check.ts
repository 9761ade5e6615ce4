import type { Plan } from '../../core/container/plan.ts';
import type { Pod } from '../../core/container/pod.ts';
import { stateOfContainer } from '../../core/container/status.ts';
import { asUserId } from '../../core/ids.ts';
import { aimOf, roomFor } from '../../core/planning/plan-request.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { Origin, Refusal } from '../../core/request/origin.ts';
import { problemOfRoom } from '../../core/request/target.ts';
import type { PlannedRun } from '../../core/run/life-cycle.ts';
import { planStop, stopImage } from '../../core/run/plan-stop.ts';
import type { Run, Stop } from '../../core/run/run.ts';
import type { FlowDeps } from '../context/deps.ts';
import { refusal } from '../context/refusals.ts';
import { learntFor, learntFrom } from './plan-pod.ts';
import { accessProblem } from './preflight.ts';

export const originOfStop = ({ origin }: Pick<Run, 'origin'>, byUserId: string): Origin => ({
  ...origin,
  requesterId: asUserId(byUserId),
});

/**
 * Returns the reason why this person cannot stop this run now, by the current policy, the cluster's rights and the pod;
 * undefined: they can. Without `pod`, or before the run's container runs, the pod counts only at the launch. Does not
 * check whether they may stop runs at all. Throws if it cannot know.
 */
export async function stopProblem(run: PlannedRun, attempt: StopAttempt, deps: FlowDeps): Promise<Refusal | undefined> {
  const planned = await planOfStop(run, attempt, deps);
  return planned && 'code' in planned ? planned : undefined;
}

interface StopAttempt {
  readonly byUserId: string;
  readonly pod: Pod | undefined;
}

/** The plan of the stop's container, or why there is none; undefined: not known before the pod is. */
export async function planOfStop(
  run: PlannedRun,
  { byUserId, pod }: StopAttempt,
  deps: FlowDeps,
): Promise<Plan | Refusal | undefined> {
  const { id, origin, plan, request, stop } = run;
  const policy = deps.policies.current();
  if (plan.targetContainerName === undefined) return refusal('stop_without_target');
  const alias = stopImage(policy);
  if (!alias) return refusal('stop_without_image');
  const { cluster, namespace, podName } = plan;
  const requester = originOfStop({ origin }, byUserId);
  const aim = aimOf({ ...request, cluster, namespace, image: alias.alias }, requester, policy);
  if (aim.kind === 'deny') return refusal(aim.code, aim.subject);
  const denied = await accessProblem({ id, origin: requester }, { cluster, namespace, podName }, deps);
  if (denied || !pod) return denied;
  const full = problemOfRoom(pod, roomOf({ byUserId, stop }, policy));
  if (full) return refusal(full.code, full.subject);
  if (!isRunningIn(pod, run)) return undefined;
  const targetContainer = { kind: 'named', name: plan.targetContainerName } as const;
  const learnt = await learntFor(pod, { request: { targetContainer }, aim }, learntFrom(deps));
  const planned = planStop(run, { byUserId, pod, policy, alias, learnt });
  return planned.kind === 'plan' ? planned.plan : refusal(planned.code, planned.subject, planned.rule);
}

export const isRunningIn = (pod: Pod, { containerName, plan }: PlannedRun): boolean =>
  containerName !== undefined && stateOfContainer(pod, containerName, plan.targetContainerName).kind === 'running';

export interface StopTry {
  readonly byUserId: string;
  readonly stop: Stop | undefined;
}

/**
 * A requester at their container limit may still stop this run once. Not more often: if a process ignores signals, retries would fill the pod
 * with stop containers.
 */
export function roomOf({ byUserId, stop }: StopTry, { limits }: Policy) {
  const room = roomFor(byUserId, limits);
  const isFirst = stop === undefined || (stop.attempt === 1 && !stop.failed);
  return isFirst ? { ...room, mostOfPerson: Number.POSITIVE_INFINITY } : room;
}
