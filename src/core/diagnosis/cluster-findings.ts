import type { FindingRule } from './finding-rule.ts';

/** A probe that has failed more often than this is past the kubelet's default patience. */
export const PROBE_FAILURES = 2;
/** The share of each period, in per cent, in which a container with that CPU limit may not run. */
export const CPU_PAUSE = 90;
/** By how many seconds the clocks of node and bot may differ: the kubelet tells whole seconds, and calls take time. */
export const CLOCK_SKEW = 5;

const LIFECYCLE = 'Kubernetes, "Pod Lifecycle", container restarts: the kubelet backs off from 10 s to 5 min';
const RESOURCES = 'Kubernetes, "Resource Management for Pods and Containers"';
const CONDITIONS = 'Kubernetes, "Node Status", conditions; the kubelet evicts pods under pressure';

const cluster = (rule: Omit<FindingRule, 'seenBy'>): FindingRule => ({ seenBy: 'cluster', ...rule });

/** What the bot finds through the Kubernetes API, and nobody beside the target can see. */
export const CLUSTER_FINDINGS: readonly FindingRule[] = [
  cluster({
    code: 'crash_loop',
    section: 'restarts',
    rank: 1,
    means: 'A container ends again and again, and Kubernetes waits longer each time before it starts it anew.',
    next: 'Read what it wrote last: kubectl logs --previous.',
    source: LIFECYCLE,
  }),
  cluster({
    code: 'last_oom_killed',
    section: 'restarts',
    rank: 1,
    means: 'The kernel killed the container within the last day, for using more memory than its limit allows.',
    next: 'Find what grew, or raise the memory limit above its real need.',
    source: `${RESOURCES}: a container over its memory limit is killed; a day is chosen, as the last kill is all that the API keeps`,
  }),
  cluster({
    code: 'restarts',
    section: 'restarts',
    rank: 2,
    means: 'A container ended within the last hour and was, or will be, started anew.',
    next: 'Read what it wrote last: kubectl logs --previous.',
    source: `${LIFECYCLE}; an hour is chosen, as events live that long`,
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
    next: 'Ask the probe’s own address from inside the pod, and compare its timeout with how long the answer takes.',
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
    next: 'Check the node: kubectl describe node; move the workload if it stays.',
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
    next: 'Check the time service of the node (chrony, systemd-timesyncd), and at that of kdebug’s own.',
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
    means: 'The diagnosis could not start, as it lives on the memory of the pod, and that is limited and used up.',
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
