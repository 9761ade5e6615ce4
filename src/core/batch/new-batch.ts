import { defined } from '../../lib/defined.ts';
import type { RunRequest } from '../command/command.ts';
import type { Plan } from '../container/plan.ts';
import { base32Hash, canonicalJson, sha256 } from '../hash.ts';
import { asRunId, type RunId } from '../ids.ts';
import type { Batch, BatchPod, PlanTemplate, Variant } from './batch.ts';
import type { SelectedPod } from './select-pods.ts';

/** `parallelism` when nobody says (EphemeralJob). */
export const DEFAULT_PARALLELISM = 1;

/** A pod of the snapshot, with the plan of each of its containers; a skipped one has none. */
export interface PlannedPod extends SelectedPod {
  readonly plans: readonly Plan[];
  /** `variantKeyOf` of the plans, where it was made before: for ten thousand pods it takes its time. */
  readonly key?: string;
}

/** Equal for pods whose plans differ in nothing but the pod. */
export const variantKeyOf = (plans: readonly Plan[]): string => canonicalJson(plans.map(templateOf));

export interface NewBatch {
  /** In the order of `selectPods`: those to work on first. */
  readonly pods: readonly PlannedPod[];
  readonly asked: RunRequest['batch'];
  /** Who wants it to begin paused. */
  readonly pausedBy?: string;
  readonly nowMs: number;
}

/** A batch whose snapshot was taken and planned. Pods that appear later are not in it and are never touched. */
export function newBatch({ pods: planned, asked, pausedBy, nowMs }: NewBatch): Batch {
  const parallelism = asked.parallelism ?? DEFAULT_PARALLELISM;
  const { variants, pods } = compact(planned);
  const eligible = pods.filter(({ state }) => state === 'queued').length;
  const queueEnd = Math.min(asked.replicas ?? eligible, eligible);
  return {
    variants,
    approvedPods: queueEnd,
    approvedParallelism: parallelism,
    parallelism,
    ...defined({ replicas: asked.replicas, ttlMs: asked.ttlMs }),
    ...(asked.canary && { canary: 'first' }),
    ...(pausedBy !== undefined && { paused: { byUserId: pausedBy, atMs: nowMs } }),
    eligible,
    queueEnd,
    createdAtMs: nowMs,
    idleMs: 0,
    pods,
  };
}

/** Every different plan once, and for each pod which it is: ten thousand equal plans are one. */
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

/** A plan without its pod. */
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

/** The SHA-256 of what is approved: every pod by uid with its plan, how many of them, how wide, and whether one goes first. */
export function batchPlanHash({ variants, pods, queueEnd, parallelism, canary }: Batch): string {
  const whole = pods.map(({ name, uid, node, variant = -1 }) => [name, uid, node, variant]);
  return sha256(canonicalJson({ variants, pods: whole, queueEnd, parallelism, canary: canary !== undefined }));
}

/** The plans of a pod, one for each container, as they were approved; none for a skipped pod. */
export function plansOf(batch: Batch, index: number): readonly Plan[] {
  const pod = batch.pods[index];
  const variant = pod?.variant === undefined ? undefined : batch.variants[pod.variant];
  if (!pod || !variant) return [];
  return variant.map((template) => ({ ...template, podName: pod.name, podUid: pod.uid, nodeName: pod.node }));
}

/**
 * The run id of a container of a batch (`KDEBUG_RUN`, and so its name): derived, so that any replica arrives at the same one
 * after a crash, and another batch on the same pods at another one.
 */
export const runIdOf = (batchId: RunId, podUid: string, container = 0): RunId =>
  asRunId(base32Hash(`${batchId}/${podUid}/${container}`, 10));
