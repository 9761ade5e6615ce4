import type { RunRequest, Target } from '../command/command.ts';
import { type Pod, workloadOf } from '../container/pod.ts';
import { problemOfPod, type Room, targetContainerOf } from '../container/target.ts';
import { KdebugError, type ReasonCode } from '../errors.ts';
import { parseSelector, type Selector } from '../selector.ts';
import type { SkipReason } from './batch.ts';
import { REASON_OF_SKIP } from './pod-state.ts';

/** What a batch is aimed at: everything but one pod by name. */
export type BatchTarget = Exclude<Target, { kind: 'pod' }>;

export interface Selection {
  readonly target: BatchTarget;
  /** Of each container that a pod gets; nearly always one. */
  readonly targetContainers: readonly RunRequest['targetContainer'][];
  /** Places of a pod, by the policy's limits. */
  readonly room: Room;
  /** Of a rerun: only these pods, by uid. */
  readonly onlyUids?: ReadonlySet<string>;
}

/** A pod of the snapshot: one to work on, or one to leave alone and why. */
export interface SelectedPod {
  readonly pod: Pod;
  readonly skip?: SkipReason;
}

export type SelectedPods =
  /** `pods`: first the `eligible` ones, then the skipped ones; each oldest first, then by name (proposal; Kruise sorts so). */
  | { readonly kind: 'selected'; readonly pods: readonly SelectedPod[]; readonly eligible: number }
  | { readonly kind: 'refused'; readonly code: ReasonCode; readonly subject: string };

/** What to ask `Cluster.pods` for; empty for everything in the namespace. @throws KdebugError invalid_selector */
export function selectorOf(target: BatchTarget): Selector {
  if (target.kind !== 'selector') return [];
  const selector = parseSelector(target.selector);
  if (!selector) throw new KdebugError('invalid_selector', { detail: target.selector.slice(0, 200) });
  return selector;
}

/**
 * The snapshot of a batch: every pod that the target means, in a stable order, with those that cannot be worked on told apart.
 * `pods` are the pods of the namespace that `selectorOf(target)` matches. Nothing matched, or nothing can be worked on: refused
 * (`no_pod_matches`, `no_pod_fits`). A pod that nobody could debug is never a reason to refuse the others.
 */
export function selectPods(pods: readonly Pod[], selection: Selection): SelectedPods {
  const { target, onlyUids } = selection;
  const matched = pods
    .filter((pod) => belongsTo(pod, target) && (onlyUids?.has(pod.metadata.uid) ?? true))
    .sort(byAge)
    .map((pod) => withSkip(pod, selection));
  if (matched.length === 0) return { kind: 'refused', code: 'no_pod_matches', subject: targetText(target) };
  const eligible = matched.filter(({ skip }) => skip === undefined);
  const skipped = matched.filter(({ skip }) => skip !== undefined);
  if (eligible.length === 0) return { kind: 'refused', code: 'no_pod_fits', subject: skippedText(skipped) };
  return { kind: 'selected', pods: [...eligible, ...skipped], eligible: eligible.length };
}

/** How a target is written in a command. */
export function targetText(target: BatchTarget): string {
  switch (target.kind) {
    case 'selector':
      return `-l ${target.selector}`;
    case 'all':
      return '--all';
    case 'workload':
      return `${target.workload}/${target.name}`;
  }
}

function belongsTo(pod: Pod, target: BatchTarget): boolean {
  if (target.kind !== 'workload') return true;
  const workload = workloadOf(pod);
  return workload?.kind === target.workload && workload.name === target.name;
}

/**
 * What pods of one revision of one workload have in common, so that a look at one of them tells of all; undefined for a pod that no
 * workload made. Their specs come from one template; only an admission webhook could make them differ.
 */
export function kindOf({ metadata: { ownerReferences, labels } }: Pod): string | undefined {
  const owner = ownerReferences.find(({ controller }) => controller);
  const revision = labels['pod-template-hash'] ?? labels['controller-revision-hash'] ?? '';
  return owner && `${owner.kind}/${owner.name}/${revision}`;
}

function byAge(a: Pod, b: Pod): number {
  const [mine, theirs] = [a.metadata, b.metadata];
  if (mine.creationTimestamp !== theirs.creationTimestamp) {
    return mine.creationTimestamp < theirs.creationTimestamp ? -1 : 1;
  }
  return mine.name < theirs.name ? -1 : 1;
}

const SKIP_OF_PROBLEM: Readonly<Partial<Record<ReasonCode, SkipReason>>> = Object.fromEntries(
  Object.entries(REASON_OF_SKIP).map(([skip, code]) => [code, skip]),
);

function withSkip(pod: Pod, selection: Selection): SelectedPod {
  const problem = problemFor(pod, selection);
  const skip = problem && SKIP_OF_PROBLEM[problem];
  return skip ? { pod, skip } : { pod };
}

/** A pod gets all containers of the template or none: there must be room for every one, and every target there. */
function problemFor(pod: Pod, { targetContainers, room }: Selection): ReasonCode | undefined {
  const others = targetContainers.length - 1;
  const left = { ...room, most: room.most - others, mostOfPerson: room.mostOfPerson - others };
  const problem = problemOfPod(pod, left);
  if (problem) return problem.code;
  for (const asked of targetContainers) {
    const target = targetContainerOf(pod, asked);
    if (target.kind === 'problem') return target.problem.code;
  }
  return undefined;
}

/** `3 finished, 1 windows`. */
function skippedText(skipped: readonly SelectedPod[]): string {
  const numbers = new Map<string, number>();
  for (const { skip = '' } of skipped) numbers.set(skip, (numbers.get(skip) ?? 0) + 1);
  return [...numbers].map(([skip, count]) => `${count} ${skip}`).join(', ');
}
