import { formatBytes, formatDuration } from '../../lib/duration.ts';
import { quantityOf } from '../../lib/quantity.ts';
import type { Plan } from '../container/plan.ts';
import type { Pod } from '../container/pod.ts';
import type { Outcome } from '../run/outcome.ts';
import type { Finding } from './report.ts';
import type { FindingRule } from './rules.ts';

/** More failures than this exceed the kubelet's default patience. */
export const PROBE_FAILURES = 2;
/** The share of each period, in per cent, in which a container with that CPU limit may not run. */
export const CPU_PAUSE = 90;
/** How many seconds the clocks of node and bot may differ: the kubelet reports whole seconds, and calls take time. */
const CLOCK_SKEW = 5;

const LIFECYCLE = 'Kubernetes, "Pod Lifecycle", container restarts: the kubelet backs off from 10 s to 5 min';
const RESOURCES = 'Kubernetes, "Resource Management for Pods and Containers"';
const CONDITIONS = 'Kubernetes, "Node Status", conditions; the kubelet evicts pods under pressure';

const cluster = (rule: Omit<FindingRule, 'seenBy'>): FindingRule => ({ seenBy: 'cluster', ...rule });

/** What the bot finds through the Kubernetes API and the image beside the target cannot see. */
export const CLUSTER_FINDINGS: readonly FindingRule[] = [
  cluster({
    code: 'pod_failed',
    section: 'restarts',
    rank: 1,
    means: 'The pod failed, or was evicted, and none of its containers starts again.',
    next: 'Correct what the message names; only a new pod runs again.',
    source: 'Kubernetes, "Pod Lifecycle", pod phase: Failed',
  }),
  cluster({
    code: 'not_scheduled',
    section: 'restarts',
    rank: 1,
    means: 'No node has room for the pod, or none matches its rules.',
    next: 'Make room on a node or lower the pod’s requests; check its node selector and tolerations.',
    source: 'Kubernetes, "Pod Lifecycle", condition PodScheduled',
  }),
  cluster({
    code: 'stuck_deleting',
    section: 'restarts',
    rank: 2,
    means: 'The pod was deleted, its grace period is over, and it is still there.',
    next: 'Check that its node answers, and which finalizers the pod still has.',
    source: 'Kubernetes, "Termination of Pods"; a minute is chosen for the kubelet and the controllers',
  }),
  cluster({
    code: 'not_ready',
    section: 'restarts',
    rank: 2,
    means: 'The pod has not been ready for more than a minute, so it gets no traffic.',
    next: 'Check what its readiness waits for: its probe, its volumes, or a readiness gate.',
    nextImage: 'stacks',
    source: 'Kubernetes, "Pod Lifecycle", condition Ready; a minute is chosen, because a start needs some',
  }),
  cluster({
    code: 'crash_loop',
    section: 'restarts',
    rank: 1,
    means: 'A container exits again and again, and Kubernetes waits longer each time before it restarts it.',
    next: 'Read its last output: kubectl logs --previous.',
    source: LIFECYCLE,
  }),
  cluster({
    code: 'last_oom_killed',
    section: 'restarts',
    rank: 1,
    means: 'The kernel killed the container within the last day, for using more memory than its limit allows.',
    next: 'Find what grew, or raise the memory limit above its real need.',
    source: `${RESOURCES}: a container over its memory limit is killed; a day is chosen, because the API keeps only the last kill`,
  }),
  cluster({
    code: 'restarts',
    section: 'restarts',
    rank: 2,
    means: 'A container exited within the last hour and was, or will be, restarted.',
    next: 'Read its last output: kubectl logs --previous.',
    source: `${LIFECYCLE}; an hour is chosen, because events live that long`,
  }),
  cluster({
    code: 'not_starting',
    section: 'restarts',
    rank: 1,
    means: 'A container of the pod cannot start: its image, its configuration or its command is wrong.',
    next: 'Correct what the message names.',
    source: 'Kubernetes, "Images" and "Debug Pods": the reasons of a waiting container',
  }),
  cluster({
    code: 'probe_failing',
    section: 'probes',
    rank: 1,
    means: 'The kubelet’s probe fails: the pod gets no traffic (readiness), or is restarted (liveness, startup).',
    threshold: PROBE_FAILURES,
    unit: 'failures',
    next: 'Call the probe’s own address from inside the pod, and compare its timeout with how long the answer takes.',
    nextImage: 'stacks',
    source: 'Kubernetes, "Configure Liveness, Readiness and Startup Probes": failureThreshold is 3 by default',
  }),
  cluster({
    code: 'warning_events',
    section: 'events',
    rank: 3,
    means: 'Kubernetes warned about the pod within the last ten minutes.',
    next: 'Read the events of the pod: kubectl describe pod.',
    source: 'Kubernetes, core/v1 Event of type Warning; ten minutes are chosen, older ones have mostly healed',
  }),
  cluster({
    code: 'node_not_ready',
    section: 'node',
    rank: 1,
    means: 'The node of the pod does not report that it is ready.',
    next: 'Check the node: kubectl describe node; move the workload if this persists.',
    source: CONDITIONS,
  }),
  cluster({
    code: 'node_pressure',
    section: 'node',
    rank: 2,
    means: 'The node runs out of memory, disk or process ids, and may evict the pod.',
    next: 'Find what fills the node, or move the workload to another one.',
    source: CONDITIONS,
  }),
  cluster({
    code: 'clock_skew',
    section: 'clock',
    rank: 2,
    means:
      'The clock of the node differs from kdebug’s: tokens and certificates may count as expired or not yet valid.',
    threshold: CLOCK_SKEW,
    unit: 's',
    next: 'Check the time service of the node (chrony, systemd-timesyncd), and the one of kdebug’s own machine.',
    source: 'Chosen: synchronised clocks differ by milliseconds; whole seconds and slow calls are no skew',
  }),
  cluster({
    code: 'cpu_limit_tight',
    section: 'resources',
    rank: 3,
    means: 'The CPU limit is so low that a container which needs one CPU must pause for most of each 100 ms.',
    threshold: CPU_PAUSE,
    unit: '%',
    next: 'Raise the CPU limit to 100m at least, or leave it out.',
    source: 'Linux, "CFS Bandwidth Control": quota of each 100 ms period; 90% is chosen',
  }),
  cluster({
    code: 'no_room_to_start',
    section: 'resources',
    rank: 1,
    means: 'The diagnosis could not start: it uses the memory of the pod, which is limited and used up.',
    next: 'Raise the memory limit, or find what grew (kubectl top pod --containers), before you look again: the kernel may end the application instead of the diagnosis.',
    source:
      'No threshold: the runtime could not start the command of an image that is known to run (found on Kubernetes 1.34)',
  }),
  cluster({
    code: 'no_memory_limit',
    section: 'resources',
    rank: 3,
    means: 'The target has no memory limit: a leak grows until the node itself runs out.',
    next: 'Set resources.limits.memory.',
    source: RESOURCES,
  }),
  cluster({
    code: 'no_requests',
    section: 'resources',
    rank: 3,
    means: 'The target does not request CPU and memory: it is placed blindly, and evicted first.',
    next: 'Set resources.requests for cpu and memory.',
    source: `${RESOURCES}; "Node-pressure Eviction"`,
  }),
  cluster({
    code: 'rollout_under_way',
    section: 'rollout',
    rank: 3,
    means: 'Pods of another version of the same Deployment run beside this one.',
    next: 'Compare a pod of each version before you conclude anything from one.',
    source: 'Kubernetes, "Deployments": the label pod-template-hash',
  }),
];

/** kdebug's own container, and its launch by kdebug's clock. */
export interface Launch {
  readonly containerName: string;
  readonly launchedAtMs: number;
}

/**
 * Whether the node's clock differs from kdebug's: the container cannot have started before its launch, nor ended after
 * `nowMs`. The result is the least possible difference; a smaller one goes unnoticed. Undefined without the node's
 * times.
 */
export function clockFindings(pod: Pod, launch: Launch | undefined, nowMs: number): readonly Finding[] | undefined {
  const ours = pod.status.ephemeralContainerStatuses.find(({ name }) => name === launch?.containerName)?.terminated;
  if (!launch || !ours) return undefined;
  const [behindMs, aheadMs] = [launch.launchedAtMs - Date.parse(ours.startedAt), Date.parse(ours.finishedAt) - nowMs];
  const differsMs = Math.max(behindMs, aheadMs);
  // A container that never started reports 1970.
  if (!(Date.parse(ours.startedAt) > 0) || !(differsMs > CLOCK_SKEW * 1000)) return [];
  const text = `the node’s clock is at least ${formatDuration(differsMs)} ${aheadMs > behindMs ? 'ahead of' : 'behind'} kdebug’s`;
  return [{ code: 'clock_skew', value: Math.round(differsMs / 1000), threshold: CLOCK_SKEW, text }];
}

/** The runtime created the container and could not start it; `StartError` is its later name for the same. */
const NOT_RUN: ReadonlySet<string> = new Set(['RunContainerError', 'StartError']);

/**
 * What a failed start reveals about the pod. The default command of a catalogue image should run. If the runtime cannot
 * start it and the pod's memory is limited, that memory is very likely used up: runc's first process is killed in the
 * pod's cgroup (seen with 2 of 100 MiB left).
 */
export function startFindings(pod: Pod, { command }: Plan, outcome: Outcome): readonly Finding[] {
  if (outcome.kind !== 'start-failed' || !NOT_RUN.has(outcome.reason) || command.length > 0) return [];
  const limit = memoryLimitOf(pod);
  if (limit === undefined) return [];
  const text = `the pod very likely has no memory left to start in: its containers may use ${formatBytes(limit)} in all`;
  return [{ code: 'no_room_to_start', text }];
}

/** Of the whole pod; undefined if one of its containers has no limit. */
function memoryLimitOf({ spec }: Pod): number | undefined {
  const limits = spec.containers.map(({ memoryLimit = '' }) => quantityOf(memoryLimit));
  return limits.reduce((sum, limit) => (sum === undefined || limit === undefined ? undefined : sum + limit), 0);
}
