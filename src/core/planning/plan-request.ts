import { defined } from '../../lib/object.ts';
import type { Original } from '../container/once-more.ts';
import type { Plan } from '../container/plan.ts';
import type { Pod, PodSecurityLevel } from '../container/pod.ts';
import { identityOfTarget, kindOfTarget, type UserAndGroup } from '../container/profiles.ts';
import type { Revisions } from '../container/revisions.ts';
import { alertSourceOf } from '../ids.ts';
import { type Decision, type Denial, denied, type ImageAlias, type Limits, type Policy } from '../policy/policy.ts';
import type { RunRequest } from '../request/command.ts';
import type { Origin } from '../request/origin.ts';
import { problemOfPod, type Room, type TargetProblem, targetContainerOf } from '../request/target.ts';
import { type BatchSize, decideBatch } from './decide-batch.ts';
import { isRefusedUnmapped } from './identity.ts';
import { makePlan } from './make-plan.ts';
import { planOnceMore } from './once-more.ts';
import { type NotResolved, ownImage, resolveImage, resolveNamespace } from './resolve.ts';

/**
 * Planning without I/O, shared by the plan stage, its dry run, `can-i`, the check before each pod of a batch, and the
 * tool `explain`. First `aimOf`, before reading the cluster; then `planRequest` for one pod, or `planPod` for each pod
 * of a batch.
 */

export type Requester = Pick<Origin, 'requesterId' | 'teamId' | 'channelId'>;

/** The cluster, namespace and image of a request. */
export interface Aim {
  readonly kind: 'aim';
  readonly cluster: string;
  readonly namespace: string;
  readonly alias: ImageAlias;
}

/**
 * Decides what the policy alone can decide. Denies a channel or namespace that no rule names, an image outside the
 * catalogue and an unmapped person before kdebug reads the cluster, so that no answer reveals which pods exist.
 */
export function aimOf(request: RunRequest, requester: Requester, policy: Policy): Aim | Denial {
  const resolved = resolveNamespace(request, requester.channelId, policy);
  if (resolved.kind === 'deny') return denialOf(resolved);
  const image = request.onceMore ? { kind: 'ok' as const, alias: ownImage('') } : resolveImage(request.image, policy);
  if (image.kind === 'deny') return denialOf(image);
  if (isRefusedUnmapped(policy.identity, requester.requesterId)) {
    return denied('identity_unmapped', requester.requesterId);
  }
  return { kind: 'aim', cluster: resolved.cluster, namespace: resolved.namespace, alias: image.alias };
}

const denialOf = ({ kind, code, subject, nearest }: NotResolved): Denial => ({
  kind,
  code,
  subject: nearest === undefined ? subject : `${subject} (did you mean ${nearest}?)`,
});

export interface PlanInputs {
  readonly request: RunRequest;
  readonly origin: Requester;
  readonly policy: Policy;
  readonly aim: Aim;
  readonly level: PodSecurityLevel;
  /** The user that an earlier diagnosis found in such targets (`kindToLookUp`). */
  readonly learnt?: UserAndGroup | undefined;
  /** Of a request to run a container once more: what that has. */
  readonly original?: Original;
  /** Of one that wants the image of another revision. */
  readonly revisions?: Revisions;
}

/**
 * Plans one pod and decides on it; with `size`, as for a batch of that many such pods. A denial without a plan means
 * that no rule could help: this pod cannot be debugged.
 */
export function planRequest(
  pod: Pod,
  inputs: PlanInputs,
  size: BatchSize = { pods: 1, parallelism: 1 },
): PlannedPod | Denial {
  const problem = problemOfPod(pod, roomFor(inputs.origin.requesterId, inputs.policy.limits));
  return problem ? { kind: 'deny', ...problem } : decidedPlan(pod, inputs, size);
}

export interface PlannedPod {
  readonly kind: 'planned';
  readonly plan: Plan;
  readonly decision: Decision;
}

/** Of a question: `problem` says why the pod can hold no further container. */
export type PlannedQuestion = PlannedPod & { readonly problem: TargetProblem | undefined };

/** As `planRequest`, for a question: a pod that can hold no further container can still be asked about. */
export function planQuestion(pod: Pod, inputs: PlanInputs): PlannedQuestion | Denial {
  const problem = problemOfPod(pod, roomFor(inputs.origin.requesterId, inputs.policy.limits));
  const planned = decidedPlan(pod, inputs, { pods: 1, parallelism: 1 });
  return planned.kind === 'deny' ? planned : { ...planned, problem };
}

function decidedPlan(pod: Pod, inputs: PlanInputs, size: BatchSize): PlannedPod | Denial {
  const planned = planPod(pod, inputs);
  if (planned.kind === 'deny') return planned;
  return { kind: 'planned', plan: planned.plan, decision: decideBatch([planned.plan], inputs.policy, size) };
}

export function planPod(
  pod: Pod,
  { request, origin, policy, aim, level, learnt, original, revisions }: PlanInputs,
): { readonly kind: 'plan'; readonly plan: Plan } | Denial {
  if (request.onceMore)
    return planOnceMore(pod, { request, origin, policy, cluster: aim.cluster, level, original, revisions });
  const target = targetContainerOf(pod, request.targetContainer);
  if (target.kind === 'problem') return { kind: 'deny', ...target.problem };
  const container = target.kind === 'container' ? target.container : undefined;
  const resolved = { request, origin, policy, cluster: aim.cluster, pod, container, level, alias: aim.alias };
  return makePlan({ ...resolved, ...defined({ learnt }) });
}

/**
 * The kind of target (`kindOfTarget`) whose learnt user and group to look up. Undefined: the pod itself says whom the
 * target runs as, or nothing learnt applies.
 */
export function kindToLookUp(
  pod: Pod,
  { targetContainer }: Pick<RunRequest, 'targetContainer'>,
  cluster: string,
): string | undefined {
  const target = targetContainerOf(pod, targetContainer);
  if (target.kind !== 'container') return undefined;
  const { container } = target;
  const knowsGroup = (container.securityContext.runAsGroup ?? pod.spec.securityContext.runAsGroup) !== undefined;
  return knowsGroup && identityOfTarget(pod, container) ? undefined : kindOfTarget(pod, container.name, cluster);
}

/** Nobody can remove a container, and an alert may come every hour. */
const MOST_OF_ALERTS = 2;

export const roomFor = (requesterId: string, limits: Limits): Room => ({
  most: limits.ephemeralContainersPerPod,
  mostOfPerson: Math.min(
    limits.ephemeralContainersPerPodAndUser,
    alertSourceOf(requesterId) === undefined ? Number.POSITIVE_INFINITY : MOST_OF_ALERTS,
  ),
  requesterId,
});
