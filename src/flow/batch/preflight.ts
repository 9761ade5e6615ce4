import { templateOf } from '../../core/batch/new-batch.ts';
import type { Plan } from '../../core/container/plan.ts';
import { canonicalJson } from '../../core/hash.ts';
import { type BatchSize, decideBatch } from '../../core/planning/decide-batch.ts';
import { aimOf, roomFor } from '../../core/planning/plan-request.ts';
import { asksTheSame } from '../../core/planning/vote.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { Refusal } from '../../core/request/origin.ts';
import { problemOfPod } from '../../core/request/target.ts';
import type { BatchRun } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import type { FlowDeps } from '../context/deps.ts';
import { currentPod } from '../context/pod-room.ts';
import { refusal, refusalOfDecision } from '../context/refusals.ts';
import { planPodOrRefuse, Refused, unlessDenied } from '../planning/plan-pod.ts';
import { accessProblem, unwanted } from '../planning/preflight.ts';
import type { CheckAtLaunch } from '../run/launch.ts';
import type { PodSlot } from './run-pod.ts';

/**
 * Checks one pod of an approved batch before its launch: the current policy, the current pod, drift of its plan, and
 * the cluster's rights. A problem stops only that pod. The PATCH itself reports a missing or replaced pod. `sizeNow`
 * gives the current size, which people may have changed.
 */
export function recheckOf(
  batch: BatchRun,
  batchDeps: FlowDeps,
  sizeNow: () => BatchSize,
): (slot: PodSlot) => CheckAtLaunch {
  const decisions = new PlanDecisions(batch);
  // Checked only at the start: a started batch survives an approver's departure and a long run time.
  const problem = batch.state === 'approved' ? startProblem(() => unwanted(batch, batchDeps)) : undefined;
  return (slot) => async (podRun, plan, deps) => {
    const policy = deps.policies.current();
    const key = decisions.keyOf(plan, slot);
    return (
      decisions.problemWith(plan, key, { policy, size: sizeNow() }) ??
      (await problem?.()) ??
      (await driftOf(podRun, plan, { policy, deps, key })) ??
      (await accessProblem(podRun, plan, deps))
    );
  };
}

/** Asks once, at once. If there was no answer, each later call asks again. */
function startProblem(ask: () => Promise<Refusal | undefined>): () => Promise<Refusal | undefined> {
  let answer = ask();
  // The first pod may be launched much later, and an unhandled rejection would end the process.
  answer.catch(() => undefined);
  return () =>
    answer.catch(() => {
      answer = ask();
      return answer;
    });
}

/** Caches the result for each different plan of a batch. Only a new policy or size makes it decide again. */
class PlanDecisions {
  readonly #batch: BatchRun;
  readonly #keys = new Map<string, string>();
  readonly #problems = new Map<string, Refusal | undefined>();
  #basis: DecisionBasis | undefined;

  constructor(batch: BatchRun) {
    this.#batch = batch;
  }

  keyOf(plan: Plan, { index, container }: PodSlot): string {
    const name = `${this.#batch.batch.pods[index]?.variant}/${container}`;
    const key = this.#keys.get(name) ?? keyOf(plan);
    this.#keys.set(name, key);
    return key;
  }

  problemWith(plan: Plan, key: string, basis: DecisionBasis): Refusal | undefined {
    if (!isSame(basis, this.#basis)) this.#problems.clear();
    this.#basis = basis;
    if (!this.#problems.has(key)) this.#problems.set(key, this.#problem(plan, basis));
    return this.#problems.get(key);
  }

  #problem(plan: Plan, { policy, size }: DecisionBasis): Refusal | undefined {
    const { approval } = this.#batch;
    const decision = decideBatch([plan], policy, size);
    const isApproved = approval !== undefined && asksTheSame(decision, approval);
    return decision.kind === 'allow' || isApproved ? undefined : refusalOfDecision(decision);
  }
}

/** The facts that a decision depends on. */
interface DecisionBasis {
  readonly policy: Policy;
  readonly size: BatchSize;
}

const isSame = (a: DecisionBasis, b: DecisionBasis | undefined): boolean =>
  a.policy === b?.policy && a.size.pods === b.size.pods && a.size.parallelism === b.size.parallelism;

async function driftOf(
  { request, origin }: Run,
  plan: Plan,
  { policy, deps, key }: { readonly policy: Policy; readonly deps: FlowDeps; readonly key: string },
): Promise<Refusal | undefined> {
  const pod = await currentPod(plan, deps);
  if (!pod) return undefined;
  const problem = problemOfPod(pod, roomFor(origin.requesterId, policy.limits));
  if (problem) return refusal(problem.code, problem.subject);
  const level = await deps.clusters.get(plan.cluster).podSecurity(plan.namespace);
  const { runAsUser: uid, runAsGroup: gid } = plan.securityContext ?? {};
  // A user id learnt from an earlier pod of this batch is not drift.
  const learntOf = () => (uid === undefined || gid === undefined ? undefined : { uid, gid });
  try {
    const aim = unlessDenied(aimOf(request, origin, policy));
    const now = await planPodOrRefuse(pod, { request, origin, policy, level, aim }, learntOf);
    return keyOf(now) === key ? undefined : refusal('approval_changed');
  } catch (thrown) {
    if (thrown instanceof Refused) return thrown.refusal;
    throw thrown;
  }
}

/**
 * The part of a plan that matters for drift. Blind spots are not launched; timeouts and the log limit stay as approved,
 * so a policy that changes them is not drift.
 */
function keyOf(plan: Plan): string {
  const { blindSpots: _, timeoutMs: _run, startDeadlineMs: _start, maxLogBytes: _log, ...launched } = templateOf(plan);
  return canonicalJson(launched);
}
