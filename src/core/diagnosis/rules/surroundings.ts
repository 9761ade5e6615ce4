import { formatCount, formatDuration } from '../../../lib/duration.ts';
import { type Pod, versionOf, workloadOf } from '../../container/pod.ts';
import type { ClusterRule } from '../facts/cluster-rule.ts';
import type { ClusterFacts } from '../facts/facts.ts';
import type { Finding } from '../facts/report.ts';
import { cleanWords } from '../reading/phrases.ts';
import { isDeleting, isOver } from '../reading/pod-containers.ts';

/**
 * The seconds by which the clocks of node and bot may differ: the kubelet reports whole seconds, and calls take time.
 */
const CLOCK_SKEW = 5;

/** The trouble of the pod's node. Undefined: nothing shows one. `name` is as the cluster has it. */
export function nodeOutOfOrder({
  pod,
  node,
}: Pick<ClusterFacts, 'pod' | 'node'>): { readonly name: string; readonly how: string } | undefined {
  const ready = node?.conditions.find(({ type }) => type === 'Ready');
  if (node && ready && ready.status !== 'True')
    return { name: node.name, how: ready.status === 'Unknown' ? 'no longer answers' : 'is not ready' };
  const { nodeName } = pod.spec;
  // Without the right to read nodes, the pod's phase still says it.
  return pod.status.phase === 'Unknown' && nodeName !== undefined
    ? { name: nodeName, how: 'no longer answers' }
    : undefined;
}

function nodeNotReady(facts: ClusterFacts): readonly Finding[] | undefined {
  const found = nodeOutOfOrder(facts);
  if (!found) return facts.node && [];
  return [{ code: 'node_not_ready', text: `the pod’s node ${cleanWords(found.name, 100)} ${found.how}` }];
}

function nodePressure({ node }: ClusterFacts): readonly Finding[] | undefined {
  if (!node) return undefined;
  const pressed = node.conditions.filter(({ type, status }) => type.endsWith('Pressure') && status === 'True');
  if (pressed.length === 0) return [];
  const text = `the node ${cleanWords(node.name, 100)} reports ${pressed.map(({ type }) => cleanWords(type, 60)).join(', ')}`;
  return [{ code: 'node_pressure', value: pressed.length, text }];
}

/**
 * Compares the node's clock with kdebug's: the container cannot have started before its launch, nor ended after
 * `nowMs`. The result is the least possible difference; a smaller one goes unnoticed. Undefined without the node's
 * times.
 */
function clockFindings({ pod, launch, nowMs }: ClusterFacts): readonly Finding[] | undefined {
  const ours = pod.status.ephemeralContainerStatuses.find(({ name }) => name === launch?.containerName)?.terminated;
  if (!launch || !ours) return undefined;
  const [behindMs, aheadMs] = [launch.launchedAtMs - Date.parse(ours.startedAt), Date.parse(ours.finishedAt) - nowMs];
  const differsMs = Math.max(behindMs, aheadMs);
  // A container that never started reports 1970.
  if (!(Date.parse(ours.startedAt) > 0) || !(differsMs > CLOCK_SKEW * 1000)) return [];
  const text = `the node’s clock is at least ${formatDuration(differsMs)} ${aheadMs > behindMs ? 'ahead of' : 'behind'} kdebug’s`;
  return [{ code: 'clock_skew', value: Math.round(differsMs / 1000), threshold: CLOCK_SKEW, text }];
}

/** Pods of another version of the same Deployment run beside the pod. */
function rolloutFindings({ pod, versionedPods }: ClusterFacts): readonly Finding[] {
  const deployment = deploymentOf(pod);
  if (deployment === undefined) return [];
  const same = versionedPods.filter((each) => deploymentOf(each) === deployment && !isDeleting(each) && !isOver(each));
  const others = same.filter((each) => versionOf(each) !== versionOf(pod));
  if (others.length === 0) return [];
  const newest =
    others
      .map(({ metadata }) => metadata.creationTimestamp)
      .toSorted()
      .at(-1) ?? '';
  const which = newest > pod.metadata.creationTimestamp ? 'newer' : 'older';
  const text = `a rollout of ${deployment} is in progress: ${formatCount(others.length, 'pod')} of ${same.length} of the ${which} version`;
  return [{ code: 'rollout_under_way', value: others.length, text }];
}

function deploymentOf(pod: Pod): string | undefined {
  const workload = workloadOf(pod);
  return workload?.kind === 'deployment' ? workload.name : undefined;
}

const CONDITIONS = 'Kubernetes, "Node Status", conditions; the kubelet evicts pods under pressure';

export const NODE_RULES: readonly ClusterRule[] = [
  {
    code: 'node_not_ready',
    seenBy: 'cluster',
    section: 'node',
    rank: 1,
    reads: 'the node’s condition Ready, phase of the pod',
    means: 'The node of the pod does not report that it is ready.',
    next: 'Whoever runs the node must bring it back; its pods move to other nodes after five minutes.',
    source: CONDITIONS,
    explains: ['stuck_deleting'],
    replaces: ['not_ready', 'probe_failing', 'node_pressure'],
    find: nodeNotReady,
  },
];

export const SURROUNDING_RULES: readonly ClusterRule[] = [
  {
    code: 'node_pressure',
    seenBy: 'cluster',
    section: 'node',
    rank: 2,
    reads: 'the node’s conditions MemoryPressure, DiskPressure and PIDPressure',
    means: 'The node runs out of memory, disk or process ids, and may evict the pod.',
    next: 'Whoever runs the node should find what fills it; or move the workload to another one.',
    source: CONDITIONS,
    find: nodePressure,
  },
  {
    code: 'clock_skew',
    seenBy: 'cluster',
    section: 'clock',
    rank: 2,
    reads: 'start and end of kdebug’s own container',
    means:
      'The clock of the node differs from kdebug’s: tokens and certificates may count as expired or not yet valid.',
    threshold: CLOCK_SKEW,
    unit: 's',
    next: 'Check the time service of the node (chrony, systemd-timesyncd), and the one of kdebug’s own machine.',
    source: 'Chosen: synchronised clocks differ by milliseconds; whole seconds and slow calls are no skew',
    find: clockFindings,
  },
  {
    code: 'rollout_under_way',
    seenBy: 'cluster',
    section: 'rollout',
    rank: 3,
    reads: 'the other pods of the same Deployment',
    means: 'Pods of another version of the same Deployment run beside this one.',
    next: 'Compare a pod of each version before you conclude anything from one.',
    source: 'Kubernetes, "Deployments": the label pod-template-hash',
    find: rolloutFindings,
  },
];
