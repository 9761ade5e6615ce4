import { afterWords, formatCount, formatDuration, shortDuration } from '../../../lib/duration.ts';
import { visible } from '../../../lib/invisible.ts';
import { sentence, shorten, shortenMiddle } from '../../../lib/text.ts';
import type { Outcome } from '../../run/outcome.ts';
import type { Run, Verdict, VerdictFinding } from '../../run/run.ts';
import { code, type Message, person, type Span, strong, type Tone, text } from '../message.ts';
import { describeOutcome, happenedSpans, type OutcomeText, STATE_TEXT } from '../outcome-text.ts';
import { typedText } from '../typed-text.ts';
import { durationOf } from './result-parts.ts';

/** The longest of a message's first two lines, in characters: three rows of a phone. */
export const MAX_LINE_LENGTH = 119;

/** A pod's name may have 253 characters; its ends identify it best. */
const MAX_NAME_LENGTH = 44;
export const shortName = (name: string): string => shortenMiddle(name, MAX_NAME_LENGTH);

export const podOf = ({ plan, request: { target }, commandLine }: Run): string =>
  plan ? plan.podName : target.kind === 'pod' ? target.name : commandLine;

/** `shop/web-1`, or `8 pods of shop` for a batch. */
export function subjectOf(run: Run): string {
  const { plan, batch } = run;
  if (!plan) return podOf(run);
  return batch ? `${formatCount(batch.pods.length, 'pod')} of ${plan.namespace}` : `${plan.namespace}/${plan.podName}`;
}

export interface CardHead {
  readonly tone: Tone;
  readonly headline: string;
  /** How it ended, where the verdict is the headline. */
  readonly besides?: string | undefined;
}

/** `*web-1*: memory at 95% of its limit`, in one line. */
export function firstLine(run: Run, headline: string): readonly Span[] {
  const pod = shortName(podOf(run));
  return [strong(pod), text(`: ${shorten(headline, MAX_LINE_LENGTH - 5 - pod.length)}`)];
}

/** What a run's card answers. Where the output is private, nothing of it gives the verdict away. */
export function headOf(run: Run, nowMs: number, isPrivate: boolean): CardHead {
  if (run.state === 'finished' && run.outcome) return endOf(run, run.outcome, isPrivate);
  const { tone, headline } = STATE_TEXT[run.state];
  const sinceMs = run.startedAtMs ?? run.launchedAtMs;
  const age = sinceMs === undefined || run.state === 'denied' ? '' : ` · ${formatDuration(nowMs - sinceMs)}`;
  return { tone, headline: `${headline}${age}` };
}

/** Uses the tone and words of the result, so that the channel never shows a tick and the thread a warning. */
function endOf(run: Run, outcome: Outcome, isPrivate: boolean): CardHead {
  const { verdict, late: endedLate } = run;
  const { tone, title } = describeOutcome(outcome);
  const hidesVerdict = isPrivate && verdict !== undefined && outcome.kind === 'succeeded';
  const duration = durationOf(run);
  const after = duration === undefined || !RAN.has(outcome.kind) ? '' : ` ${afterWords(duration)}`;
  const ended = `${hidesVerdict ? 'Finished' : title}${after}${endedLate ? ', after kdebug had stopped waiting' : ''}`;
  if (isPrivate) return { tone: hidesVerdict ? 'ended' : tone, headline: ended };
  const headline = headlineOf(verdict);
  return headline === undefined
    ? { tone: toneOf(verdict, tone), headline: ended }
    : { tone: toneOf(verdict, tone), headline, besides: besidesOf(outcome, ended, duration, endedLate) };
}

/** Outcomes whose name makes sense before a duration: the container ran, and this ended it. */
const RAN: ReadonlySet<Outcome['kind']> = new Set(['succeeded', 'failed', 'timed-out', 'stopped']);

/** Success needs no word beside a verdict. */
function besidesOf(
  { kind }: Outcome,
  ended: string,
  duration: number | undefined,
  endedLate = false,
): string | undefined {
  if (kind !== 'succeeded' || endedLate) return `${ended.charAt(0).toLowerCase()}${ended.slice(1)}`;
  return duration === undefined ? undefined : shortDuration(duration);
}

/** Only findings that mean something is wrong ask for attention. */
export function toneOf(verdict: Verdict | undefined, tone: Message['tone']): Message['tone'] {
  const isWrong = verdict?.findings.some(({ rank = 2 }) => rank < 3) ?? false;
  return tone === 'success' && isWrong ? 'attention' : tone;
}

/** kdebug's own words before the findings of a report (`verdictOf`); it counts only what is wrong. */
const COUNTED = /^(\d+) findings?: /;

/**
 * The verdict in one line: the worst finding and the number of others, where the report's own line lists them, else
 * that line without its full stop. Undefined without a report.
 */
export function headlineOf(verdict: Verdict | undefined): string | undefined {
  if (verdict?.line === undefined) return undefined;
  const [worst] = verdict.findings;
  const line = verdict.line.replace(/\.$/, '');
  if (!worst || !saysWorst(verdict)) return line.replace(/^1 finding: /, '');
  const counted = COUNTED.exec(line);
  const lead = counted ? '' : line.slice(0, line.indexOf(beginOf(worst)));
  const others = (counted ? Number(counted[1]) : verdict.findings.length + (verdict.more ?? 0)) - 1;
  return `${lead}${worst.text}${others === 0 ? '' : `, and ${formatCount(others, 'more finding')}`}`;
}

/** The line may be cut. */
const beginOf = ({ text: found }: VerdictFinding): string => found.slice(0, 60);

/** Whether the headline says the worst finding, so that nothing below repeats it. */
function saysWorst({ line = '', findings: [worst] }: Verdict): boolean {
  return worst !== undefined && line.includes(beginOf(worst));
}

/** What to do next, else why: the second line of a card and of a result. Empty if there is nothing to say. */
export function secondLine(run: Run): readonly Span[] {
  const { outcome, verdict } = run;
  const [worst] = verdict?.findings ?? [];
  if (verdict && worst) return worstSpans(verdict, worst);
  if (outcome?.kind === 'succeeded') return [];
  if (!outcome) return [];
  const words = describeOutcome(outcome);
  const line = nextOrWhy(run, words);
  return line === words.happened && line === oneLine(line) ? happenedSpans(outcome) : [text(oneLine(line))];
}

function worstSpans(verdict: Verdict, { text: found, limit, next }: VerdictFinding): readonly Span[] {
  const bold = saysWorst(verdict) ? '' : shorten(found, MAX_LINE_LENGTH - 2);
  const room = MAX_LINE_LENGTH - bold.length;
  const step = `${bold === '' ? '' : '. '}${next}`;
  const threshold = limit === undefined ? '' : ` Threshold: ${limit}.`;
  const words = step.length + threshold.length > room ? step : `${step}${threshold}`;
  return [
    ...(bold === '' ? [] : [strong(bold)]),
    text(oneLine(bold === '' ? words.trim() : words, room).trimEnd()),
  ].filter((span) => !('text' in span) || span.text !== '');
}

/** A log without lines has no last ones to check; the title of a plain failure says all of it. */
function nextOrWhy(run: Run, { next, happened }: OutcomeText): string {
  if (failedSilently(run)) return run.outcome && saysNoMore(run.outcome) ? '' : happened;
  return next === '' || run.outcome?.kind === 'timed-out' ? happened : next;
}

const failedSilently = ({ outcome, log }: Run): boolean => outcome?.kind === 'failed' && log?.bytes === 0;

/** What the two lines leave out of an outcome: the cluster's own words, or how it came about. */
export function restOfOutcome(run: Run): string | undefined {
  if (!run.outcome) return undefined;
  const words = describeOutcome(run.outcome);
  if (run.outcome.kind === 'succeeded' || saysNoMore(run.outcome)) return undefined;
  const [worst] = run.verdict?.findings ?? [];
  const shown = worst ? '' : oneLine(nextOrWhy(run, words));
  const rest = [words.happened, failedSilently(run) ? '' : words.next].filter((line) => line !== '' && line !== shown);
  return rest.length === 0 ? undefined : rest.join(' ');
}

/** The title has the exit code, and `Error` is every program's reason. */
const saysNoMore = (outcome: Outcome): boolean =>
  outcome.kind === 'failed' && outcome.signal === undefined && outcome.reason === 'Error';

export const oneLine = (words: string, length = MAX_LINE_LENGTH): string =>
  shorten(words.replace(/\s+/g, ' '), Math.max(1, length));

/** The second line of a card: what to do next, why it waits, why somebody wants it, or how it was decided. */
export function cardLine(run: Run, isPrivate = false): readonly Span[] {
  switch (run.state) {
    case 'finished':
      return isPrivate ? goesSpans(run, '.') : finishedSpans(run);
    case 'denied':
      return run.refusal ? [text(oneLine(`${sentence(run.refusal.message)} ${run.refusal.hint}`))] : [];
    case 'rejected':
      return rejectionSpans(run);
    case 'cancelled':
      return [person(run.origin.requesterId), text(' withdrew it. Nothing was started.')];
    case 'expired':
      return [text(`${sentence(whyExpired(run.approval))} Ask again when an approver is around.`)];
    default:
      return waitingSpans(run) ?? comingSpans(run, isPrivate);
  }
}

function finishedSpans(run: Run): readonly Span[] {
  const next = secondLine(run);
  return next.length > 0 ? next : checkedLine(run.verdict);
}

function waitingSpans({ state, waiting }: Run): readonly Span[] | undefined {
  if (state !== 'starting' || !waiting) return undefined;
  const { reason, message } = waiting;
  return [code(reason), text(oneLine(`: ${visible(message)}`, MAX_LINE_LENGTH - reason.length))];
}

/** Why somebody wants it, else when the result comes. */
function comingSpans(run: Run, isPrivate: boolean): readonly Span[] {
  const { state, plan } = run;
  if (plan?.reason !== undefined) return whySpans(plan.reason);
  if (!plan) return [];
  const soonest = state === 'collecting' ? 'soon' : `in at most ${formatDuration(plan.timeoutMs)}`;
  return isPrivate ? goesSpans(run, `, ${soonest}.`) : [text(`The result comes in this thread, ${soonest}.`)];
}

/** Whether the second line of a private run's card says who gets the result. */
export function saysWhereItGoes(run: Run): boolean {
  if (run.state === 'finished') return true;
  const isDecided = DECIDED_AGAINST.has(run.state);
  return !isDecided && run.plan !== undefined && run.plan.reason === undefined && waitingSpans(run) === undefined;
}

const DECIDED_AGAINST: ReadonlySet<Run['state']> = new Set(['denied', 'rejected', 'cancelled', 'expired']);

/** Where the result goes if the channel must not see it. */
const goesSpans = ({ origin }: Run, end: string): readonly Span[] => [
  text('The result goes to '),
  person(origin.requesterId),
  text(` by direct message${end}`),
];

/** Of several approvals that the rule wants, some may have come. */
export function whyExpired(approval: Run['approval']): string {
  const approved = (approval?.votes ?? []).filter(({ kind }) => kind === 'approve').length;
  return approved === 0 ? 'nobody approved it in time' : `${approved} of ${approval?.count} approvals came in time`;
}

function rejectionSpans({ approval }: Run): readonly Span[] {
  const last = approval?.votes.at(-1);
  if (!last) return [];
  const why = last.reason === undefined ? [text('.')] : [text(': '), ...typedText(oneLine(visible(last.reason), 90))];
  return [person(last.userId), text(' rejected it'), ...why];
}

/** How much an image looked at without finding anything. */
function checkedLine(verdict: Verdict | undefined): readonly Span[] {
  const fine = verdict?.fine?.split(', ') ?? [];
  if (fine.length === 0) return [];
  const named = fine.slice(0, 3).join(', ');
  const more = fine.length > 3 ? ` and ${fine.length - 3} more` : '';
  return [text(oneLine(`Checked: ${named}${more}.`))];
}

const WHY = 'Why: ';
/** The reason in one line; `isWhole` tells whether all of it fits. */
export const whySpans = (reason: string): readonly Span[] => [
  strong('Why:'),
  text(' '),
  ...typedText(oneLine(visible(reason), MAX_LINE_LENGTH - WHY.length)),
];
export const isWhole = (reason: string): boolean => visible(reason).length <= MAX_LINE_LENGTH - WHY.length;
