import type { Plan } from '../../core/container/plan.ts';
import { canonicalJson } from '../../core/hash.ts';
import { secondRunOf } from '../../core/planning/once-more.ts';
import type { Refusal } from '../../core/request/origin.ts';
import type { Run } from '../../core/run/run.ts';
import type { FlowDeps } from '../context/deps.ts';
import { refusal } from '../context/refusals.ts';
import { sourcesOfOnceMore } from '../planning/plan-pod.ts';

/**
 * Why a program may not run a second time right now: its container runs again, or has another image, other words or other
 * names in its environment than people approved, or the revision that they approved has another image. Undefined for any other run.
 */
export async function onceMoreProblem({ request }: Run, plan: Plan, deps: FlowDeps): Promise<Refusal | undefined> {
  if (!plan.onceMore) return undefined;
  const cluster = deps.clusters.get(plan.cluster);
  const pod = await cluster.pod(plan.namespace, plan.podName);
  const { original, revisions } = await sourcesOfOnceMore(pod, request, cluster);
  const policy = deps.policies.current();
  const second = secondRunOf(pod, { request, policy, original, revisions });
  if (second.kind === 'deny') return refusal(second.code, second.subject);
  const { image, onceMore } = second;
  const isSame = canonicalJson({ image, onceMore }) === canonicalJson({ image: plan.image, onceMore: plan.onceMore });
  return isSame ? undefined : refusal('approval_changed');
}
