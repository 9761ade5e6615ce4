import { planHash } from '../../core/container/plan.ts';
import { problemOfPod } from '../../core/container/target.ts';
import { toKdebugError } from '../../core/errors.ts';
import type { RunId } from '../../core/ids.ts';
import { classText } from '../../core/policy/class-facts.ts';
import { decide } from '../../core/policy/decide.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { unseenOnCard } from '../../core/report/parts/power-parts.ts';
import type { Refusal, Run } from '../../core/run/run.ts';
import type { EventOf } from '../../core/run/run-event.ts';
import { defined } from '../../lib/defined.ts';
import { type GrantContext, useGrant } from '../approval/grants.ts';
import { record } from '../audit.ts';
import { type PlanContext, planBatch } from '../batch/plan.ts';
import type { FlowDeps } from '../deps.ts';
import type { HeldRun, RunChanger } from '../held-run.ts';
import { refusal, refusalOfDecision } from '../inbox/refusals.ts';
import { channelProblem } from '../reply/slack-connect.ts';
import { aimOf, type Glance, learntOf, type PlannedRequest, planPod, Refused, refuse } from './plan-pod.ts';
import { roomFor } from './pod-room.ts';
import { accessProblem, rehearse, tooOld } from './preflight.ts';

/**
 * Resolves a request to a plan and decides on it. What cannot work is refused here, early and plainly, before anything was
 * asked of the cluster but the person's rights, the pod and its namespace. A channel that outsiders read, a channel or namespace that
 * no rule names, and who may not get the pod are refused before the pod is read, so nobody learns from the answers which pods exist.
 */
export async function plan(session: HeldRun, deps: FlowDeps, runs: RunChanger): Promise<void> {
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
      decision.kind === 'allow' ? undefined : await beforeAsking(run, made, { needed: decision, deps, runs });
    const event = { kind: 'planned', ...planned, ...defined({ grantedBy }) } as const;
    await takePlan(session, event, deps.policies.current());
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown;
    await session.apply({ kind: 'denied', refusal: thrown.refusal, atMs });
  }
}

/** A person has only so many requests waiting for an approval; the store counts. @throws Refused */
async function takePlan(session: HeldRun, planned: EventOf<'planned'>, { limits }: Policy): Promise<void> {
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
): Promise<PlannedRequest | { readonly refusal: Refusal }> {
  try {
    return await planFor(run, deps, glance);
  } catch (thrown) {
    if (thrown instanceof Refused) return { refusal: thrown.refusal };
    throw thrown;
  }
}

function recordDecision(run: Run, { plan, decision, batch }: PlannedRequest, deps: FlowDeps): Promise<void> {
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
  { plan, batch }: PlannedRequest,
  { needed: asked, deps, runs }: GrantContext,
): Promise<RunId | undefined> {
  // A grant is for single runs: it counts them.
  const grantedBy = batch ? undefined : await useGrant(run, plan, { needed: asked, deps, runs });
  if (grantedBy !== undefined) return grantedBy;
  const unseen = unseenOnCard({ plan, ...defined({ batch }) });
  if (unseen) throw new Refused(refusal(unseen, undefined, asked.rule));
  const rehearsal = await rehearse(run, plan, deps);
  if (!rehearsal.accepted) throw new Refused(refusal('rehearsal_refused', rehearsal.cluster, asked.rule));
  return undefined;
}

/** Refuses before the cluster is asked about any pod: what the channel is, and who asks, may stand against it. */
async function planFor(run: Run, deps: FlowDeps, glance?: Glance): Promise<PlannedRequest> {
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
  const context = { aim, policy, deps, ...defined({ glance }) };
  return target.kind === 'pod' ? planOne(run, target.name, context) : planBatch(run, target, context);
}

async function planOne(
  { request, origin }: Run,
  name: string,
  { aim, policy, deps }: PlanContext,
): Promise<PlannedRequest> {
  const cluster = deps.clusters.get(aim.cluster);
  const [pod, level] = await Promise.all([cluster.pod(aim.namespace, name), cluster.podSecurity(aim.namespace)]);
  const problem = problemOfPod(pod, roomFor(origin.requesterId, policy.limits));
  if (problem) return refuse(problem.code, problem.subject);
  const parts = { request, origin, policy, aim, level, learntOf: (kind: string) => learntOf(kind, deps) };
  const plan = await planPod(pod, parts);
  return { plan, planHash: planHash(plan), decision: decide(plan, policy) };
}
