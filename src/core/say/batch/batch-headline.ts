import { formatCount, formatDuration } from '../../../lib/duration.ts';
import { shorten } from '../../../lib/text.ts';
import type { Batch, Closed } from '../../batch/batch.ts';
import { paceOf, type ResultGroup } from '../../batch/pod-result.ts';
import { type Counts, endedOf, inFlightOf, matchedOf, statusOf } from '../../batch/pod-state.ts';
import { findingRule } from '../../diagnosis/report-verdict.ts';
import { LINE_LENGTH } from '../../line-lengths.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import type { RunState } from '../../run/run-state.ts';
import { joined, line, plainText, type Words } from '../message/line.ts';
import { code, person, quietPerson, type Span, strong, type Tone, time } from '../message/message.ts';
import { sentencesIn } from '../parts/headline.ts';
import { describeOutcome, STATE_TEXT } from '../parts/outcome-text.ts';
import { groupText, RECORD_LOST, STATUS_TEXT, shownName } from './batch-facts.ts';
import { compareHeadline, isComparison } from './compare-parts.ts';

export interface BatchHeadline {
  readonly tone: Tone;
  readonly spans: readonly Span[];
  /** The same without people, for notifications. */
  readonly words: string;
}

/** Of spans without people. */
const headlineOf = (tone: Tone, spans: readonly Span[]): BatchHeadline => ({ tone, spans, words: plainText(spans) });

/** The batch was allowed or approved. */
export const isDecided = ({ state }: BatchRun): boolean => !UNDECIDED.has(state);

const UNDECIDED: ReadonlySet<RunState> = new Set([
  'received',
  'denied',
  'pending-approval',
  'rejected',
  'expired',
  'cancelled',
]);

/** The images, or the name of the job with its images. */
function batchSubject({ batch: { variants }, job }: BatchRun): string {
  const images = [...new Set((variants[0] ?? []).map(({ imageAlias }) => imageAlias))].join(', ');
  return job?.name === undefined ? images : `${shownName(job.name)} (${images})`;
}

/** `audit on 8 pods in shop: 3 done, 5 to go (about 11 s)`: what it is, and the answer so far. */
export function batchHeadline(run: BatchRun, counts: Counts, nowMs: number): BatchHeadline {
  if (isComparison(run)) return compareHeadline(run, counts, isDecided(run));
  const { batch, plan, origin } = run;
  const subject = batchSubject(run);
  const where = ` on ${formatCount(matchedOf(counts) - counts.skipped, 'pod')} in ${plan.namespace}`;
  const named = (tone: Tone, answer: string, before = ''): BatchHeadline =>
    headlineOf(tone, line`${before}${strong(subject)}${where}${answer}`);
  if (run.state === 'pending-approval') {
    const { tone } = STATE_TEXT[run.state];
    const spans = line`${quietPerson(origin.requesterId)} wants to run ${strong(subject)}${where}`;
    return { tone, spans, words: `${subject}${where}` };
  }
  if (!isDecided(run)) return named(STATE_TEXT[run.state].tone, '', `${STATE_TEXT[run.state].headline}: `);
  if (batch.endedAtMs !== undefined) return named(endTone(batch, counts), `: ${endWords(batch, counts)}`);
  const { tone } = STATUS_TEXT[statusOf(batch, counts)];
  if (batch.closed) return named(tone, `, ${formatCount(inFlightOf(counts), 'pod')} still running`, 'Finishing: ');
  if (batch.paused) return named(tone, `, ${progressWords(batch, counts, nowMs)}`, 'Paused: ');
  if (batch.canary === 'waiting') return canaryHeadline(run, counts);
  return named(tone, `: ${progressWords(batch, counts, nowMs)}`);
}

function canaryHeadline(run: BatchRun, counts: Counts): BatchHeadline {
  const others = counts.queued === 1 ? 'the other pod' : `the other ${counts.queued.toLocaleString('en-US')} pods`;
  const what = strong('Canary finished: review it');
  return headlineOf('attention', line`${what} before ${batchSubject(run)} runs on ${others} in ${run.plan.namespace}`);
}

/** `3 done, 5 to go (about 11 s)`. */
function progressWords(batch: Batch, counts: Counts, nowMs: number): string {
  const done = endedOf(counts) + counts.cancelled;
  const left = counts.queued + inFlightOf(counts);
  if (done === 0) return counts.running > 0 ? `${counts.running.toLocaleString('en-US')} running` : 'starting';
  return `${done.toLocaleString('en-US')} done, ${left.toLocaleString('en-US')} to go${leftWords(batch, counts, nowMs)}`;
}

/**
 * No estimate when pods are only starting (the pace of the others says nothing about them), nor below a second: it
 * would be wrong before anybody reads it.
 */
function leftWords(batch: Batch, counts: Counts, nowMs: number): string {
  const { leftMs = 0 } = paceOf(batch, counts, nowMs) ?? {};
  return counts.queued + counts.running === 0 || leftMs < 1_000 ? '' : ` (about ${formatDuration(leftMs)})`;
}

/** If the reports found something wrong, a success of the containers is no good news. */
export const endTone = (batch: Batch, counts: Counts): Tone => {
  const { tone } = STATUS_TEXT[statusOf(batch, counts)];
  return tone === 'ended' && podsWithProblems(batch) > 0 ? 'attention' : tone;
};

/**
 * The findings of the reports, then the ends of kdebug's own runs: `problems found in 2, 1 run failed`, `nothing
 * found`, `6 runs succeeded, 2 failed`, `cancelled, 3 runs succeeded, 5 not started`.
 */
function endWords(batch: Batch, counts: Counts): string {
  const all = batch.closed?.because === 'record-lost' ? undefined : matchedOf(counts) - counts.skipped;
  const whole = all === 1 ? 'the' : 'all';
  const number = (count: number): string => (count === all ? whole : count.toLocaleString('en-US'));
  const found = foundWords(batch, all, number);
  const runs = [
    ...(found.length > 0 ? [] : [[counts.succeeded, 'succeeded'] as const]),
    [endedOf(counts) - counts.succeeded, 'failed'] as const,
  ].filter(([count]) => count > 0);
  return [
    ...(statusOf(batch, counts) === 'Cancelled' ? ['cancelled'] : []),
    ...found,
    ...runs.map(([count, words], index) => `${number(count)}${index === 0 ? runNoun(count) : ''} ${words}`),
    ...(counts.cancelled === 0
      ? []
      : [counts.cancelled === all ? 'none started' : `${number(counts.cancelled)} not started`]),
  ].join(', ');
}

/** Nothing for runs that look for nothing. */
function foundWords(batch: Batch, all: number | undefined, number: (count: number) => string): readonly string[] {
  const [problems, looked] = [podsWithProblems(batch), podsLookedInto(batch)];
  if (problems > 0) return [`problems found${all === 1 ? '' : ` in ${number(problems)}`}`];
  if (looked === 0) return [];
  return [looked === all ? 'nothing found' : `nothing found in ${number(looked)}`];
}

const runNoun = (count: number): string => (count === 1 ? ' run' : ' runs');

/** Pods in which a diagnostic image ran to its end. */
const podsLookedInto = ({ pods }: Batch): number =>
  pods.filter(({ results = [] }) => results.some((result) => result?.looked === true)).length;

const podsWithProblems = ({ pods }: Batch): number =>
  pods.filter(({ results = [] }) => results.some((result) => hasProblem(result?.findings))).length;

/** A finding that is only worth knowing is no problem; one of another image has no rank and counts. */
const hasProblem = (findings: readonly string[] = []): boolean => findings.some(isProblem);

const isProblem = (finding: string): boolean => rankOf(finding) < 3;
const rankOf = (finding: string): number => findingRule(finding)?.rank ?? 2;

const MAX_NAMED = 3;

/** The second line of an ended batch, and the group that it describes, which the message does not show again. */
export interface BatchReason {
  readonly spans: readonly Span[];
  readonly group?: ResultGroup;
}

/**
 * The reason why a batch was closed early; else the next step for the worst finding; else the reason why the worst
 * group of runs failed, and its pods; else the checks that an answer without findings leaves open.
 */
export function batchReason(
  { batch, verdict }: Pick<BatchRun, 'batch' | 'verdict'>,
  groups: readonly ResultGroup[],
): BatchReason {
  if (batch.closed) return { spans: closedSpans(batch.closed) };
  const problems = groups.flatMap((group) => group.findings.filter(isProblem).map((code) => ({ code, group })));
  const [worst] = problems.toSorted((a, b) => rankOf(a.code) - rankOf(b.code));
  if (worst) return { spans: problemSpans(worst.code, worst.group) };
  const failed = groups.find(({ state }) => state !== 'succeeded');
  if (failed) return { spans: failedSpans(failed), group: failed };
  // An answer that came first says itself what it did not read.
  const isAlone = verdict === undefined && problems.length === 0 && podsLookedInto(batch) > 0;
  return { spans: isAlone ? NOT_CHECKED : [] };
}

/** Before the words of a report: how many findings it has. */
const COUNT = /^\d+ findings?: /;

/** The worst group's finding with its number, and the next step: `*memory at 95% of its limit*. Raise the limit.` */
function problemSpans(finding: string, { examples: [first] }: ResultGroup): readonly Span[] {
  const next = findingRule(finding)?.next ?? '';
  const leading = first?.verdict?.replace(COUNT, '').split('; ')[0]?.replace(/\.$/, '');
  const cause = shorten(leading ?? finding.replaceAll('_', ' '), LINE_LENGTH - 1);
  const room = LINE_LENGTH - cause.length - 2;
  const step = sentencesIn(next, room);
  return line`${strong(cause)}${step === '' || step.endsWith('…') ? '.' : `. ${step}`}`;
}

const NOT_CHECKED = line`${strong('Not checked:')} the pods’ own logs, and what Kubernetes says of them.`;

function failedSpans(group: ResultGroup): readonly Span[] {
  const what = shorten(`In ${formatCount(group.count, 'pod')} ${groupText(group)}`, LINE_LENGTH);
  const spans: Words[] = [what];
  let length = what.length;
  let named = 0;
  for (const { name } of group.examples.slice(0, MAX_NAMED)) {
    const shown = shownName(name);
    if (length + shown.length + ' and 10,000 more'.length > LINE_LENGTH) break;
    spans.push(named === 0 ? ': ' : ', ', code(shown));
    length += shown.length + 2;
    named += 1;
  }
  if (named > 0 && named < group.count) {
    const more = ` and ${(group.count - named).toLocaleString('en-US')} more`;
    spans.push(more);
    length += more.length;
  }
  const next = nextStep(group);
  return joined([...spans, next !== '' && length + next.length + 2 <= LINE_LENGTH && `. ${next}`], '');
}

/** One sentence on what to do about pods that did not run to their end. */
function nextStep({ state, reason = '' }: Pick<ResultGroup, 'state' | 'reason'>): string {
  switch (state) {
    case 'start-failed':
      return firstSentence(describeOutcome({ kind: 'start-failed', reason, message: '' }).next);
    case 'timed-out':
      return 'Use a longer --timeout, or a smaller diagnosis.';
    default:
      return '';
  }
}

const firstSentence = (words: string): string => /^.*?[.;](?= |$)/.exec(words)?.[0].replace(/;$/, '.') ?? words;

function closedSpans(closed: Closed): readonly Span[] {
  switch (closed.because) {
    case 'cancelled':
      return line`Cancelled${byWhom(closed.byUserId)}, ${time(closed.atMs)}. No more pods will start.`;
    case 'ttl':
      return line`Its time is up: no more pods will start, and kdebug no longer waits for those still running.`;
    case 'start-failures':
      return startFailuresSpans(closed.reason ?? '');
    case 'record-lost':
      return line`${RECORD_LOST}`;
  }
}

const byWhom = (userId: string | undefined): Words => userId !== undefined && line` by ${person(userId)}`;

/** If the line has no room for the next step, it says why the batch was stopped. */
function startFailuresSpans(reason: string): readonly Span[] {
  const begin = 'Stopped: three runs did not start (';
  const next = nextStep({ state: 'start-failed', reason });
  const isShort = begin.length + reason.length + '). '.length + next.length <= LINE_LENGTH;
  return line`${begin}${code(reason)}). ${isShort ? next : 'The others would fail too.'}`;
}
