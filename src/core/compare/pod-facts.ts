import {
  type ContainerStatus,
  lastingContainers,
  type Node,
  type Pod,
  type PodContainer,
  unmetCondition,
  versionOf,
} from '../container/pod.ts';
import { foreignLine } from '../redact/clean-text.ts';
import type { FactGroup, PodFact, PodFacts } from './facts.ts';

const MINUTE_MS = 60_000;
const MAX_LABELS = 40;

/** Set for each pod, so never equal, and no news. */
const OWN_LABELS =
  /^(?:pod-template-hash|controller-revision-hash|statefulset\.kubernetes\.io\/|apps\.kubernetes\.io\/pod-index|batch\.kubernetes\.io\/|job-name|controller-uid)/;

/** The facts of a pod from the Kubernetes API, for a comparison. Pure. */
export function factsOfPod(pod: Pod, node: Node | undefined, nowMs: number): PodFacts {
  const { metadata, spec, status } = pod;
  const running = [...status.containerStatuses, ...status.initContainerStatuses.filter(({ running: runs }) => runs)];
  const ageMinutes = Math.floor((nowMs - Date.parse(metadata.creationTimestamp)) / MINUTE_MS);
  const facts: readonly (PodFact | undefined)[] = [
    fact('version', '', versionOf(pod)),
    fact('node', 'node', spec.nodeName),
    fact('node', 'zone', node?.zone),
    fact('node', 'kernel', node?.kernel),
    fact('node', 'kubelet', node?.kubelet),
    fact('node', 'conditions of the node', node && conditionsOf(node)),
    fact('state', 'phase', status.phase),
    fact('state', 'readiness', readinessOf(pod)),
    fact('state', 'network', spec.hostNetwork ? "the node's" : "the pod's own"),
    ...(Number.isFinite(ageMinutes) ? [{ group: 'age', name: '', value: Math.max(0, ageMinutes) } as const] : []),
    ...running.flatMap(factsOfStatus),
    ...lastingContainers(pod).flatMap(factsOfContainer),
    ...Object.entries(metadata.labels)
      .filter(([name]) => !OWN_LABELS.test(name))
      .slice(0, MAX_LABELS)
      .map(([name, value]) => fact('label', name, value === '' ? '(empty)' : value)),
  ];
  return { facts: facts.filter((known) => known !== undefined), cut: [] };
}

const fact = (group: FactGroup, name: string, value: string | undefined): PodFact | undefined =>
  value === undefined || value === '' ? undefined : { group, name, value: foreignLine(value, 80) };

function readinessOf(pod: Pod): string {
  const unmet = unmetCondition(pod, 'Ready');
  return unmet ? `not ready${unmet.message === '' ? '' : `: ${unmet.message}`}` : 'ready';
}

function factsOfStatus(status: ContainerStatus): readonly (PodFact | undefined)[] {
  const { name, imageID, restartCount, lastTermination, waiting, user } = status;
  const last = lastTermination && `${lastTermination.reason || 'ended'}, exit code ${lastTermination.exitCode}`;
  return [
    fact('image', name, digestOf(imageID)),
    { group: 'restarts', name, value: restartCount },
    fact('state', `last end of ${name}`, last ?? 'never ended'),
    fact('state', `${name} is`, waiting ? `waiting (${waiting.reason})` : 'running'),
    fact('state', `user of ${name}`, user && `${user.uid}:${user.gid}`),
  ];
}

/** Enough of the digest to tell it from another; the whole id where there is none. */
const digestOf = (imageId: string): string => /sha256:[0-9a-f]{12}/.exec(imageId)?.[0] ?? imageId;

function factsOfContainer(container: PodContainer): readonly (PodFact | undefined)[] {
  const { name, image, cpuRequest = 'no', cpuLimit = 'no', memoryRequest = 'no', memoryLimit = 'no' } = container;
  return [
    fact('container', name, image),
    fact(
      'resources',
      name,
      `CPU ${cpuRequest} request, ${cpuLimit} limit; memory ${memoryRequest} request, ${memoryLimit} limit`,
    ),
  ];
}

const conditionsOf = ({ conditions }: Node): string => {
  const wrong = conditions.filter(({ type, status }) => (type === 'Ready' ? status !== 'True' : status === 'True'));
  return wrong.length === 0 ? 'fine' : wrong.map(({ type }) => (type === 'Ready' ? 'not ready' : type)).join(', ');
};
