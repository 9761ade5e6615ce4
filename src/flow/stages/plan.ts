import type { Batch } from '../../core/batch/batch.ts';
import type { RunRequest } from '../../core/command/command.ts';
import { identityOfTarget, kindOfTarget } from '../../core/container/auto-profile.ts';
import { type Plan, planHash } from '../../core/container/plan.ts';
import type { Pod, PodContainer, PodSecurityLevel } from '../../core/container/pod.ts';
import type { UserAndGroup } from '../../core/container/profiles.ts';
import { problemOfPod, targetContainerOf } from '../../core/container/target.ts';
import { type ReasonCode, toKdebugError } from '../../core/errors.ts';
import type { RunId } from '../../core/ids.ts';
import { classText } from '../../core/policy/class-facts.ts';
import { type Decision, decide } from '../../core/policy/decide.ts';
import { makePlan } from '../../core/policy/make-plan.ts';
import type { ImageAlias, Policy } from '../../core/policy/policy.ts';
import { resolveImage, resolvePlace } from '../../core/policy/resolve.ts';
import { unseenOnCard } from '../../core/report/parts/power-parts.ts';
import type { Origin, Refusal, Run } from '../../core/run/run.ts';
import type { EventOf } from '../../core/run/run-event.ts';
import { type Asking, useGrant } from '../approval/grants.ts';
import { record } from '../audit.ts';
import { type PlanContext, planBatch } from '../batch/plan.ts';
import type { FlowDeps } from '../deps.ts';
import type { RunChanger, RunSession } from '../held-run.ts';
import { refusal, refusalOfDecision } from '../inbox/refusals.ts';
import { channelProblem } from '../reply/slack-connect.ts';
import { roomFor } from './pod-room.ts';
import { accessProblem, rehearse, tooOld } from './preflight.ts';

/**
 * Resolves a request to a plan and decides on it. What cannot work is refused here, early and plainly, before anything was
 * asked of the cluster but the person's rights, the pod and its namespace. A channel that outsiders read, a channel or namespace that
 * no rule names, and who may not get the pod are refused before the pod is read, so nobody learns from the answers which pods exist.
 */
export async function plan(session: RunSession, deps: FlowDeps, runs: RunChanger): Promise<void> {
  const atMs = deps.clock.now();
  const { run } = session;
  try {
    const old = tooOld(run, deps);
    if (old) throw new Refused(old);
    const made = await planFor(run, deps);
    const { decision } = made;
    await recordDecision(run, made, deps);
    if (decision.kind === 'deny') throw new Refused(refusalOfDecision(decision));
    const planned = { ...made, atMs };
    if (run.request.dryRun) {
      const rehearsal = await rehearse(run, made.plan, deps);
      await session.apply({ kind: 'rehearsed', ...planned, rehearsal });
      return;
    }
    const grantedBy =
      decision.kind === 'allow' ? undefined : await beforeAsking(run, made, { asked: decision, deps, runs });
    const event = { kind: 'planned', ...planned, ...(grantedBy !== undefined && { grantedBy }) } as const;
    await takePlan(session, event, deps.policies.current());
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown;
    await session.apply({ kind: 'denied', refusal: thrown.refusal, atMs });
  }
}

/** A person has only so many requests waiting for an approval; the store counts. @throws Refused */
async function takePlan(session: RunSession, planned: EventOf<'planned'>, { limits }: Policy): Promise<void> {
  try {
    await session.apply(planned);
  } catch (thrown) {
    const { code } = toKdebugError(thrown);
    if (code !== 'limit_pending_per_person') throw thrown;
    refuse(code, `${limits.pendingApprovalsPerUser} of ${limits.pendingApprovalsPerUser}`);
  }
}

/** Plans the request as it would be planned now; nothing is kept. At a glance, pods of one kind are judged by one of them. */
export async function planOrRefusal(
  run: Run,
  deps: FlowDeps,
  glance?: Glance,
): Promise<Made | { readonly refusal: Refusal }> {
  try {
    return await planFor(run, deps, glance);
  } catch (thrown) {
    if (thrown instanceof Refused) return { refusal: thrown.refusal };
    throw thrown;
  }
}

function recordDecision(run: Run, { plan, decision, batch }: Made, deps: FlowDeps): Promise<void> {
  const code = decision.kind === 'deny' ? decision.code : undefined;
  return record(deps, run, 'decision', {
    kind: decision.kind,
    code,
    rule: decision.rule,
    class: classText(plan.class, plan.classReasons),
    pods: batch?.approvedPods,
  });
}

/** An open grant stands in for the approval; without one, the cluster must take the patch before a person is bothered. */
async function beforeAsking(
  run: Run,
  { plan, batch }: Made,
  { asked, deps, runs }: Asking,
): Promise<RunId | undefined> {
  // A grant is for single runs: it counts them.
  const grantedBy = batch ? undefined : await useGrant(run, plan, { asked, deps, runs });
  if (grantedBy !== undefined) return grantedBy;
  const unseen = unseenOnCard({ plan, ...(batch && { batch }) });
  if (unseen) throw new Refused(refusal(unseen, undefined, asked.rule));
  const rehearsal = await rehearse(run, plan, deps);
  if (!rehearsal.accepted) throw new Refused(refusal('rehearsal_refused', rehearsal.cluster, asked.rule));
  return undefined;
}

/** Refuses before the cluster is asked about any pod: what the channel is, and who asks, may stand against it. */
async function planFor(run: Run, deps: FlowDeps, glance?: Glance): Promise<Made> {
  const { request, origin } = run;
  const policy = deps.policies.current();
  // At a glance, and in a rehearsal, nothing is posted.
  const problem = await channelProblem(origin, deps, { posts: !glance && request.dryRun !== true });
  if (problem) throw new Refused(problem);
  const aim = aimOf(request, origin, policy);
  const { target } = request;
  const podName = target.kind === 'pod' ? { podName: target.name } : {};
  const denied = await accessProblem(run, { ...aim, ...podName }, deps);
  if (denied) throw new Refused(denied);
  if (glance?.isOver()) return refuse('cluster_unreachable', 'no answer in time');
  const context = { aim, policy, deps, ...(glance && { glance }) };
  return target.kind === 'pod' ? planOne(run, target.name, context) : planBatch(run, target, context);
}

async function planOne({ request, origin }: Run, name: string, { aim, policy, deps }: PlanContext): Promise<Made> {
  const cluster = deps.clusters.get(aim.cluster);
  const [pod, level] = await Promise.all([cluster.pod(aim.namespace, name), cluster.podSecurity(aim.namespace)]);
  const problem = problemOfPod(pod, roomFor(origin.requesterId, policy.limits));
  if (problem) return refuse(problem.code, problem.subject);
  const parts = { request, origin, policy, aim, level, learntOf: (kind: string) => learntOf(kind, deps) };
  const plan = await planPod(pod, parts);
  return { plan, planHash: planHash(plan), decision: decide(plan, policy) };
}

/** A step of planning either yields or refuses. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

/** A plan that is only looked at, by somebody who waits for the answer. */
export interface Glance {
  /** Nobody waits any more: then the work stops. */
  isOver(): boolean;
}

export const refuse = (code: ReasonCode, subject?: string): never => {
  throw new Refused(refusal(code, subject));
};

/** What a request came to. */
export interface Made {
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
  const place = resolvePlace(request, channelId, policy);
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
  const made = makePlan({ ...resolved, ...(learnt && { learnt }) });
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
