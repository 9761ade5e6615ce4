import { shorten } from '../../lib/text.ts';
import { targetWords } from '../command/print.ts';
import { byAge, controllerOf, type Pod, versionOf, workloadOf } from '../container/pod.ts';
import { KdebugError, type ReasonCode } from '../errors.ts';
import type { RunRequest, Target } from '../request/command.ts';
import { parseSelector, type Selector } from '../request/selector.ts';
import { problemOfPod, type Room, targetContainerOf } from '../request/target.ts';
import type { SkipReason } from './batch.ts';
import { REASON_OF_SKIP, skipSummary } from './pod-state.ts';

/** The target of a batch: anything but one pod by name. */
export type BatchTarget = Exclude<Target, { kind: 'pod' }>;
/** The targets whose pods `selectPods` finds; `chooseCompared` finds those of a comparison. */
export type SelectingTarget = Exclude<BatchTarget, { kind: 'compare' }>;

export interface Selection {
  readonly target: SelectingTarget;
  /** One per container that a pod gets; nearly always one. */
  readonly targetContainers: readonly RunRequest['targetContainer'][];
  /** The number of debug containers that a pod may hold, by the policy's limits. */
  readonly room: Room;
  /** In a rerun: only these pods, by uid. */
  readonly onlyUids?: ReadonlySet<string>;
}

/** A pod of the snapshot, with the reason if it is skipped. */
export interface SelectedPod {
  readonly pod: Pod;
  readonly skip?: SkipReason;
}

export type SelectedPods =
  /**
   * `pods`: the `eligible` ones, then the skipped ones; each oldest first, then by name (proposal; Kruise sorts so).
   */
  | { readonly kind: 'selected'; readonly pods: readonly SelectedPod[]; readonly eligible: number }
  | { readonly kind: 'refused'; readonly code: ReasonCode; readonly subject: string };

/** The selector for `Cluster.pods`; empty for the whole namespace. @throws KdebugError invalid_selector */
export function selectorOf(target: BatchTarget): Selector {
  if (target.kind !== 'selector') return [];
  const selector = parseSelector(target.selector);
  if (!selector) throw new KdebugError('invalid_selector', { detail: shorten(target.selector, 200) });
  return selector;
}

/**
 * The snapshot of a batch: every pod that belongs to the target, in a stable order, with a reason for those to skip.
 * `pods` are those that `selectorOf(target)` matches. Refused with `no_pod_matches` if nothing matches, and with
 * `no_pod_fits` if all are skipped. One skipped pod never refuses the others.
 */
export function selectPods(pods: readonly Pod[], selection: Selection): SelectedPods {
  const { target, onlyUids } = selection;
  const matched = pods
    .filter((pod) => belongsTo(pod, target) && (onlyUids?.has(pod.metadata.uid) ?? true))
    .sort(byAge)
    .map((pod) => withSkip(pod, selection));
  if (matched.length === 0) return { kind: 'refused', code: 'no_pod_matches', subject: targetWords(target).join(' ') };
  const eligible = matched.filter(({ skip }) => skip === undefined);
  const skipped = matched.filter(({ skip }) => skip !== undefined);
  if (eligible.length === 0)
    return { kind: 'refused', code: 'no_pod_fits', subject: skipSummary(skipped.map(({ skip }) => skip)) };
  return { kind: 'selected', pods: [...eligible, ...skipped], eligible: eligible.length };
}

/** Takes a pod that `selectorOf(target)` matches: for a workload, the selector alone may match pods of others. */
export function belongsTo(pod: Pod, target: SelectingTarget): boolean {
  if (target.kind !== 'workload') return true;
  const { workload: kind, name } = target;
  const owner = controllerOf(pod);
  if (kind === 'replicaset') return owner?.kind === 'ReplicaSet' && owner.name === name;
  if (kind === 'cronjob') return owner?.kind === 'Job' && isJobOf(owner.name, name);
  const workload = workloadOf(pod);
  return workload?.kind === kind && workload.name === name;
}

/** A CronJob names each Job after itself and the minute of its schedule. */
export const isJobOf = (job: string, cronJob: string): boolean =>
  job.startsWith(`${cronJob}-`) && /^\d+$/.test(job.slice(cronJob.length + 1));

/** The CronJob that a Job is named after, as far as the name tells. */
export const cronJobOf = (job: string): string | undefined => /^(.{1,52})-\d{8,}$/.exec(job)?.[1];

/**
 * Equal for pods of one revision of one workload, so that one of them can stand for all; undefined for a pod without a
 * workload. Their specs come from one template; only an admission webhook could make them differ.
 */
export function kindOf(pod: Pod): string | undefined {
  const owner = controllerOf(pod);
  return owner && `${owner.kind}/${owner.name}/${versionOf(pod) ?? ''}`;
}

const SKIP_OF_PROBLEM: Readonly<Partial<Record<ReasonCode, SkipReason>>> = Object.fromEntries(
  Object.entries(REASON_OF_SKIP).map(([skip, code]) => [code, skip]),
);

function withSkip(pod: Pod, selection: Selection): SelectedPod {
  const problem = problemFor(pod, selection);
  const skip = problem && SKIP_OF_PROBLEM[problem];
  return skip ? { pod, skip } : { pod };
}

/** A pod gets all containers of the template or none: it needs room for each, and every target. */
function problemFor(pod: Pod, { targetContainers, room }: Selection): ReasonCode | undefined {
  const others = targetContainers.length - 1;
  const left = { ...room, most: room.most - others, mostOfPerson: room.mostOfPerson - others };
  const problem = problemOfPod(pod, left);
  if (problem) return problem.code;
  for (const wanted of targetContainers) {
    const target = targetContainerOf(pod, wanted);
    if (target.kind === 'problem') return target.problem.code;
  }
  return undefined;
}
