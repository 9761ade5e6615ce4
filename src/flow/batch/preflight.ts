import { type BatchSize, decideBatch } from '../../core/batch/decide-batch.ts';
import { templateOf } from '../../core/batch/new-batch.ts';
import type { Plan } from '../../core/container/plan.ts';
import type { Pod } from '../../core/container/pod.ts';
import { problemOfPod } from '../../core/container/target.ts';
import { KdebugError } from '../../core/errors.ts';
import { canonicalJson } from '../../core/hash.ts';
import { aimOf, roomFor } from '../../core/policy/plan-request.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { asksTheSame } from '../../core/policy/vote.ts';
import type { BatchRun } from '../../core/run/life-cycle.ts';
import type { Refusal, Run } from '../../core/run/run.ts';
import type { FlowDeps } from '../deps.ts';
import { refusal, refusalOfDecision } from '../inbox/refusals.ts';
import type { CheckAtLaunch } from '../stages/launch.ts';
import { planPodOrRefuse, Refused, unlessDenied } from '../stages/plan-pod.ts';
import { accessProblem, unwanted } from '../stages/preflight.ts';
import type { PodSlot } from './run-pod.ts';

/**
 * What stands against the launch of one pod of an approved batch: the policy as it is now, the pod as it is now, a plan that has
 * become another one, the cluster's rights. It concerns that pod alone; a pod that is gone or replaced is told so by its PATCH.
 * `sizeNow`: people may have made the batch larger or smaller since it began.
 */
export function recheckOf(
  batch: BatchRun,
  asked: FlowDeps,
  sizeNow: () => BatchSize,
): (place: PodSlot) => CheckAtLaunch {
  const known = new KnownPlans(batch);
  // Asked once, as it begins: who leaves the approvers later, or how long it goes on, does not stop what was let begin.
  const problem = batch.state === 'approved' ? unwanted(batch, asked) : undefined;
  return (place) => async (part, plan, deps) => {
    const policy = deps.policies.current();
    const key = known.keyOf(plan, place);
    return (
      known.problemWith(plan, key, { policy, size: sizeNow() }) ??
      (await problem) ??
      (await driftOf(part, plan, { policy, deps, key })) ??
      (await accessProblem(part, plan, deps))
    );
  };
}

/** The few different plans of a batch: what each comes to is worked out once, and the policy is asked once as long as it and the size are the same. */
class KnownPlans {
  readonly #batch: BatchRun;
  readonly #keys = new Map<string, string>();
  readonly #problems = new Map<string, Refusal | undefined>();
  #judged: Judged | undefined;

  constructor(batch: BatchRun) {
    this.#batch = batch;
  }

  keyOf(plan: Plan, { index, container }: PodSlot): string {
    const name = `${this.#batch.batch.pods[index]?.variant}/${container}`;
    const key = this.#keys.get(name) ?? keyOf(plan);
    this.#keys.set(name, key);
    return key;
  }

  problemWith(plan: Plan, key: string, judged: Judged): Refusal | undefined {
    if (!isSame(judged, this.#judged)) this.#problems.clear();
    this.#judged = judged;
    if (!this.#problems.has(key)) this.#problems.set(key, this.#problem(plan, judged));
    return this.#problems.get(key);
  }

  #problem(plan: Plan, { policy, size }: Judged): Refusal | undefined {
    const { approval } = this.#batch;
    const decision = decideBatch([plan], policy, size);
    const isApproved = approval !== undefined && asksTheSame(decision, approval);
    return decision.kind === 'allow' || isApproved ? undefined : refusalOfDecision(decision);
  }
}

/** What a word of the policy was about. */
interface Judged {
  readonly policy: Policy;
  readonly size: BatchSize;
}

const isSame = (a: Judged, b: Judged | undefined): boolean =>
  a.policy === b?.policy && a.size.pods === b.size.pods && a.size.parallelism === b.size.parallelism;

async function driftOf(
  { request, origin }: Run,
  plan: Plan,
  { policy, deps, key }: { readonly policy: Policy; readonly deps: FlowDeps; readonly key: string },
): Promise<Refusal | undefined> {
  const pod = await podOf(plan, deps);
  if (!pod) return undefined;
  const problem = problemOfPod(pod, roomFor(origin.requesterId, policy.limits));
  if (problem) return refusal(problem.code, problem.subject);
  const level = await deps.clusters.get(plan.cluster).podSecurity(plan.namespace);
  const { runAsUser: uid, runAsGroup: gid } = plan.securityContext ?? {};
  // What the pods before it have taught meanwhile is no drift.
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

async function podOf({ cluster, namespace, podName, podUid }: Plan, deps: FlowDeps): Promise<Pod | undefined> {
  try {
    const pod = await deps.clusters.get(cluster).pod(namespace, podName);
    return pod.metadata.uid === podUid ? pod : undefined;
  } catch (thrown) {
    if (thrown instanceof KdebugError && thrown.code === 'pod_not_found') return undefined;
    throw thrown;
  }
}

/**
 * What is launched. That it cannot see something is said of it, and is no part of it; its clocks and the limit of its log are kept
 * as they were approved, so that a policy with other ones is no drift.
 */
function keyOf(plan: Plan): string {
  const { blindSpots: _, timeoutMs: _run, startDeadlineMs: _start, maxLogBytes: _log, ...launched } = templateOf(plan);
  return canonicalJson(launched);
}
