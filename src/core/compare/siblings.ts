import { formatCount } from '../../lib/duration.ts';
import { byAge, controllerOf, type Pod, unmetCondition, versionOf, workloadOf } from '../container/pod.ts';
import type { ReasonCode } from '../errors.ts';
import type { RunRequest } from '../request/command.ts';
import { problemOfPod, type Room, targetContainerOf } from '../request/target.ts';

/** The healthy pods beside the sick one. */
const MAX_SIBLINGS = 2;

export interface ComparedPods {
  readonly kind: 'selected';
  /** The sick pod, then one or two siblings. */
  readonly pods: readonly Pod[];
  /** Sentences: what the siblings are not. */
  readonly notes: readonly string[];
}

interface Wanted {
  readonly name: string;
  readonly targetContainer: RunRequest['targetContainer'];
  readonly room: Room;
}

/**
 * The pod of this name and up to two siblings: ready pods of the same owner that can take a debug container; those of
 * the same version first, then on other nodes, then with fewer restarts, then the oldest. Refused if nothing could be
 * compared: no such pod, no owner, or no such sibling.
 */
export function chooseCompared(
  pods: readonly Pod[],
  wanted: Wanted,
): ComparedPods | { readonly kind: 'refused'; readonly code: ReasonCode; readonly subject: string } {
  const sick = pods.find(({ metadata }) => metadata.name === wanted.name);
  if (!sick) return { kind: 'refused', code: 'pod_not_found', subject: wanted.name };
  const problem = problemOf(sick, wanted);
  if (problem) return { kind: 'refused', ...problem };
  const owner = ownerOf(sick);
  if (owner === undefined) return { kind: 'refused', code: 'compare_no_owner', subject: wanted.name };
  const siblings = pods.filter((pod) => pod !== sick && ownerOf(pod) === owner);
  const fit = siblings.filter((pod) => isHealthy(pod) && !problemOf(pod, wanted));
  const chosen = choose(sick, fit);
  if (chosen.length === 0) return { kind: 'refused', code: 'compare_no_siblings', subject: whyNone(owner, siblings) };
  return { kind: 'selected', pods: [sick, ...chosen], notes: notesOn(sick, chosen, siblings) };
}

function problemOf(pod: Pod, { room, targetContainer }: Wanted) {
  const target = targetContainerOf(pod, targetContainer);
  return problemOfPod(pod, room) ?? (target.kind === 'problem' ? target.problem : undefined);
}

/** `deployment/web`; of an owner that kdebug does not know, its kind and name. */
function ownerOf(pod: Pod): string | undefined {
  const workload = workloadOf(pod);
  if (workload) return `${workload.kind}/${workload.name}`;
  const owner = controllerOf(pod);
  return owner && owner.kind !== 'Node' ? `${owner.kind}/${owner.name}` : undefined;
}

/**
 * Counts the other ready pods of its owner. Undefined if `pods`, which should be all of them, does not even contain the
 * pod itself.
 */
export function countSiblings(pod: Pod, pods: readonly Pod[]): number | undefined {
  const owner = ownerOf(pod);
  if (owner === undefined || !pods.some(({ metadata }) => metadata.uid === pod.metadata.uid)) return undefined;
  return pods.filter((other) => other.metadata.uid !== pod.metadata.uid && ownerOf(other) === owner && isHealthy(other))
    .length;
}

function isHealthy(pod: Pod): boolean {
  const { status } = pod;
  const isReady = !unmetCondition(pod, 'Ready') && !unmetCondition(pod, 'DisruptionTarget');
  return status.phase === 'Running' && isReady && status.containerStatuses.every(({ ready }) => ready !== false);
}

const restartsOf = ({ status }: Pod): number =>
  status.containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0);

/** Each further sibling should be on a node of its own: then a difference of nodes tells. */
function choose(sick: Pod, fit: readonly Pod[]): readonly Pod[] {
  const chosen: Pod[] = [];
  while (chosen.length < MAX_SIBLINGS) {
    const nodes = new Set([sick, ...chosen].map(({ spec }) => spec.nodeName));
    const rank = (pod: Pod): number =>
      (versionOf(pod) === versionOf(sick) ? 0 : 2) + (nodes.has(pod.spec.nodeName) ? 1 : 0);
    const [next] = fit
      .filter((pod) => !chosen.includes(pod))
      .toSorted((a, b) => rank(a) - rank(b) || restartsOf(a) - restartsOf(b) || byAge(a, b));
    if (!next) break;
    chosen.push(next);
  }
  return chosen;
}

function whyNone(owner: string, siblings: readonly Pod[]): string {
  if (siblings.length === 0) return `${owner} has no other pod`;
  const unready = siblings.filter((pod) => !isHealthy(pod)).length;
  const ready = siblings.length - unready;
  return `${formatCount(siblings.length, 'other pod')} of ${owner}: ${unready} not ready${ready === 0 ? '' : `, ${ready} without room for a debug container`}`;
}

function notesOn(sick: Pod, chosen: readonly Pod[], siblings: readonly Pod[]): readonly string[] {
  const unready = siblings.filter((pod) => !isHealthy(pod)).length;
  const others = chosen.filter((pod) => versionOf(pod) !== versionOf(sick));
  return [
    ...(unready > 0 ? [`${formatCount(unready, 'sibling')} not ready, so not compared with.`] : []),
    ...(others.length > 0 ? [`Of another version: ${others.map(({ metadata }) => metadata.name).join(', ')}.`] : []),
    ...(chosen.length < MAX_SIBLINGS ? ['Only one sibling: what differs between any two pods is here too.'] : []),
  ];
}
