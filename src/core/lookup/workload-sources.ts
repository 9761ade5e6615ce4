import { belongsTo, isJobOf, type SelectingTarget } from '../batch/select-pods.ts';
import { controllerOf, type Pod, TEMPLATE_HASH } from '../container/pod.ts';
import type { ClusterFacts, ObjectEvent, WorkloadFacts } from '../diagnosis/facts.ts';
import { firstSources, type LogSource } from './first-sources.ts';

/** What a question can be about, besides one pod. */
export type AskedTarget = Extract<SelectingTarget, { kind: 'workload' | 'selector' }>;

/** API calls for a workload of any size. */
export const MAX_WORKLOAD_CALLS = 12;

/** A name with one more word that a controller adds: `web-5d9f`, `backup-29384756`. */
const isMadeBy = (name: string, maker: string): boolean =>
  name.startsWith(`${maker}-`) && /^[a-z0-9]+$/.test(name.slice(maker.length + 1));

/**
 * Whether a warning is about the workload itself, about what it makes its pods with, about their claims, or about pods
 * of it that are gone. `pods` are those that are there: what is said of them is theirs.
 */
export function isOfWorkload({ involved }: ObjectEvent, target: AskedTarget, pods: readonly Pod[]): boolean {
  const { kind, name } = involved;
  const owners = pods.map(controllerOf);
  if (owners.some((owner) => owner?.kind === kind && owner.name === name)) return true;
  if (kind === 'PersistentVolumeClaim') {
    const isClaimed = pods.some(({ spec }) => spec.claims?.includes(name));
    return (
      isClaimed || (target.kind === 'workload' && target.workload === 'statefulset' && isClaimOf(name, target.name))
    );
  }
  if (target.kind !== 'workload') return false;
  const { workload, name: own } = target;
  if (kind.toLowerCase() === workload && name === own) return true;
  if (kind === 'ReplicaSet') return workload === 'deployment' && isMadeBy(name, own);
  if (kind === 'Job') return workload === 'cronjob' && isJobOf(name, own);
  return kind === 'Pod' && pods.length === 0 && isPodOf(name, target);
}

/** `data-web-0` of the StatefulSet `web`. */
const isClaimOf = (claim: string, statefulSet: string): boolean =>
  new RegExp(`-${statefulSet.replaceAll('.', '\\.')}-\\d+$`).test(claim);

function isPodOf(pod: string, { workload, name }: Extract<AskedTarget, { kind: 'workload' }>): boolean {
  const [maker, last] = [pod.slice(0, pod.lastIndexOf('-')), pod.slice(pod.lastIndexOf('-') + 1)];
  if (workload === 'deployment') return isMadeBy(maker, name);
  if (workload === 'cronjob') return isJobOf(maker, name);
  return maker === name && (workload !== 'statefulset' || /^\d+$/.test(last));
}

/** The pods of the target, the oldest first. */
export const podsOfTarget = (pods: readonly Pod[], target: AskedTarget): readonly Pod[] =>
  pods.filter((pod) => belongsTo(pod, target));

/** Of the pods with the same template hash label: what tells a rollout. */
export const versionedOf = (pods: readonly Pod[]): readonly Pod[] =>
  pods.filter(({ metadata }) => TEMPLATE_HASH in metadata.labels);

/** A log of one of several pods. */
export interface PodLogSource extends LogSource {
  readonly pod: Pod;
}

/** The logs to read of these pods, one of each pod before a second of any, at most `room` of them. */
export function workloadLogs(pods: readonly Pod[], nowMs: number, room: number): readonly PodLogSource[] {
  const each = pods.map((pod) => firstSources(pod, undefined, nowMs).logs.map((source) => ({ ...source, pod })));
  const longest = Math.max(0, ...each.map(({ length }) => length));
  const turns = Array.from({ length: longest }, (_, turn) => each.flatMap((logs) => logs[turn] ?? []));
  return turns.flat().slice(0, Math.max(0, room));
}

/** The facts of a pod that the open watch knows, before anything else is read. */
export const watchedFacts = (pod: Pod, versionedPods: readonly Pod[], nowMs: number): ClusterFacts => ({
  pod,
  targetContainerName: undefined,
  versionedPods,
  events: undefined,
  node: undefined,
  nowMs,
});

/** Whether anything is known of a workload, so that its name is no mistake. */
export const isKnown = ({ workload, pods, warnings = [] }: WorkloadFacts): boolean =>
  workload !== undefined || pods.length > 0 || warnings.length > 0;
