import type { Batch } from '../../core/batch/batch.ts';
import type { RunRequest } from '../../core/command/command.ts';
import { identityOfTarget, kindOfTarget } from '../../core/container/auto-profile.ts';
import type { Plan } from '../../core/container/plan.ts';
import type { Pod, PodContainer, PodSecurityLevel } from '../../core/container/pod.ts';
import type { UserAndGroup } from '../../core/container/profiles.ts';
import { targetContainerOf } from '../../core/container/target.ts';
import { type ReasonCode, toKdebugError } from '../../core/errors.ts';
import type { Decision } from '../../core/policy/decision.ts';
import { makePlan } from '../../core/policy/make-plan.ts';
import type { ImageAlias, Policy } from '../../core/policy/policy.ts';
import { resolveImage } from '../../core/policy/resolve-image.ts';
import { resolveNamespace } from '../../core/policy/resolve-place.ts';
import type { Origin, Refusal } from '../../core/run/run.ts';
import { defined } from '../../lib/defined.ts';
import type { FlowDeps } from '../deps.ts';
import { refusal } from '../inbox/refusals.ts';

/** A plan that is only looked at, by somebody who waits for the answer. */
export interface Glance {
  /** Nobody waits any more: then the work stops. */
  isOver(): boolean;
}

export const refuse = (code: ReasonCode, subject?: string): never => {
  throw new Refused(refusal(code, subject));
};

/** What a request came to. */
export interface PlannedRequest {
  readonly plan: Plan;
  /** Of the plan, or of all of a batch's. */
  readonly planHash: string;
  readonly decision: Decision;
  readonly batch?: Batch;
}

/** Where a request goes and what it runs; found in the policy alone. */
export interface Aim {
  readonly cluster: string;
  readonly namespace: string;
  readonly alias: ImageAlias;
}

/** @throws Refused */
export function aimOf(request: RunRequest, { channelId }: Pick<Origin, 'channelId'>, policy: Policy): Aim {
  const place = resolveNamespace(request, channelId, policy);
  if (place.kind === 'deny') return refuse(place.code, place.subject);
  const image = resolveImage(request.image, policy);
  if (image.kind === 'deny') throw new Refused(withNearest(image.code, image.subject, image.nearest));
  return { cluster: place.cluster, namespace: place.namespace, alias: image.alias };
}

/** Everything that the plan of a pod is made from but the pod. */
export interface PlanParts {
  readonly request: RunRequest;
  readonly origin: Origin;
  readonly policy: Policy;
  readonly aim: Aim;
  readonly level: PodSecurityLevel;
  /** What was learnt of a kind of target (`kindOfTarget`). */
  readonly learntOf: (kind: string) => Promise<UserAndGroup | undefined> | UserAndGroup | undefined;
}

/** The plan of one pod. @throws Refused */
export async function planPod(pod: Pod, parts: PlanParts): Promise<Plan> {
  const { request, origin, policy, aim, level } = parts;
  const target = targetContainerOf(pod, request.targetContainer);
  if (target.kind === 'problem') return refuse(target.problem.code, target.problem.subject);
  const container = target.kind === 'container' ? target.container : undefined;
  const kind = container && unknownKindOf(pod, container, aim.cluster);
  const learnt = kind === undefined ? undefined : await parts.learntOf(kind);
  const resolved = { request, origin, policy, cluster: aim.cluster, pod, container, level, alias: aim.alias };
  const made = makePlan({ ...resolved, ...defined({ learnt }) });
  return made.kind === 'plan' ? made.plan : refuse(made.code, made.subject);
}

/** The kind of a target of which nothing nearer says as whom it runs. */
function unknownKindOf(pod: Pod, container: PodContainer, cluster: string): string | undefined {
  const knowsGroup = (container.securityContext.runAsGroup ?? pod.spec.securityContext.runAsGroup) !== undefined;
  return knowsGroup && identityOfTarget(pod, container) ? undefined : kindOfTarget(pod, container.name, cluster);
}

/** What an earlier diagnosis learnt of a kind of target: a hint, never a must. */
export async function learntOf(kind: string, { store, log }: FlowDeps): Promise<UserAndGroup | undefined> {
  try {
    return await store.learnt(kind);
  } catch (thrown) {
    log.debug('nothing learnt can be looked up', { reason: toKdebugError(thrown).code });
    return undefined;
  }
}

const withNearest = (code: ReasonCode, subject: string, nearest: string | undefined): Refusal =>
  refusal(code, nearest === undefined ? subject : `${subject} (did you mean ${nearest}?)`);

/** A step of planning either yields or refuses. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}
