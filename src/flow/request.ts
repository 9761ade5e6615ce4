import { identityOfTarget, imageOfTarget } from '../core/container/auto-profile.ts';
import { type Plan, planHash } from '../core/container/plan.ts';
import type { Pod, PodContainer } from '../core/container/pod.ts';
import type { UserAndGroup } from '../core/container/profiles.ts';
import { problemOfPod, targetContainerOf } from '../core/container/target.ts';
import { type ReasonCode, toKdebugError } from '../core/errors.ts';
import type { RunId } from '../core/ids.ts';
import { decide } from '../core/policy/decide.ts';
import type { Decision } from '../core/policy/decision.ts';
import { makePlan } from '../core/policy/make-plan.ts';
import type { Policy } from '../core/policy/policy.ts';
import { resolveImage } from '../core/policy/resolve-image.ts';
import { resolvePlace } from '../core/policy/resolve-place.ts';
import type { Refusal, Run } from '../core/run/run.ts';
import { record } from './audit.ts';
import { accessProblem, rehearse } from './checks.ts';
import type { FlowDeps } from './deps.ts';
import { refusal, refusalOfDecision } from './refusals.ts';
import type { RunChanger, RunSession } from './session.ts';
import { useGrant } from './use-grant.ts';

/** A step of planning either yields or refuses. */
class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

/**
 * Resolves a request to a plan and decides on it. What cannot work is refused here, early and plainly, before anything was
 * asked of the cluster but the pod and its namespace; a channel or namespace that no rule names is refused before even that,
 * so nobody learns from the answers which pods exist.
 */
export async function plan(session: RunSession, deps: FlowDeps, runs: RunChanger): Promise<void> {
  const atMs = deps.clock.now();
  const { run } = session;
  try {
    const policy = deps.policies.current();
    const made = await planFor(run, policy, deps);
    const decision = decide(made, policy);
    await recordDecision(run, decision, deps);
    if (decision.kind === 'deny') throw new Refused(refusalOfDecision(decision));
    const problem = await accessProblem(run, made, deps);
    if (problem) throw new Refused(problem);
    const planned = { plan: made, planHash: planHash(made), decision, atMs };
    if (run.request.dryRun) {
      const rehearsal = await rehearse(run, made, deps);
      await session.apply({ kind: 'rehearsed', ...planned, rehearsal });
      return;
    }
    const grantedBy =
      decision.kind === 'allow' ? undefined : await beforeAsking(run, made, { rule: decision.rule, deps, runs });
    await session.apply({ kind: 'planned', ...planned, ...(grantedBy !== undefined && { grantedBy }) });
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown;
    await session.apply({ kind: 'denied', refusal: thrown.refusal, atMs });
  }
}

/** Plans the request as it would be planned now, without deciding on it. */
export async function planOrRefusal(
  run: Run,
  deps: FlowDeps,
): Promise<{ readonly plan: Plan } | { readonly refusal: Refusal }> {
  try {
    return { plan: await planFor(run, deps.policies.current(), deps) };
  } catch (thrown) {
    if (thrown instanceof Refused) return { refusal: thrown.refusal };
    throw thrown;
  }
}

function recordDecision(run: Run, decision: Decision, deps: FlowDeps): Promise<void> {
  const code = decision.kind === 'deny' ? decision.code : undefined;
  return record(deps, run, 'decision', { kind: decision.kind, code, rule: decision.rule });
}

/** An open grant stands in for the approval; without one, the cluster must take the patch before a person is bothered. */
async function beforeAsking(
  run: Run,
  made: Plan,
  { rule, deps, runs }: { readonly rule: string; readonly deps: FlowDeps; readonly runs: RunChanger },
): Promise<RunId | undefined> {
  const grantedBy = await useGrant(run, made, { rule, deps, runs });
  if (grantedBy !== undefined) return grantedBy;
  const rehearsal = await rehearse(run, made, deps);
  if (!rehearsal.accepted) throw new Refused(refusal('rehearsal_refused', rehearsal.cluster, rule));
  return undefined;
}

const refuse = (code: ReasonCode, subject?: string): never => {
  throw new Refused(refusal(code, subject));
};

async function planFor(run: Run, policy: Policy, deps: FlowDeps): Promise<Plan> {
  const { request, origin } = run;
  const place = resolvePlace(request, origin.channelId, policy);
  if (place.kind === 'deny') return refuse(place.code, place.subject);
  const image = resolveImage(request.image, policy);
  if (image.kind === 'deny') throw new Refused(withNearest(image.code, image.subject, image.nearest));
  if (request.target.kind !== 'pod') return refuse('not_in_this_version', 'a request for several pods');

  const cluster = deps.clusters.get(place.cluster);
  const [pod, level] = await Promise.all([
    cluster.pod(place.namespace, request.target.name),
    cluster.podSecurity(place.namespace),
  ]);
  const problem = problemOfPod(pod, policy.limits.ephemeralContainersPerPod);
  if (problem) return refuse(problem.code, problem.subject);
  const target = targetContainerOf(pod, request.targetContainer);
  if (target.kind === 'problem') return refuse(target.problem.code, target.problem.subject);
  const container = target.kind === 'container' ? target.container : undefined;
  const learnt = container && (await learntOf(pod, container, deps));
  const resolved = { request, origin, policy, cluster: place.cluster, pod, container, level, alias: image.alias };
  const made = makePlan({ ...resolved, ...(learnt && { learnt }) });
  return made.kind === 'plan' ? made.plan : refuse(made.code, made.subject);
}

/** What an earlier diagnosis learnt of the target's image, where nothing nearer says who the target is: a hint, never a must. */
async function learntOf(pod: Pod, container: PodContainer, deps: FlowDeps): Promise<UserAndGroup | undefined> {
  const image = imageOfTarget(pod, container.name);
  const knowsGroup = (container.securityContext.runAsGroup ?? pod.spec.securityContext.runAsGroup) !== undefined;
  if (image === undefined || (knowsGroup && identityOfTarget(pod, container))) return undefined;
  try {
    return await deps.store.learnt(image);
  } catch (thrown) {
    deps.log.debug('nothing learnt can be looked up', { reason: toKdebugError(thrown).code });
    return undefined;
  }
}

const withNearest = (code: ReasonCode, subject: string, nearest: string | undefined): Refusal =>
  refusal(code, nearest === undefined ? subject : `${subject} (did you mean ${nearest}?)`);
