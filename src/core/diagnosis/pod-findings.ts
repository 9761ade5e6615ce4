import { formatCount, formatDuration } from '../../lib/duration.ts';
import {
  type ContainerTermination,
  type Pod,
  type PodEvent,
  unmetCondition,
  versionOf,
  workloadOf,
} from '../container/pod.ts';
import { foreignLine } from '../report/log/clean-text.ts';
import type { Finding } from './report.ts';

const MINUTE_MS = 60_000;

/** How long something has been so, in whole seconds: `under a second`, `3 s`, `2 min 5 s`. */
export function spanOf(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 1) return 'under a second';
  return seconds < 10 ? `${seconds} s` : formatDuration(ms);
}

/** `12 s ago`. */
export const ago = (ms: number): string => (Number.isFinite(ms) ? `${spanOf(ms)} ago` : 'at an unknown time');

export const howItEnded = ({ reason, exitCode }: ContainerTermination): string =>
  reason === 'OOMKilled'
    ? 'out of memory (OOMKilled)'
    : `exit code ${exitCode} (${foreignLine(reason) || 'no reason'})`;

/** The pod has ended: nothing in it starts again. */
export const isOver = ({ status }: Pod): boolean => status.phase === 'Succeeded' || status.phase === 'Failed';

interface PodContext {
  /** What was found in its containers and by its probes: it explains why the pod is not ready. */
  readonly explained: readonly Finding[];
  /** Newest first. */
  readonly warnings: readonly PodEvent[];
  readonly nowMs: number;
}

/** What is wrong with a pod as a whole. */
export function podFindings(pod: Pod, context: PodContext): readonly Finding[] {
  return [
    ...failedFindings(pod, context),
    ...notScheduled(pod),
    ...stuckDeleting(pod, context.nowMs),
    ...notReady(pod, context),
  ];
}

function failedFindings({ status }: Pod, { explained }: PodContext): readonly Finding[] {
  const { phase, reason, message = '' } = status;
  if (phase !== 'Failed') return [];
  if (reason !== undefined)
    return [{ code: 'pod_failed', text: `the pod failed: ${foreignLine(`${reason} ${message}`)}` }];
  if (explained.length > 0) return [];
  const ended = [...status.initContainerStatuses, ...status.containerStatuses].find(
    ({ terminated }) => terminated && terminated.exitCode !== 0,
  );
  const how = ended?.terminated ? `: ${ended.name} ended with ${howItEnded(ended.terminated)}` : '';
  return [{ code: 'pod_failed', text: `the pod failed${how}` }];
}

function notScheduled(pod: Pod): readonly Finding[] {
  const condition = pod.spec.nodeName === undefined ? unmetCondition(pod, 'PodScheduled') : undefined;
  if (!condition || pod.metadata.deletionTimestamp !== undefined) return [];
  const why = foreignLine(condition.message || condition.reason) || 'no reason given';
  return [{ code: 'not_scheduled', text: `no node can run the pod: ${why}` }];
}

function stuckDeleting({ metadata: { deletionTimestamp } }: Pod, nowMs: number): readonly Finding[] {
  // The timestamp is the end of the grace period.
  const overdueMs = deletionTimestamp === undefined ? 0 : nowMs - Date.parse(deletionTimestamp);
  if (!(overdueMs > MINUTE_MS)) return [];
  return [{ code: 'stuck_deleting', text: `the pod should have been gone ${ago(overdueMs)}` }];
}

function notReady(pod: Pod, { explained, warnings, nowMs }: PodContext): readonly Finding[] {
  const { phase } = pod.status;
  const condition = unmetCondition(pod, 'Ready');
  const isRising = (phase === 'Pending' && pod.spec.nodeName !== undefined) || phase === 'Running';
  if (!condition || !isRising || explained.length > 0 || pod.metadata.deletionTimestamp !== undefined) return [];
  const sinceMs = nowMs - Date.parse(condition.since);
  if (!(sinceMs > MINUTE_MS)) return [];
  const [warning] = phase === 'Pending' ? warnings : [];
  const why = warning ? `${warning.reason} ${warning.message}` : condition.message || condition.reason;
  const what = phase === 'Pending' ? 'the pod has been starting for' : 'the pod has not been ready for';
  return [{ code: 'not_ready', text: `${what} ${formatDuration(sinceMs)}: ${foreignLine(why) || 'no reason given'}` }];
}

/** Whether pods of another version of the same Deployment run beside the pod. */
export function rolloutFindings(pod: Pod, versionedPods: readonly Pod[]): readonly Finding[] {
  const deployment = deploymentOf(pod);
  if (deployment === undefined) return [];
  const same = versionedPods.filter((each) => deploymentOf(each) === deployment && !isGoing(each));
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

const isGoing = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined || isOver(pod);
