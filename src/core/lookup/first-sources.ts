import { type ContainerStatus, controllerOf, isSidecar, type Pod } from '../container/pod.ts';

/** A log of a container of the pod itself. */
export interface LogSource {
  readonly containerName: string;
  /** The end of a container that ended, or the error lines of one that runs. */
  readonly kind: 'last-words' | 'errors';
  /** Of its last incarnation. */
  readonly previous: boolean;
  /** The end of the container, to the second; lines after it are those of a later incarnation. */
  readonly endedAtMs?: number;
}

/** The sources of a first answer about a pod, besides the warnings of its namespace and its node. */
export interface FirstSources {
  /** With the StorageClasses. */
  readonly claims: boolean;
  readonly services: boolean;
  /** The Job that owns it. */
  readonly job: string | undefined;
  /** The most important first; the bound on API calls may leave some out. */
  readonly logs: readonly LogSource[];
}

/** API calls for one pod, but for the two that every pod has: warnings and node. */
const MAX_CALLS = 3;
/** Claims and StorageClasses, or Services and their EndpointSlices. */
export const CALLS_OF_PAIR = 2;
/** A container that restarted longer ago runs again, and its own log says more. */
const RESTARTED_MS = 3_600_000;

/**
 * Chooses what can hold the cause, in at most three API calls: the claims of a pod that no container of which has
 * started, the Job of a failed pod, the last words of what ended, the errors of what runs, and the Services of a pod
 * that is well. Pure.
 */
export function firstSources(pod: Pod, targetContainerName: string | undefined, nowMs: number): FirstSources {
  const statuses = [...pod.status.initContainerStatuses, ...pod.status.containerStatuses];
  const neverRan = !statuses.some(
    ({ running, terminated, lastTermination }) => running ?? terminated ?? lastTermination,
  );
  const claims = neverRan && (pod.spec.claims?.length ?? 0) > 0;
  const owner = controllerOf(pod);
  const job = pod.status.phase === 'Failed' && owner?.kind === 'Job' ? owner.name : undefined;
  const room = MAX_CALLS - (claims ? CALLS_OF_PAIR : 0) - (job === undefined ? 0 : 1);
  const logs = logsOf(pod, targetContainerName, nowMs).slice(0, room);
  const services = isWell(pod) && Object.keys(pod.metadata.labels).length > 0 && room - logs.length >= CALLS_OF_PAIR;
  return { claims, services, job, logs };
}

const isWell = ({ status }: Pod): boolean =>
  status.phase === 'Running' && status.containerStatuses.every(({ running, ready }) => running && ready !== false);

/** Ended containers come first, the target before the others, else in the pod's order. */
function logsOf(pod: Pod, targetContainerName: string | undefined, nowMs: number): readonly LogSource[] {
  const helpers = new Set(pod.spec.initContainers.filter((init) => !isSidecar(init)).map(({ name }) => name));
  const { initContainerStatuses, containerStatuses } = pod.status;
  const found = [...initContainerStatuses, ...containerStatuses].flatMap((status) => {
    const isDone = helpers.has(status.name) && status.terminated?.exitCode === 0;
    return isDone ? [] : logsOfContainer(status, nowMs);
  });
  const isTarget = ({ containerName }: LogSource) => containerName === targetContainerName;
  const rank = (source: LogSource): number =>
    (source.kind === 'last-words' ? 0 : 2) + (isTarget(source) || targetContainerName === undefined ? 0 : 1);
  return found.toSorted((a, b) => rank(a) - rank(b));
}

function logsOfContainer(
  { name: containerName, running, terminated, lastTermination }: ContainerStatus,
  nowMs: number,
): readonly LogSource[] {
  if (terminated)
    return [{ containerName, kind: 'last-words', previous: false, endedAtMs: Date.parse(terminated.finishedAt) }];
  const endedAtMs = lastTermination && Date.parse(lastTermination.finishedAt);
  // A restart long ago does not explain what is wrong now; a container that does not run has said nothing since.
  const isNews = endedAtMs !== undefined && (!running || nowMs - endedAtMs <= RESTARTED_MS);
  return [
    ...(isNews ? [{ containerName, kind: 'last-words', previous: true } as const] : []),
    ...(running ? [{ containerName, kind: 'errors', previous: false } as const] : []),
  ];
}
