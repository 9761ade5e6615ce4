import { formatCount } from '../../../../lib/duration.ts';
import type { ClusterRule } from '../../facts/cluster-rule.ts';
import type { WorkloadFact, WorkloadFacts } from '../../facts/facts.ts';
import type { Finding } from '../../facts/report.ts';
import { ago, cleanWords, quoted } from '../../reading/phrases.ts';
import { conditionOf, isShort, workloadTitle } from '../../reading/workload-facts.ts';

const JOB_ENDS: Readonly<Record<string, (workload: WorkloadFact | undefined) => string>> = {
  BackoffLimitExceeded: (workload) =>
    workload?.backoffLimit === undefined
      ? 'its pods failed more often than its backoffLimit allows'
      : `its pods failed more often than its backoffLimit of ${workload.backoffLimit} allows`,
  DeadlineExceeded: () => 'it ran for longer than its activeDeadlineSeconds',
  PodFailurePolicy: () => 'a pod ended in a way that its podFailurePolicy does not allow',
  FailedIndexes: () => 'one of its indexes failed',
  MaxFailedIndexesExceeded: () => 'too many of its indexes failed',
};

/** Too slow as a whole: its pods have no part in that, and are killed for it. */
function jobTooSlow(facts: WorkloadFacts): readonly Finding[] {
  const ended = endOfJob(facts);
  if (ended?.reason !== 'DeadlineExceeded') return [];
  const next = `Raise activeDeadlineSeconds in the manifest of ${ended.title}, or find out why it takes so long.`;
  return [{ code: 'job_too_slow', text: textOfEnd(ended, facts), next }];
}

function jobFailed(facts: WorkloadFacts): readonly Finding[] {
  const ended = endOfJob(facts);
  if (!ended || ended.reason === 'DeadlineExceeded') return [];
  const next =
    facts.kind === 'cronjob'
      ? `Correct what its pods failed with in the manifest of ${workloadTitle(facts)}; its next Job shows whether that was enough.`
      : `Correct what its pods failed with, then create ${ended.title} again: a failed Job does not go on.`;
  return [{ code: 'job_failed', text: textOfEnd(ended, facts), next }];
}

function textOfEnd({ title, reason, message, atMs }: JobEnd, facts: WorkloadFacts): string {
  const why = JOB_ENDS[reason]?.(facts.workload) ?? quoted(`${reason} ${message}`);
  const lost = facts.pods.length === 0 ? '; its pods are gone, and their last words with them' : '';
  return `${title} failed ${ago(facts.nowMs - atMs)}: ${why}${lost}`;
}

interface JobEnd {
  readonly title: string;
  readonly reason: string;
  readonly message: string;
  readonly atMs: number;
}

/** By its condition; without the right to read that, and for a CronJob, by the newest event of such a Job. */
function endOfJob(facts: WorkloadFacts): JobEnd | undefined {
  const condition = conditionOf(facts, 'Failed', 'True') ?? conditionOf(facts, 'FailureTarget', 'True');
  if (condition) return { ...condition, title: workloadTitle(facts), atMs: Date.parse(condition.since) };
  const event = facts.warnings?.find(
    ({ reason, involved }) => involved.kind === 'Job' && Object.hasOwn(JOB_ENDS, reason),
  );
  if (!event || conditionOf(facts, 'Complete', 'True')) return undefined;
  const title = facts.kind === 'job' ? workloadTitle(facts) : `the Job ${cleanWords(event.involved.name, 80)}`;
  return { ...event, title };
}

function stopped(facts: WorkloadFacts): readonly Finding[] {
  const { workload } = facts;
  if (workload?.suspended !== true) return [];
  const title = workloadTitle(facts);
  if (workload.kind === 'deployment') {
    const isBehind =
      workload.updated !== undefined && workload.wanted !== undefined && workload.updated < workload.wanted;
    const text = `${title} is paused: it does not roll out changes${isBehind ? `, and ${workload.updated} of ${workload.wanted} pods are of the new version` : ''}`;
    return [
      {
        code: 'suspended',
        text,
        next: `Resume it: set spec.paused of ${title} to false.`,
        rank: isBehind || isShort(facts) ? 2 : 3,
      },
    ];
  }
  return [
    {
      code: 'suspended',
      text: `${title} is suspended: it starts no pods`,
      next: `Set spec.suspend of ${title} to false once it shall run.`,
    },
  ];
}

function jobDone(facts: WorkloadFacts): readonly Finding[] {
  const condition = conditionOf(facts, 'Complete', 'True');
  if (!condition) return [];
  const text = `${workloadTitle(facts)} finished ${ago(facts.nowMs - Date.parse(condition.since))}: ${formatCount(facts.workload?.ready ?? 0, 'pod')} succeeded`;
  return [{ code: 'job_done', text }];
}

/** Nothing is wrong with a CronJob between two of its Jobs; its schedule may be. */
function noJobNow(facts: WorkloadFacts): readonly Finding[] {
  const { workload, pods, nowMs } = facts;
  const { schedule, lastScheduledAtMs, suspended, createdAtMs = 0 } = workload ?? {};
  if (schedule === undefined || suspended || pods.length > 0 || workload?.active) return [];
  const text =
    lastScheduledAtMs === undefined
      ? `the schedule ${quoted(schedule, 60)} has started no Job since the CronJob was created, ${ago(nowMs - createdAtMs)}`
      : `no Job of the schedule ${quoted(schedule, 60)} runs: the last was started ${ago(nowMs - lastScheduledAtMs)}, and none of its pods is left`;
  return [{ code: 'no_job_now', text }];
}

const ROW = { seenBy: 'cluster', section: 'workload' } as const;

/** Before what is wrong with its pods. */
export const JOB_RULES: readonly ClusterRule[] = [
  {
    ...ROW,
    code: 'job_too_slow',
    rank: 1,
    reads: 'condition Failed of the Job, its event DeadlineExceeded',
    means: 'The Job ran for longer than it may, and starts no further pods.',
    next: 'Raise activeDeadlineSeconds, or find out why it takes so long.',
    source: 'Kubernetes, "Jobs", activeDeadlineSeconds',
    explains: ['restarts', 'pod_failed'],
    replaces: ['no_pods', 'job_failed'],
    findInWorkload: jobTooSlow,
  },
  {
    ...ROW,
    code: 'suspended',
    rank: 2,
    reads: 'spec.suspend of a Job or CronJob, spec.paused of a Deployment',
    means: 'Somebody suspended the workload, so it starts no pods or rolls nothing out.',
    next: 'Resume it once it shall run.',
    source: 'Kubernetes, "Jobs", suspend; "Deployments", pausing',
    replaces: ['no_pods'],
    findInWorkload: stopped,
  },
];

/** Behind it. */
export const JOB_STATE_RULES: readonly ClusterRule[] = [
  {
    ...ROW,
    code: 'job_failed',
    rank: 1,
    reads: 'condition Failed of the Job, its event BackoffLimitExceeded',
    means: 'The Job gave up, and starts no further pods.',
    next: 'Correct what its pods failed with, then create the Job again.',
    source: 'Kubernetes, "Jobs", backoffLimit',
    replaces: ['no_pods'],
    findInWorkload: jobFailed,
  },
  {
    ...ROW,
    code: 'job_done',
    rank: 3,
    reads: 'condition Complete of the Job',
    means: 'The Job has done its work.',
    next: 'Nothing: a finished Job is no error.',
    source: 'Kubernetes, "Jobs", condition Complete',
    findInWorkload: jobDone,
  },
  {
    ...ROW,
    code: 'no_job_now',
    rank: 3,
    reads: 'schedule of the CronJob, when it started its last Job, its pods',
    means: 'The CronJob has no pods at the moment.',
    next: 'Ask again once its next Job runs; correct its schedule if that time never comes.',
    source: 'Kubernetes, "CronJob", schedule; status.lastScheduleTime',
    findInWorkload: noJobNow,
  },
];
