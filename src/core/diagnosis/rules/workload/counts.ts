import { formatCount } from '../../../../lib/duration.ts';
import type { ClusterRule } from '../../facts/cluster-rule.ts';
import type { WorkloadFacts } from '../../facts/facts.ts';
import type { Finding } from '../../facts/report.ts';
import { conditionOf, livePods, workloadTitle } from '../../reading/workload-facts.ts';

function noneWanted(facts: WorkloadFacts): readonly Finding[] {
  const { workload } = facts;
  if (workload?.wanted !== 0 || workload.kind === 'job' || workload.kind === 'cronjob') return [];
  const title = workloadTitle(facts);
  const isDaemon = workload.kind === 'daemonset';
  const text = isDaemon
    ? `${title} wants no pod: no node matches its node selector`
    : `${title} wants 0 pods: it is scaled to zero`;
  const next = isDaemon
    ? `Correct the node selector in the manifest of ${title}, or label a node so.`
    : `Set spec.replicas of ${title} above 0; check its autoscaler if somebody else set it.`;
  return [{ code: 'none_wanted', text, next }];
}

const ofNewVersion = (updated: number, wanted: number): string =>
  `${updated} of ${formatCount(wanted, 'pod')} ${updated === 1 || wanted === 1 ? 'is' : 'are'} of the new version`;

function rolloutStuck(facts: WorkloadFacts): readonly Finding[] {
  const condition = conditionOf(facts, 'Progressing', 'False');
  if (condition?.reason !== 'ProgressDeadlineExceeded') return [];
  const { wanted = 0, updated = 0 } = facts.workload ?? {};
  const text = `the rollout of ${workloadTitle(facts)} does not progress: ${ofNewVersion(updated, wanted)}`;
  return [{ code: 'rollout_stuck', text }];
}

function tooFew(facts: WorkloadFacts): readonly Finding[] {
  const { workload } = facts;
  if (!workload || workload.kind === 'job' || workload.kind === 'cronjob' || workload.suspended) return [];
  const { wanted = 0, ready } = workload;
  if (wanted === 0 || ready >= wanted) return [];
  const live = livePods(facts);
  const there = live < wanted ? `, and ${live} of them ${live === 1 ? 'exists' : 'exist'}` : '';
  return [
    {
      code: 'too_few_ready',
      value: ready,
      text: `${ready} of ${formatCount(wanted, 'pod')} of ${workloadTitle(facts)} ${ready === 1 ? 'is' : 'are'} ready${there}`,
    },
  ];
}

function noPods(facts: WorkloadFacts): readonly Finding[] {
  const { workload, pods, kind } = facts;
  if (pods.length > 0 || (workload?.wanted === 0 && kind !== 'job')) return [];
  const isDone = workload?.conditions.some(
    ({ type, status }) => (type === 'Complete' || type === 'SuccessCriteriaMet') && status === 'True',
  );
  if (isDone || workload?.suspended || (kind === 'cronjob' && workload)) return [];
  return [
    {
      code: 'no_pods',
      text: `${workloadTitle(facts)} ${kind === 'selector' ? 'do not exist' : 'has no pods'}, and nothing that kdebug can read says why`,
    },
  ];
}

/** More pods than wanted, or not all of the newest template: a controller is at work, or is told to wait. */
function goingOn(facts: WorkloadFacts): readonly Finding[] {
  const { wanted = 0, updated = wanted, suspended } = facts.workload ?? {};
  const surplus = livePods(facts) - wanted;
  if (wanted === 0 || (updated >= wanted && surplus <= 0)) return [];
  if (suspended || conditionOf(facts, 'Progressing', 'False')) return [];
  return [{ code: 'rollout_going_on', ...rolloutOf(facts, { wanted, updated, surplus }) }];
}

function rolloutOf(
  facts: WorkloadFacts,
  { wanted, updated, surplus }: { readonly wanted: number; readonly updated: number; readonly surplus: number },
): Pick<Finding, 'text' | 'next'> {
  const { heldBack } = facts.workload ?? {};
  const title = workloadTitle(facts);
  const of = ofNewVersion(updated, wanted);
  if (heldBack !== undefined && surplus <= 0) {
    const text = `the rollout of ${title} is held back by its updateStrategy (${heldBack}): ${of}`;
    return { text, next: HELD_BACK_NEXT[heldBack === 'OnDelete' ? 'OnDelete' : 'partition'] };
  }
  const left = `the new pods are there, and ${surplus} more ${surplus === 1 ? 'is' : 'are'} still to go`;
  return { text: `a rollout of ${title} is in progress: ${updated >= wanted ? left : of}` };
}

const HELD_BACK_NEXT = {
  OnDelete: 'Delete the pods of the old version one by one: each comes back with the new one.',
  partition: 'Lower the partition in its updateStrategy to let the other pods follow.',
} as const;

const ROW = { seenBy: 'cluster', section: 'workload' } as const;

/** Before what is wrong with its pods. */
export const COUNT_RULES: readonly ClusterRule[] = [
  {
    ...ROW,
    code: 'none_wanted',
    rank: 2,
    reads: 'how many pods the workload wants',
    means: 'The workload wants no pods: it is scaled to zero, or no node matches.',
    next: 'Scale it up, or correct its node selector.',
    source: 'Kubernetes, "Deployments", replicas; "DaemonSet", desiredNumberScheduled',
    findInWorkload: noneWanted,
  },
];

/** Behind it. */
export const COUNT_STATE_RULES: readonly ClusterRule[] = [
  {
    ...ROW,
    code: 'rollout_stuck',
    rank: 1,
    reads: 'condition Progressing of the Deployment',
    means: 'The Deployment has made no progress with its new version for longer than its progressDeadlineSeconds.',
    next: 'Correct what its new pods fail with, or go back to the version before.',
    source: 'Kubernetes, "Deployments", progressDeadlineSeconds: ten minutes by default',
    replaces: ['too_few_ready'],
    findInWorkload: rolloutStuck,
  },
  {
    ...ROW,
    code: 'too_few_ready',
    rank: 2,
    reads: 'how many pods the workload wants and how many are ready',
    means: 'Fewer pods of the workload are ready than it wants.',
    next: 'Look at a pod that is not ready.',
    source: 'Kubernetes, status.readyReplicas and numberReady',
    findInWorkload: tooFew,
  },
  {
    ...ROW,
    code: 'no_pods',
    rank: 2,
    reads: 'the pods of the workload, its events and conditions',
    means: 'The workload has no pods, and no event or condition says why.',
    next: 'Check its name and namespace, and what was not checked.',
    source: 'No threshold: there are none',
    findInWorkload: noPods,
  },
  {
    ...ROW,
    code: 'rollout_going_on',
    rank: 3,
    reads: 'how many pods the workload wants, has, and has of its newest template',
    means: 'The controller replaces the pods of the workload by pods of its new version.',
    next: 'Wait for it, then ask again.',
    source: 'Kubernetes, status.updatedReplicas',
    findInWorkload: goingOn,
  },
];
