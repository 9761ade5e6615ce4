import { formatBytes } from '../../../lib/duration.ts';
import { quantityOf } from '../../../lib/quantity.ts';
import type { Plan } from '../../container/plan.ts';
import { lastingContainers, type Pod, type PodContainer } from '../../container/pod.ts';
import type { Outcome } from '../../outcome.ts';
import type { ClusterRule } from '../facts/cluster-rule.ts';
import type { ClusterFacts } from '../facts/facts.ts';
import type { Finding } from '../facts/report.ts';
import { cleanWords, listed, spanOf } from '../reading/phrases.ts';
import {
  ageOf,
  isBeingSetUp,
  isDeleting,
  manifestOf,
  type PodPart,
  partsOf,
  SECOND_MS,
  warningsOfPod,
} from '../reading/pod-containers.ts';
import { failedStartOf, isOutOfMemoryAtStart } from './configuration.ts';

/** The share of each period, in per cent, in which a container with that CPU limit may not run. */
const CPU_PAUSE = 90;
/** In cores, of the whole pod: with less, the runtime itself hardly starts it. */
const LITTLE_CPU = 0.1;
const SLOW_START_MS = 20 * SECOND_MS;
/** In bytes: containerd and runc need about this much to start anything. */
const LITTLE_MEMORY = 16 * 1024 ** 2;

/** The runtime created the container and could not start it; `StartError` is its later name for the same. */
const NOT_RUN: ReadonlySet<string> = new Set(['RunContainerError', 'StartError']);

/**
 * Finds the pod's fault behind a failed start. The default command of a catalogue image should run. If the runtime
 * cannot start it and the pod's memory is limited, that memory is very likely used up: runc's first process is killed
 * in the pod's cgroup (seen with 2 of 100 MiB left). A target that does not run uses none, unless that is what it died
 * of.
 */
export function startFindings(pod: Pod, { command, targetContainerName }: Plan, outcome: Outcome): readonly Finding[] {
  if (outcome.kind !== 'start-failed' || !NOT_RUN.has(outcome.reason) || command.length > 0) return [];
  const limit = podMemoryLimit(pod);
  const target = partsOf(pod).find(({ name }) => name === (targetContainerName ?? pod.spec.containers[0]?.name));
  const usesMemory = target?.status?.running !== undefined || target?.ended?.reason === 'OOMKilled';
  if (limit === undefined || !usesMemory) return [];
  const text = `the pod very likely has no memory left to start in: its containers may use ${formatBytes(limit)} in all`;
  return [{ code: 'no_room_to_start', text }];
}

/** The sum of the limits of all containers that last; undefined: one of them has no limit, so the pod has none. */
export const podMemoryLimit = (pod: Pod): number | undefined =>
  sumOf(lastingContainers(pod), ({ memoryLimit }) => memoryLimit);

/** Of the whole pod; undefined if one of its containers has none. */
const sumOf = (
  containers: readonly PodContainer[],
  of: (container: PodContainer) => string | undefined,
): number | undefined =>
  containers.reduce<number | undefined>((sum, container) => {
    const amount = quantityOf(of(container) ?? '');
    return sum === undefined || amount === undefined ? undefined : sum + amount;
  }, 0);

/** Files of a volume in memory count against the limit of the container that wrote them, and outlive its restarts. */
function tooSmall({ title, name, spec }: PodPart, pod: Pod, isTiny: boolean): Finding {
  const raise = `the memory limit of ${name} in the manifest of ${manifestOf(pod)}`;
  const limit = `${title} cannot start: its memory limit of ${spec?.memoryLimit ?? 'the pod'}`;
  const { memoryVolumes = [] } = pod.spec;
  const of = { code: 'too_small_to_start', containerName: name };
  if (isTiny || memoryVolumes.length === 0)
    return { ...of, text: `${limit} is too small even to start in`, next: `Raise ${raise}.` };
  const volumes = `volume${memoryVolumes.length > 1 ? 's' : ''} ${cleanWords(listed(memoryVolumes), 100)}`;
  const next = `Raise ${raise}. Or files of its ${volumes} (medium Memory) fill it: a new pod begins without them.`;
  return { ...of, text: `${limit} leaves no room even to start in`, next };
}

function tooSmallFindings(facts: ClusterFacts): readonly Finding[] {
  const { pod } = facts;
  if (isDeleting(pod)) return [];
  const manifest = manifestOf(pod);
  const parts = partsOf(pod).flatMap((part): readonly Finding[] => {
    const message = failedStartOf(part);
    const limit = quantityOf(part.spec?.memoryLimit ?? '');
    const isTiny = limit !== undefined && limit < LITTLE_MEMORY && !/exec|no such file|not found/.test(message ?? '');
    if (message === undefined || !(isOutOfMemoryAtStart(message) || isTiny)) return [];
    return [tooSmall(part, pod, isTiny)];
  });
  if (parts.length > 0 || !isBeingSetUp(pod)) return parts;
  const sandbox = warningsOfPod(facts)?.find(
    ({ reason, message }) => reason === 'FailedCreatePodSandBox' && isOutOfMemoryAtStart(message),
  );
  const memory = podMemoryLimit(pod);
  if (sandbox || (memory !== undefined && memory < LITTLE_MEMORY && ageOf(facts) > SLOW_START_MS)) {
    const text = `the pod cannot start: its memory limit${memory === undefined ? '' : ` of ${formatBytes(memory)}`} is too small even to start in`;
    return [{ code: 'too_small_to_start', text, next: `Raise the memory limit in the manifest of ${manifest}.` }];
  }
  const cpu = sumOf(lastingContainers(pod), ({ cpuLimit }) => cpuLimit);
  if (cpu === undefined || cpu >= LITTLE_CPU || !(ageOf(facts) > SLOW_START_MS)) return [];
  const text = `the pod has been starting for ${spanOf(ageOf(facts))}: it may use ${Math.round(cpu * 1000)}m of CPU in all, and its start alone uses that up`;
  return [
    {
      code: 'too_small_to_start',
      text,
      next: `Raise the CPU limit to 100m at least in the manifest of ${manifest}, or leave it out.`,
    },
  ];
}

function targetOf({ pod, targetContainerName }: ClusterFacts): PodContainer | undefined {
  const { containers, initContainers } = pod.spec;
  const named = [...containers, ...initContainers].find(({ name }) => name === targetContainerName);
  return targetContainerName === undefined ? containers[0] : named;
}

function cpuLimitTight(facts: ClusterFacts): readonly Finding[] {
  const target = targetOf(facts);
  const cores = quantityOf(target?.cpuLimit ?? '');
  const value = cores === undefined ? 0 : Math.round(100 * (1 - cores));
  if (!target || value <= CPU_PAUSE) return [];
  const text = `${target.name} must pause ${value} ms of each 100 ms at full load: its CPU limit is ${target.cpuLimit}`;
  return [{ code: 'cpu_limit_tight', value, threshold: CPU_PAUSE, text }];
}

const RESOURCES = 'Kubernetes, "Resource Management for Pods and Containers"';
const ROW = { seenBy: 'cluster', section: 'resources' } as const;

export const SMALL_LIMIT_RULES: readonly ClusterRule[] = [
  {
    ...ROW,
    code: 'too_small_to_start',
    section: 'start',
    rank: 1,
    reads: 'the limits of the containers, why they do not start, the age of the pod',
    means: 'The memory or CPU that the pod may use is so little that the runtime cannot even start it.',
    next: 'Raise the limit in the manifest.',
    source:
      'runc: "container init was OOM-killed (memory limit too low?)"; 16 MiB, and 100m of CPU with 20 s, are chosen: a start takes a second and a few MiB (found on Kubernetes 1.34)',
    replaces: ['not_ready', 'warning_events', 'restarts', 'crash_loop', 'sandbox_failing', 'cpu_limit_tight'],
    find: tooSmallFindings,
  },
  {
    ...ROW,
    code: 'no_room_to_start',
    rank: 1,
    reads: 'why kdebug’s own container did not start, the memory limits',
    means: 'The diagnosis could not start: it uses the memory of the pod, which is limited and used up.',
    next: 'Raise the memory limit or find what grew before you look again: the kernel may end the application instead.',
    source:
      'No threshold: the runtime could not start the command of an image that is known to run (found on Kubernetes 1.34)',
  },
];

export const RESOURCE_RULES: readonly ClusterRule[] = [
  {
    ...ROW,
    code: 'cpu_limit_tight',
    rank: 3,
    reads: 'the target’s CPU limit',
    means: 'The CPU limit is so low that a container which needs one CPU must pause for most of each 100 ms.',
    threshold: CPU_PAUSE,
    unit: '%',
    next: 'Raise the CPU limit to 100m at least, or leave it out.',
    source: 'Linux, "CFS Bandwidth Control": quota of each 100 ms period; 90% is chosen',
    find: cpuLimitTight,
  },
  {
    ...ROW,
    code: 'no_memory_limit',
    rank: 3,
    reads: 'the target’s memory limit',
    means: 'The target has no memory limit: a leak grows until the node itself runs out.',
    next: 'Set resources.limits.memory.',
    source: RESOURCES,
    find: (facts) => {
      const target = targetOf(facts);
      if (!target || target.memoryLimit !== undefined) return [];
      return [{ code: 'no_memory_limit', text: `${target.name} has no memory limit` }];
    },
  },
  {
    ...ROW,
    code: 'no_requests',
    rank: 3,
    reads: 'the target’s requests',
    means: 'The target does not request CPU and memory: it is placed blindly, and evicted first.',
    next: 'Set resources.requests for cpu and memory.',
    source: `${RESOURCES}; "Node-pressure Eviction"`,
    find: (facts) => {
      const target = targetOf(facts);
      return target && !target.hasRequests
        ? [{ code: 'no_requests', text: `${target.name} requests no CPU or memory` }]
        : [];
    },
  },
];
