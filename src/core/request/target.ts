import type { Pod, PodContainer } from '../container/pod.ts';
import type { ReasonCode } from '../errors.ts';
import type { RunRequest } from './command.ts';

/** The kubelet sets it on the API server's copy of a static pod. */
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
/** Names the default container for tools (kubectl). */
const DEFAULT_CONTAINER_ANNOTATION = 'kubectl.kubernetes.io/default-container';

/** An obstacle, found without asking the cluster. */
export interface TargetProblem {
  readonly code: ReasonCode;
  /** The subject of the message. */
  readonly subject: string;
}

/** The number of ephemeral containers that a pod may hold: in total, and of the requester. Nobody can remove one. */
export interface Room {
  readonly most: number;
  readonly mostOfPerson: number;
  readonly requesterId: string;
}

/**
 * Returns the reason why no ephemeral container can work in this pod. The API server refuses only the first of these
 * (features, C1: `ValidatePodEphemeralContainersUpdate` checks neither phase nor deletion nor node).
 */
export function problemOfPod(pod: Pod, room: Room): TargetProblem | undefined {
  const subject = `${pod.metadata.namespace}/${pod.metadata.name}`;
  const checks: readonly (readonly [boolean, ReasonCode])[] = [
    [MIRROR_ANNOTATION in pod.metadata.annotations, 'pod_is_static'],
    [pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed', 'pod_finished'],
    [pod.metadata.deletionTimestamp !== undefined, 'pod_deleting'],
    [pod.spec.nodeName === undefined, 'pod_unscheduled'],
    [pod.spec.os === 'windows' || pod.spec.nodeSelectorOs === 'windows', 'pod_is_windows'],
  ];
  const found = checks.find(([applies]) => applies);
  return found ? { code: found[1], subject } : problemOfRoom(pod, room);
}

/** Undefined: the pod has room for another container of this person. */
export function problemOfRoom(pod: Pod, { most, mostOfPerson, requesterId }: Room): TargetProblem | undefined {
  const { ephemeralContainers } = pod.spec;
  const subject = `${pod.metadata.namespace}/${pod.metadata.name}`;
  const all = ephemeralContainers.length;
  if (all >= most) return { code: 'pod_has_too_many_containers', subject: `${subject} (${all} of ${most})` };
  const theirs = ephemeralContainers.filter((container) => container.requesterId === requesterId).length;
  if (theirs < mostOfPerson) return undefined;
  return { code: 'pod_has_too_many_of_yours', subject: `${subject} (${theirs} of ${mostOfPerson})` };
}

export type TargetContainer =
  | { readonly kind: 'container'; readonly container: PodContainer }
  | { readonly kind: 'none' }
  | { readonly kind: 'problem'; readonly problem: TargetProblem };

/**
 * The container whose process namespace the debug container joins: the requested one, else the annotated default, else
 * the first. Never an ephemeral one (the API forbids it), nor a completed init container.
 */
export function targetContainerOf(pod: Pod, requested: RunRequest['targetContainer']): TargetContainer {
  if (requested?.kind === 'none') return { kind: 'none' };
  const all = [...pod.spec.containers, ...pod.spec.initContainers];
  const annotated = pod.metadata.annotations[DEFAULT_CONTAINER_ANNOTATION];
  const name = requested?.name ?? (all.some((container) => container.name === annotated) ? annotated : all[0]?.name);
  const container = all.find((candidate) => candidate.name === name);
  if (!container)
    return { kind: 'problem', problem: { code: 'target_container_not_found', subject: unknown(pod, name ?? '') } };
  const ended = pod.status.initContainerStatuses.find((status) => status.name === name)?.terminated;
  if (ended && container.restartPolicy !== 'Always') {
    return { kind: 'problem', problem: { code: 'target_container_ended', subject: container.name } };
  }
  return { kind: 'container', container };
}

function unknown(pod: Pod, name: string): string {
  const names = [...pod.spec.containers, ...pod.spec.initContainers].map((container) => container.name).join(', ');
  const mistaken = name === pod.metadata.name ? 'that is the name of the pod; ' : '';
  return `${name} (${mistaken}its containers: ${names})`;
}
