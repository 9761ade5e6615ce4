import { planHash } from '../core/container/plan.ts';
import { problemOfPod } from '../core/container/target.ts';
import type { RunId } from '../core/ids.ts';
import { decide } from '../core/policy/decide.ts';
import type { Policy } from '../core/policy/policy.ts';
import { fitsOnCard } from '../core/report/power-parts.ts';
import type { Refusal, Run } from '../core/run/run.ts';
import { record } from './audit.ts';
import { planBatch } from './batch/plan-batch.ts';
import { accessProblem, rehearse } from './checks.ts';
import type { FlowDeps } from './deps.ts';
import { aimOf, learntOf, type Made, planPod, Refused, refuse } from './planning.ts';
import { refusal, refusalOfDecision } from './refusals.ts';
import type { RunChanger, RunSession } from './session.ts';
import { tooOld } from './still-wanted.ts';
import { type Asking, useGrant } from './use-grant.ts';

/**
 * Resolves a request to a plan and decides on it. What cannot work is refused here, early and plainly, before anything was
 * asked of the cluster but the pod and its namespace; a channel or namespace that no rule names is refused before even that,
 * so nobody learns from the answers which pods exist.
 */
export async function plan(session: RunSession, deps: FlowDeps, runs: RunChanger): Promise<void> {
  const atMs = deps.clock.now();
  const { run } = session;
  try {
    const old = tooOld(run, deps);
    if (old) throw new Refused(old);
    const policy = deps.policies.current();
    const made = await planFor(run, policy, deps);
    const { decision } = made;
    await recordDecision(run, made, deps);
    if (decision.kind === 'deny') throw new Refused(refusalOfDecision(decision));
    const problem = await accessProblem(run, made.plan, deps);
    if (problem) throw new Refused(problem);
    const planned = { ...made, atMs };
    if (run.request.dryRun) {
      const rehearsal = await rehearse(run, made.plan, deps);
      await session.apply({ kind: 'rehearsed', ...planned, rehearsal });
      return;
    }
    const grantedBy =
      decision.kind === 'allow' ? undefined : await beforeAsking(run, made, { asked: decision, deps, runs });
    await session.apply({ kind: 'planned', ...planned, ...(grantedBy !== undefined && { grantedBy }) });
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown;
    await session.apply({ kind: 'denied', refusal: thrown.refusal, atMs });
  }
}

/** Plans the request as it would be planned now; nothing is kept. */
export async function planOrRefusal(run: Run, deps: FlowDeps): Promise<Made | { readonly refusal: Refusal }> {
  try {
    return await planFor(run, deps.policies.current(), deps);
  } catch (thrown) {
    if (thrown instanceof Refused) return { refusal: thrown.refusal };
    throw thrown;
  }
}

function recordDecision(run: Run, { decision, batch }: Made, deps: FlowDeps): Promise<void> {
  const code = decision.kind === 'deny' ? decision.code : undefined;
  return record(deps, run, 'decision', { kind: decision.kind, code, rule: decision.rule, pods: batch?.approvedPods });
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
  if (!fitsOnCard({ plan, ...(batch && { batch }) }))
    throw new Refused(refusal('command_too_long_to_approve', undefined, asked.rule));
  const rehearsal = await rehearse(run, plan, deps);
  if (!rehearsal.accepted) throw new Refused(refusal('rehearsal_refused', rehearsal.cluster, asked.rule));
  return undefined;
}

function planFor(run: Run, policy: Policy, deps: FlowDeps): Promise<Made> {
  const { target } = run.request;
  return target.kind === 'pod' ? planOne(run, target.name, { policy, deps }) : planBatch(run, target, { policy, deps });
}

async function planOne(
  { request, origin }: Run,
  name: string,
  { policy, deps }: { readonly policy: Policy; readonly deps: FlowDeps },
): Promise<Made> {
  const aim = aimOf(request, origin, policy);
  const cluster = deps.clusters.get(aim.cluster);
  const [pod, level] = await Promise.all([cluster.pod(aim.namespace, name), cluster.podSecurity(aim.namespace)]);
  const problem = problemOfPod(pod, policy.limits.ephemeralContainersPerPod);
  if (problem) return refuse(problem.code, problem.subject);
  const parts = { request, origin, policy, aim, level, learntOf: (image: string) => learntOf(image, deps) };
  const plan = await planPod(pod, parts);
  return { plan, planHash: planHash(plan), decision: decide(plan, policy) };
}
