import { defined } from '../../lib/object.ts';
import type { Plan } from '../container/plan.ts';
import { base32Hash, canonicalJson, sha256 } from '../hash.ts';
import { asRunId, type RunId } from '../ids.ts';
import type { RunRequest } from '../request/command.ts';
import type { Batch, BatchPod, Comparison, PlanTemplate, Variant } from './batch.ts';
import type { SelectedPod } from './select-pods.ts';

/** `parallelism` if the request names none (EphemeralJob). */
export const DEFAULT_PARALLELISM = 1;

/** A pod of the snapshot, with the plan of each of its containers; a skipped one has none. */
export interface PlannedPod extends SelectedPod {
  readonly plans: readonly Plan[];
  /** `variantKeyOf` of the plans, if already computed: it is slow for ten thousand pods. */
  readonly key?: string;
}

/** Equal for pods whose plans differ only in the pod. */
export const variantKeyOf = (plans: readonly Plan[]): string => canonicalJson(plans.map(templateOf));

export interface NewBatch {
  /** In the order of `selectPods`: eligible pods first. */
  readonly pods: readonly PlannedPod[];
  readonly requested: RunRequest['batch'];
  /** The person who wants the batch to start paused. */
  readonly pausedBy?: string;
  readonly nowMs: number;
  readonly comparison?: Comparison;
}

/** A batch of planned pods. Pods that appear later are not in the snapshot and stay untouched. */
export function newBatch({ pods: planned, requested, pausedBy, nowMs, comparison }: NewBatch): Batch {
  // A comparison needs all its pods at the same moment.
  const parallelism = comparison ? planned.length : (requested.parallelism ?? DEFAULT_PARALLELISM);
  const { variants, pods } = compact(planned);
  const eligible = pods.filter(({ state }) => state === 'queued').length;
  const queueEnd = Math.min(requested.replicas ?? eligible, eligible);
  return {
    variants,
    approvedPods: queueEnd,
    approvedParallelism: parallelism,
    parallelism,
    ...defined({
      replicas: requested.replicas,
      comparison,
      ttlMs: requested.ttlMs,
      canary: requested.canary ? ('first' as const) : undefined,
      paused: pausedBy === undefined ? undefined : { byUserId: pausedBy, atMs: nowMs },
    }),
    eligible,
    queueEnd,
    createdAtMs: nowMs,
    idleMs: 0,
    pods,
  };
}

/** Stores every different plan once, and for each pod its index: ten thousand equal plans become one. */
function compact(planned: readonly PlannedPod[]): {
  readonly variants: readonly Variant[];
  readonly pods: readonly BatchPod[];
} {
  const known = new Map<string, number>();
  const variants: Variant[] = [];
  const variantOf = (plans: readonly Plan[], key = variantKeyOf(plans)): number => {
    const index = known.get(key) ?? variants.push(plans.map(templateOf)) - 1;
    known.set(key, index);
    return index;
  };
  const pods = planned.map(({ pod, skip, plans, key }, index) => {
    const { name, uid } = pod.metadata;
    const base = { index, name, uid, node: pod.spec.nodeName ?? '' };
    return skip
      ? { ...base, state: 'skipped' as const, skip }
      : { ...base, state: 'queued' as const, variant: variantOf(plans, key) };
  });
  return { variants, pods };
}

export function templateOf({
  podName: _name,
  podUid: _uid,
  nodeName: _node,
  workload: _workload,
  observed: _seen,
  ...template
}: Plan): PlanTemplate {
  return template;
}

/**
 * The SHA-256 of what is approved: every pod by uid with its plan, how many pods, the parallelism, and whether there is
 * a canary or a comparison.
 */
export function batchPlanHash({ variants, pods, queueEnd, parallelism, canary, comparison }: Batch): string {
  const whole = pods.map(({ name, uid, node, variant = -1 }) => [name, uid, node, variant]);
  const compared = comparison ? { compared: true } : {};
  return sha256(
    canonicalJson({ variants, pods: whole, queueEnd, parallelism, canary: canary !== undefined, ...compared }),
  );
}

/** The approved plans of a pod, one per container; none for a skipped pod. */
export function plansOf(batch: Batch, index: number): readonly Plan[] {
  const pod = batch.pods[index];
  const variant = pod?.variant === undefined ? undefined : batch.variants[pod.variant];
  if (!pod || !variant) return [];
  return variant.map((template) => ({ ...template, podName: pod.name, podUid: pod.uid, nodeName: pod.node }));
}

/**
 * The run id of a container in a batch (`KDEBUG_RUN`, also part of its name). It is derived, so every replica computes
 * the same id after a crash, and another batch on the same pods gets other ids.
 */
export const runIdOf = (batchId: RunId, podUid: string, container = 0): RunId =>
  asRunId(base32Hash(`${batchId}/${podUid}/${container}`, 10));
