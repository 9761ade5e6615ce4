import { formatCount } from '../../../lib/duration.ts';
import { defined } from '../../../lib/object.ts';
import { shorten } from '../../../lib/text.ts';
import { VERDICT_LINE_LENGTH } from '../../line-lengths.ts';
import type { WorkloadFacts } from '../facts/facts.ts';
import type { Finding } from '../facts/report.ts';
import type { Verdict, VerdictGroup } from '../facts/verdict.ts';
import { isWrong, MAX_FINDINGS, ordered, rankOf, shown } from '../findings.ts';
import { evidenceOf, logWords, MAX_EVIDENCE, quietSentence, STATES } from '../first-answer.ts';
import { lookAtWorkload } from '../look-at-cluster.ts';
import { changeWords } from '../reading/last-change.ts';
import { spanOf } from '../reading/phrases.ts';
import { ageOf, isDeleting, isOver } from '../reading/pod-containers.ts';
import { MAX_UNSEEN, unseenOf } from '../reading/unseen.ts';
import { type GroupedPods, groupsOf, type PodGroup, shareOf, textOfGroup } from './pod-groups.ts';

/** Groups that a verdict keeps, and pods that each names: a run is stored and sent with them. */
const MAX_GROUPS = 8;
const MAX_NAMES = 20;

/**
 * Answers for a workload, or for the pods of a selector, from the API, the last words and the logs: the cause of the
 * worst finding first, then how many pods are ready; its pods by their worst finding. `healthy` only where each of its
 * pods is proven to be well, and all that it wants are ready. Bounded, whatever the number of pods. `grouped`: of
 * `facts.pods`, for callers that have thousands of them. Pure.
 */
export function firstWorkloadAnswer(facts: WorkloadFacts, grouped: GroupedPods = groupsOf(facts.pods)): Verdict {
  const { groups } = grouped;
  const findings = findingsOf(facts, grouped);
  const isQuiet = isSettled(facts, grouped, findings) && !findings.some(isWrong);
  const isHealthy = isQuiet && grouped.proven === facts.pods.length;
  const unseen = unseenOfWorkload(facts, grouped);
  const evidence = groups.slice(0, MAX_GROUPS).flatMap((group) => evidenceOf(group.example, group.findings));
  return {
    line: shorten(lineOf(facts, { grouped, findings, isHealthy }), VERDICT_LINE_LENGTH),
    findings: findings.slice(0, MAX_FINDINGS).map(shown),
    readAtMs: facts.nowMs,
    ...defined({
      well: isQuiet ? wellWords(facts, grouped, isHealthy) : undefined,
      healthy: isHealthy || undefined,
      more: findings.length > MAX_FINDINGS ? findings.length - MAX_FINDINGS : undefined,
      changed: changeWords(
        facts.workload,
        facts.pods.map(({ pod }) => pod),
        { nowMs: facts.nowMs, isAnyWrong: findings.some(isWrong) },
      ),
      evidence: evidence.length > 0 ? evidence.slice(0, MAX_EVIDENCE) : undefined,
      unseen: unseen.length > 0 ? unseen.slice(0, MAX_UNSEEN) : undefined,
    }),
    groups: shownGroups(groups, grouped.all),
  };
}

/** The findings about the workload itself, and the worst one of each group of pods. */
function findingsOf(facts: WorkloadFacts, { groups, all }: GroupedPods): readonly Finding[] {
  const ofPods = groups.flatMap((group): readonly Finding[] => {
    const { worst } = group;
    // The groups say what is over or going.
    if (!worst || STATES.has(worst.code)) return [];
    const share = shareOf(group, all);
    return [share === '' ? worst : { ...worst, text: `${worst.text} (${share})` }];
  });
  const seen = [...lookAtWorkload(facts), ...ofPods];
  const found = ordered(hasHealed(facts) ? seen.map(asPast) : seen);
  const isAnyWrong = found.some(isWrong);
  // The pods' own failure explains why too few are ready, and a rollout that is held up does not end by waiting.
  return found.filter(
    ({ code }) => !(code === 'too_few_ready' && ofPods.length > 0) && !(code === 'rollout_going_on' && isAnyWrong),
  );
}

/** The newest pod of a CronJob finished well: what failed before it is no emergency any more. */
const hasHealed = ({ kind, pods }: WorkloadFacts): boolean =>
  kind === 'cronjob' && pods.at(-1)?.pod.status.phase === 'Succeeded';

const asPast = (finding: Finding): Finding => (rankOf(finding) === 1 ? { ...finding, rank: 2 } : finding);

/** It has as many pods as it wants, and no controller is at work. */
function isSettled({ workload, kind }: WorkloadFacts, { all }: GroupedPods, findings: readonly Finding[]): boolean {
  if (all === 0 || findings.some(({ code }) => code === 'rollout_going_on')) return false;
  return workload === undefined ? kind === 'selector' : workload.wanted === all && workload.ready === all;
}

/** They say the count themselves. */
const COUNTED: ReadonlySet<string> = new Set([
  'too_few_ready',
  'none_wanted',
  'suspended',
  'no_pods',
  'job_failed',
  'job_too_slow',
]);

interface Grounds {
  readonly grouped: GroupedPods;
  readonly findings: readonly Finding[];
  readonly isHealthy: boolean;
}

/** The cause, then the state in a few words: `the quota Q is used up: … · 0 of 3 pods ready`. */
function lineOf(facts: WorkloadFacts, { grouped, findings, isHealthy }: Grounds): string {
  const [worst] = findings;
  const hasGivenUp = findings.some(({ code }) => code === 'job_failed');
  const count = hasGivenUp && !hasHealed(facts) ? 'the Job failed' : countWords(facts, grouped);
  if (!worst || !isWrong(worst)) return calmLine(facts, { grouped, findings, isHealthy });
  const line = shorten(worst.text, VERDICT_LINE_LENGTH);
  const whole = count === '' || COUNTED.has(worst.code) ? line : `${line} · ${count}`;
  return whole.length > VERDICT_LINE_LENGTH ? line : whole;
}

/** `2 of 3 pods ready`; those beyond what is wanted do not count. A CronJob wants none. */
function countWords(facts: WorkloadFacts, { ready: readyNow, all }: GroupedPods): string {
  const { workload, kind } = facts;
  if (kind === 'cronjob') return hasHealed(facts) ? 'its newest pod finished well' : '';
  if (kind === 'job') return jobWords(workload);
  const [ready, wanted] = [workload?.ready ?? readyNow, workload?.wanted ?? all];
  const surplus = ready > wanted ? `, and ${number(ready - wanted)} more` : '';
  return `${number(Math.min(ready, wanted))} of ${formatCount(wanted, 'pod')} ready${surplus}`;
}

function jobWords(job: WorkloadFacts['workload']): string {
  if (!job) return '';
  const { ready, wanted = 1, failed = 0 } = job;
  return `${number(ready)} of ${number(wanted)} succeeded${failed === 0 ? '' : `, ${number(failed)} failed`}`;
}

const number = (count: number): string => count.toLocaleString('en-US');

function calmLine(facts: WorkloadFacts, { grouped, findings, isHealthy }: Grounds): string {
  const { groups, all, live, unread, noise } = grouped;
  const [first] = findings;
  const repeated = first?.code === 'log_errors' ? first : undefined;
  if (first && !repeated) return first.text;
  const over = groups.find(({ worst }) => worst && STATES.has(worst.code));
  if (live === 0 && over) return textOfGroup(over, all);
  const read = unread > 0 && unread < all ? `the logs of ${number(all - unread)} read` : '';
  const well = [atWork(facts, grouped), wellWords(facts, grouped, isHealthy), read].filter(Boolean).join(', ');
  return quietSentence({ well, repeated, noise, isHealthy });
}

/** `3 of 3 pods ready, no errors in their logs`. */
const wellWords = (facts: WorkloadFacts, grouped: GroupedPods, isHealthy: boolean): string =>
  `${countWords(facts, grouped)}${logWords(grouped.noise, isHealthy, grouped.all === 1 ? 'its log' : 'their logs')}`;

/** `1 pod runs for 2 h`, of what makes Jobs; the others count what is ready. */
function atWork({ kind, pods, nowMs }: WorkloadFacts, { live, running }: GroupedPods): string {
  const oldest = pods.find(({ pod }) => !isOver(pod) && !isDeleting(pod));
  if ((kind !== 'job' && kind !== 'cronjob') || !oldest) return '';
  const share = running < live ? `${number(running)} of ` : '';
  const since = spanOf(ageOf({ pod: oldest.pod, nowMs }));
  return `${share}${formatCount(live, 'pod')} ${live === 1 ? 'runs' : 'run'}, ${live === 1 ? 'for' : 'the oldest for'} ${since}`;
}

function unseenOfWorkload({ notRead, warnings }: WorkloadFacts, grouped: GroupedPods): readonly string[] {
  const { all, unread, empty, unseen } = grouped;
  const own = unseenOf({ notRead, hasWarnings: warnings !== undefined });
  // A reader without the right learns that once.
  const isExplained = unread === all && unseen.some((line) => line.startsWith('the log of '));
  const logsOf = (count: number): string =>
    all === 1 ? 'its log' : count === all ? 'their logs' : `the logs of ${number(count)} of ${number(all)} pods`;
  return [
    ...new Set([
      ...own,
      ...unseen,
      ...(unread === 0 || isExplained
        ? []
        : [
            `${logsOf(unread)}: ${all === 1 ? 'it was not read' : 'too many for one answer; ask for one of them by its name'}`,
          ]),
      ...(empty === 0 ? [] : [`${logsOf(empty)}: ${all === 1 ? 'it is' : 'they are'} empty`]),
    ]),
  ];
}

function shownGroups(groups: readonly PodGroup[], all: number): readonly VerdictGroup[] {
  const [worst, others] =
    groups.length <= MAX_GROUPS ? [groups, []] : [groups.slice(0, MAX_GROUPS - 1), groups.slice(MAX_GROUPS - 1)];
  const [worstOther] = others;
  const podsOfOthers = others.flatMap(({ pods }) => pods);
  return [
    ...worst.map((group) => ({ text: textOfGroup(group, all), ...ranked(group), ...named(group.pods) })),
    ...(worstOther
      ? [{ text: `${formatCount(others.length, 'other group')}`, ...ranked(worstOther), ...named(podsOfOthers) }]
      : []),
  ];
}

const ranked = ({ worst }: PodGroup): Pick<VerdictGroup, 'rank'> => defined({ rank: worst && rankOf(worst) });

const named = (pods: PodGroup['pods']): Pick<VerdictGroup, 'podNames' | 'more'> => ({
  podNames: pods.slice(0, MAX_NAMES).map(({ pod }) => pod.metadata.name),
  ...defined({ more: pods.length > MAX_NAMES ? pods.length - MAX_NAMES : undefined }),
});
