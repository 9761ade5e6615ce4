import { cronJobOf } from '../../batch/select-pods.ts';
import {
  type ContainerStatus,
  type ContainerTermination,
  controllerOf,
  isSidecar,
  type Pod,
  type PodContainer,
  type PodEvent,
  type Probe,
  unmetCondition,
  workloadOf,
} from '../../container/pod.ts';
import type { WorkloadKind } from '../../request/command.ts';
import type { ClusterFacts, LastWords } from '../facts/facts.ts';

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** One container of a pod, from its spec and its status. */
export interface PodPart {
  readonly name: string;
  readonly role: 'main' | 'sidecar' | 'init';
  /** `web`, `the sidecar proxy`, `the init container migrate`. */
  readonly title: string;
  readonly spec: PodContainer | undefined;
  /** Undefined before the kubelet reports. */
  readonly status: ContainerStatus | undefined;
  /** The newest end of it. */
  readonly ended: ContainerTermination | undefined;
}

const TITLES = { main: '', sidecar: 'the sidecar ', init: 'the init container ' } as const;

const byName = <Named extends { readonly name: string }>(all: readonly Named[]): ReadonlyMap<string, Named> =>
  new Map(all.map((each) => [each.name, each]));

function partsIn(containers: readonly PodContainer[], all: readonly ContainerStatus[], isInit: boolean) {
  const [specs, statuses] = [byName(containers), byName(all)];
  return [...new Set([...specs.keys(), ...statuses.keys()])].map((name): PodPart => {
    const [spec, status] = [specs.get(name), statuses.get(name)];
    const role = !isInit ? 'main' : spec && isSidecar(spec) ? 'sidecar' : 'init';
    const ended = status?.terminated ?? status?.lastTermination;
    return { name, role, title: `${TITLES[role]}${name}`, spec, status, ended };
  });
}

/** A pod may have thousands of containers, and each rule asks for them. */
const PARTS = new WeakMap<Pod, readonly PodPart[]>();

/** All of them, init containers first, as they start; those that kdebug added are not among them. */
export function partsOf(pod: Pod): readonly PodPart[] {
  const { spec, status } = pod;
  const parts = PARTS.get(pod) ?? [
    ...partsIn(spec.initContainers, status.initContainerStatuses, true),
    ...partsIn(spec.containers, status.containerStatuses, false),
  ];
  PARTS.set(pod, parts);
  return parts;
}

/** The pod has ended: nothing in it starts again. */
export const isOver = ({ status }: Pick<Pod, 'status'>): boolean =>
  status.phase === 'Succeeded' || status.phase === 'Failed';

export const isDeleting = ({ metadata }: Pick<Pod, 'metadata'>): boolean => metadata.deletionTimestamp !== undefined;

/** It gets traffic. */
export const isReady = (pod: Pod): boolean =>
  pod.status.phase === 'Running' && !isDeleting(pod) && unmetCondition(pod, 'Ready') === undefined;

const BEFORE_START: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing', '']);

/** It has a node, and none of its containers has run yet: volumes and network are being set up. */
export const isBeingSetUp = (pod: Pod): boolean =>
  pod.status.phase === 'Pending' &&
  pod.spec.nodeName !== undefined &&
  !isDeleting(pod) &&
  partsOf(pod).every(
    ({ status, ended }) => !ended && !status?.running && BEFORE_START.has(status?.waiting?.reason ?? ''),
  );

/** For how long the kubelet lets a probe fail from the container's start. */
export const patienceOf = ({
  initialDelaySeconds = 0,
  periodSeconds = 10,
  failureThreshold = 3,
}: Partial<Probe> = {}): number => (initialDelaySeconds + periodSeconds * failureThreshold) * SECOND_MS;

/** A container that never restarted may take so long for its start: a minute, or what its startup probe allows. */
export const isStarting = ({ spec, status }: PodPart, nowMs: number): boolean =>
  (status?.restartCount ?? 0) === 0 &&
  nowMs - Date.parse(status?.running?.startedAt ?? '') <= Math.max(MINUTE_MS, patienceOf(spec?.probes?.startup));

/** Since its creation. */
export const ageOf = ({ pod, nowMs }: Pick<ClusterFacts, 'pod' | 'nowMs'>): number =>
  nowMs - Date.parse(pod.metadata.creationTimestamp);

/** Those about debug containers are no news of the pod. */
export const isOfDebugContainer = ({ fieldPath = '' }: PodEvent): boolean =>
  fieldPath.startsWith('spec.ephemeralContainers');

const CONTAINER = /^spec\.(?:initContainers|containers)\{(.*)\}$/;

/** Empty: the event is about the pod as a whole. */
export const containerOfEvent = ({ fieldPath = '' }: PodEvent): string => CONTAINER.exec(fieldPath)?.[1] ?? '';

/**
 * The kubelet sends these events for every pod of its node, whatever happens in it: they are about the node's own DNS.
 */
const OF_THE_NODE: ReadonlySet<string> = new Set(['MissingClusterDNS', 'DNSConfigForming']);

/** Warnings about the pod, newest first, without those about debug containers or the node. Undefined: not read. */
export function warningsOfPod({ pod, events, warnings }: ClusterFacts): readonly PodEvent[] | undefined {
  const own = events ?? warnings?.filter(({ involved }) => involved.uid === pod.metadata.uid);
  return own
    ?.filter((event) => event.type === 'Warning' && !OF_THE_NODE.has(event.reason) && !isOfDebugContainer(event))
    .toSorted((a, b) => b.atMs - a.atMs);
}

/** Undefined: the last words were not read. */
export const lastWordsOf = ({ lastWords }: ClusterFacts, name: string): LastWords | undefined =>
  lastWords?.find(({ containerName }) => containerName === name);

/**
 * The newest line of a running container whose log has no error that explains more; undefined: nothing, or not read.
 */
export function newestLineOf({ logs = [] }: ClusterFacts, name: string): string | undefined {
  const log = logs.find(({ containerName }) => containerName === name);
  return log?.shapes.some(({ level }) => level !== 'warning') ? undefined : log?.newest;
}

/** As Kubernetes spells them. */
export const KIND_NAMES: Readonly<Record<WorkloadKind, string>> = {
  deployment: 'Deployment',
  replicaset: 'ReplicaSet',
  statefulset: 'StatefulSet',
  daemonset: 'DaemonSet',
  job: 'Job',
  cronjob: 'CronJob',
};

/** Whose manifest a person changes: `the Deployment web`, `the pod`. */
export function manifestOf(pod: Pod): string {
  const workload = workloadOf(pod);
  const cronJob = workload?.kind === 'job' ? cronJobOf(workload.name) : undefined;
  if (cronJob !== undefined) return `the CronJob ${cronJob}`;
  if (workload) return `the ${KIND_NAMES[workload.kind]} ${workload.name}`;
  const owner = controllerOf(pod);
  return owner ? `the ${owner.kind} ${owner.name}` : 'the pod';
}
