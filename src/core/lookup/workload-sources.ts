import { belongsTo, isJobOf, type SelectingTarget } from '../batch/select-pods.ts';
import { byAge, controllerOf, type Pod, TEMPLATE_HASH } from '../container/pod.ts';
import type { ClusterFacts, ObjectEvent, WorkloadFacts } from '../diagnosis/facts/facts.ts';
import { isReady } from '../diagnosis/reading/pod-containers.ts';
import { firstSources, type LogSource } from './first-sources.ts';

/** The subjects of a question, besides one pod. */
export type QuestionTarget = Extract<SelectingTarget, { kind: 'workload' | 'selector' }>;

type Involved = ObjectEvent['involved'];

/** API calls for a workload of any size. */
export const MAX_WORKLOAD_CALLS = 12;

/** A name with one more word that a controller adds: `web-5d9f`, `backup-29384756`. */
const isMadeBy = (name: string, maker: string): boolean =>
  name.startsWith(`${maker}-`) && /^[a-z0-9]+$/.test(name.slice(maker.length + 1));

/** Tells whether a warning is about the pod, what made it, or its claims. An event without a uid is about whatever has the name. */
export function ofPod(pod: Pod): (involved: Involved) => boolean {
  const around = ofWorkload({ kind: 'selector', selector: '' }, [pod]);
  return (involved) => isAbout(pod, involved) || around(involved);
}

export const isAbout = ({ metadata: { name, uid } }: Pod, involved: Involved): boolean =>
  involved.kind === 'Pod' && involved.name === name && (involved.uid ?? uid) === uid;

/**
 * Tells whether a warning is about the workload itself, about what it makes its pods with, about their claims, or about
 * pods of it that are gone. `pods` are those that are there: what is said of them is theirs. It looks at them once,
 * however many warnings there are.
 */
export function ofWorkload(target: QuestionTarget, pods: readonly Pod[]): (involved: Involved) => boolean {
  const owners = new Set(pods.map(controllerOf).map((owner) => `${owner?.kind}/${owner?.name}`));
  const claims = new Set(pods.flatMap(({ spec }) => spec.claims ?? []));
  return ({ kind, name }) => {
    if (owners.has(`${kind}/${name}`) || (kind === 'PersistentVolumeClaim' && claims.has(name))) return true;
    if (kind === 'Pod' && pods.length > 0) return false;
    return target.kind === 'workload' && isNamedAfter(target, { kind, name });
  };
}

function isNamedAfter(target: Extract<QuestionTarget, { kind: 'workload' }>, { kind, name }: Involved): boolean {
  const { workload, name: own } = target;
  switch (kind) {
    case 'PersistentVolumeClaim':
      return workload === 'statefulset' && isClaimOf(name, own);
    case 'Pod':
      return isPodOf(name, target);
    case 'ReplicaSet':
      return (workload === 'replicaset' && name === own) || (workload === 'deployment' && isMadeBy(name, own));
    case 'Job':
      return (workload === 'job' && name === own) || (workload === 'cronjob' && isJobOf(name, own));
    default:
      return kind.toLowerCase() === workload && name === own;
  }
}

/** `data-web-0` of the StatefulSet `web`. */
const isClaimOf = (claim: string, statefulSet: string): boolean =>
  new RegExp(`-${statefulSet.replaceAll('.', '\\.')}-\\d+$`).test(claim);

function isPodOf(pod: string, { workload, name }: Extract<QuestionTarget, { kind: 'workload' }>): boolean {
  const [maker, last] = [pod.slice(0, pod.lastIndexOf('-')), pod.slice(pod.lastIndexOf('-') + 1)];
  if (workload === 'deployment') return isMadeBy(maker, name);
  if (workload === 'cronjob') return isJobOf(maker, name);
  return maker === name && (workload !== 'statefulset' || /^\d+$/.test(last));
}

/** The pods of the target, the oldest first. */
export const podsOfTarget = (pods: readonly Pod[], target: QuestionTarget): readonly Pod[] =>
  pods.filter((pod) => belongsTo(pod, target)).toSorted(byAge);

/** The newest of the pods that carry a template hash: more of them would tell no more of a rollout. */
export const versionedOf = (pods: readonly Pod[]): readonly Pod[] =>
  pods.filter(({ metadata }) => TEMPLATE_HASH in metadata.labels).slice(-MAX_VERSIONED);

/** Every pod is compared with them. */
const MAX_VERSIONED = 20;

/** A log of one of several pods. */
export interface PodLogSource extends LogSource {
  readonly pod: Pod;
}

/** Enough to choose from: each costs all rules of a pod. */
const MAX_SAMPLED = 500;

/** The pods among which to choose those to read: those that are not ready before the others. */
export const sampleOf = (pods: readonly Pod[]): readonly Pod[] =>
  pods.length <= MAX_SAMPLED
    ? pods
    : [...pods.filter((pod) => !isReady(pod)), ...pods.filter(isReady)].slice(0, MAX_SAMPLED);

/** Pods whose logs are worth a request: the examples, which a look may go into, before the others of their groups. */
export interface PodsToRead {
  readonly examples: readonly Pod[];
  readonly others: readonly Pod[];
}

/** Groups of pods whose logs are read and into which a look may go. */
export const MAX_LOOKED_GROUPS = 3;

/**
 * One pod of each of the worst groups: one that runs, if there is one, since it can be looked into, else the newest. The
 * others run too: their own logs are calm, or they are not.
 */
export function podsToRead(groups: readonly { readonly pods: readonly { readonly pod: Pod }[] }[]): PodsToRead {
  const worst = groups.slice(0, MAX_LOOKED_GROUPS).map(({ pods }) => {
    const running = pods.filter(({ pod }) => runs(pod)).slice(0, MAX_WORKLOAD_CALLS);
    return { example: running[0] ?? pods.at(-1), running };
  });
  const examples = worst.flatMap(({ example }) => example?.pod ?? []);
  const turns = Array.from({ length: MAX_WORKLOAD_CALLS }, (_, turn) =>
    worst.flatMap(({ running }) => running[turn] ?? []),
  );
  return { examples, others: turns.flat().flatMap(({ pod }) => (examples.includes(pod) ? [] : pod)) };
}

export const runs = ({ status }: Pod): boolean => status.containerStatuses.some(({ running }) => running !== undefined);

/** The logs to read of these pods, one of each example before a second of any, at most `room` of them. */
export function workloadLogs({ examples, others }: PodsToRead, nowMs: number, room: number): readonly PodLogSource[] {
  return [...inTurns(examples, nowMs), ...inTurns(others, nowMs)].slice(0, Math.max(0, room));
}

function inTurns(pods: readonly Pod[], nowMs: number): readonly PodLogSource[] {
  const each = pods.map((pod) => firstSources(pod, undefined, nowMs).logs.map((source) => ({ ...source, pod })));
  const longest = Math.max(0, ...each.map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) => each.flatMap((logs) => logs[turn] ?? [])).flat();
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

/** If anything is known of a workload, its name is no mistake. */
export const isKnown = ({ workload, pods, warnings = [] }: WorkloadFacts): boolean =>
  workload !== undefined || pods.length > 0 || warnings.length > 0;
