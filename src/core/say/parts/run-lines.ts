import { afterWords, formatCount, formatDuration, shortDuration } from '../../../lib/duration.ts';
import { visible } from '../../../lib/invisible.ts';
import { sentence, shorten } from '../../../lib/text.ts';
import { targetWords } from '../../command/print.ts';
import type { Verdict, VerdictFinding } from '../../diagnosis/facts/verdict.ts';
import { LINE_LENGTH } from '../../line-lengths.ts';
import type { Outcome } from '../../outcome.ts';
import type { Refusal } from '../../request/origin.ts';
import { isUnattended } from '../../run/life-cycle.ts';
import type { Run } from '../../run/run.ts';
import { line } from '../message/line.ts';
import { code, person, quietPerson, type Span, strong, type Tone } from '../message/message.ts';
import { typedCommand, typedText } from '../message/typed-text.ts';
import {
  endHeadlineOf,
  endToneOf,
  firstLineOf,
  headlineOf,
  leadingFinding,
  oneLine,
  saysWorst,
  sentencesIn,
  toneOf,
  unseenWords,
  verdictTone,
  withoutIds,
} from './headline.ts';
import { lookWords } from './look-lines.ts';
import {
  armedOf,
  describeEnd,
  describeOutcome,
  happenedSpans,
  type OutcomeText,
  STATE_TEXT,
  stateWords,
} from './outcome-text.ts';
import { durationOf } from './result-parts.ts';

function podOf({ plan, request: { target }, commandLine, alert }: Run): string {
  if (plan) return plan.podName;
  if (alert?.problem) return alert.subject === '' ? alert.name : alert.subject;
  return target.kind === 'pod' ? target.name : commandLine;
}

/** The subject of the headline: the pod, or the workload if the verdict is about all its pods. */
export const nameOf = (run: Run): string =>
  run.verdict?.groups === undefined ? podOf(run) : targetWords(run.request.target).join(' ');

/** `shop/web-1`, or `8 pods of shop` for a batch. */
export function subjectOf(run: Run): string {
  const { plan, batch } = run;
  if (!plan) return podOf(run);
  return batch ? `${formatCount(batch.pods.length, 'pod')} of ${plan.namespace}` : `${plan.namespace}/${nameOf(run)}`;
}

/** Its name says how many alerts there are, and where: none of it is left out. */
export const isOfStorm = ({ alert }: Run): boolean => alert?.problem?.code === 'alert_storm';

/** `*web-1*: memory at 95% of its limit`. */
export function firstLine(run: Run, headline: string): readonly Span[] {
  const name = nameOf(run);
  if (isOfStorm(run)) return line`${strong(name)}: ${headline}`;
  return firstLineOf(name, headline.startsWith(`${name}: `) ? headline.slice(name.length + 2) : headline);
}

export interface CardHead {
  readonly tone: Tone;
  readonly headline: string;
  /** The verdict is the headline. */
  readonly isVerdict?: true;
  /** The end or the progress of the run, if the verdict is the headline. */
  readonly besides?: string | undefined;
}

/** The answer on a run's card. If the output is private, nothing of it gives the verdict away. */
export function headOf(run: Run, nowMs: number, isPrivate: boolean): CardHead {
  if (run.state === 'finished' && run.outcome) return endOf(run, run.outcome, isPrivate);
  if (run.state === 'denied' && isUnattended(run))
    return { tone: 'attention', headline: isOfStorm(run) ? 'shown in this thread, not looked at' : 'Not diagnosed' };
  const { tone } = STATE_TEXT[run.state];
  const headline = stateWords(run);
  const answer = isPrivate ? undefined : answerSoFar(run, tone);
  if (answer !== undefined) {
    return { tone: toneOf(run.verdict, tone), headline: answer, isVerdict: true, besides: lookWords(run, nowMs) };
  }
  const sinceMs = run.startedAtMs ?? run.launchedAtMs;
  const age = sinceMs === undefined || run.state === 'denied' ? '' : ` · ${formatDuration(nowMs - sinceMs)}`;
  return { tone, headline: `${headline}${age}` };
}

/** What a first answer found well is no news beside a watch that waits for trouble. */
function answerSoFar(run: Run, tone: Tone): string | undefined {
  const isQuietWatch = armedOf(run) !== undefined && toneOf(run.verdict, tone) === tone;
  return isQuietWatch || DECIDED_AGAINST.has(run.state) ? undefined : headlineOf(run.verdict);
}

/** Uses the tone and words of the result, so that the channel never shows a tick and the thread a warning. */
function endOf(run: Run, outcome: Outcome, isPrivate: boolean): CardHead {
  const { verdict, late: endedLate } = run;
  const { tone, title } = describeOutcome(outcome);
  const hidesVerdict = isPrivate && verdict !== undefined && outcome.kind === 'succeeded';
  const isAnswered = outcome.kind === 'answered';
  const duration = durationOf(run);
  const after = duration === undefined || !RAN.has(outcome.kind) ? '' : ` ${afterWords(duration)}`;
  const ended = `${hidesVerdict ? 'Finished' : title}${after}${endedLate ? ', after kdebug had stopped waiting' : ''}`;
  if (isPrivate) return { tone, headline: ended };
  const headline = endHeadlineOf(run);
  if (headline === undefined) return { tone: endToneOf(run, tone), headline: ended };
  const besides = isAnswered ? lookWords(run, 0) : besidesOf(outcome, ended, duration, endedLate);
  return { tone: toneOf(verdict, tone), headline, isVerdict: true, besides };
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

/** The next step, else the reason: the second line of a card and, longer, of a result. May be empty. */
export function secondLine(run: Run, length = LINE_LENGTH): readonly Span[] {
  const { outcome, verdict } = run;
  const leading = verdict && leadingFinding(verdict);
  if (leading && showsVerdict(run)) return worstSpans(verdict, leading, length);
  if (!outcome || outcome.kind === 'succeeded' || outcome.kind === 'answered') return [];
  const words = describeEnd(outcome, run);
  const why = nextOrWhy(run, words);
  return why === words.happened && why === sentencesIn(why) ? happenedSpans(outcome) : line`${sentencesIn(why)}`;
}

function worstSpans(verdict: Verdict, { text: found, limit, next }: VerdictFinding, length: number): readonly Span[] {
  const bold = saysWorst(verdict) ? '' : shorten(found, LINE_LENGTH - 2);
  const before = bold === '' ? '' : '. ';
  const room = length - bold.length - before.length;
  const advice = sentencesIn(next, room);
  const step = bold !== '' && advice.endsWith('…') ? '' : advice;
  const threshold = limit === undefined ? '' : ` Threshold: ${limit}.`;
  const words = step.length + threshold.length > room ? step : `${step}${threshold}`.trimStart();
  return line`${bold !== '' && strong(bold)}${`${before}${words}`.trimEnd()}`;
}

/** A log without lines has no last ones to check; the title of a plain failure says all of it. */
function nextOrWhy(run: Run, { next, happened }: OutcomeText): string {
  if (failedSilently(run)) return run.outcome && saysNoMore(run.outcome) ? '' : happened;
  return next === '' || run.outcome?.kind === 'timed-out' ? happened : next;
}

const failedSilently = ({ outcome, log }: Run): boolean => outcome?.kind === 'failed' && log?.bytes === 0;

/** The part of an outcome that the two lines leave out: the cluster's own words, or how it came about. */
export function restOfOutcome(run: Run): string | undefined {
  if (!run.outcome) return undefined;
  const words = describeEnd(run.outcome, run);
  if (SAYS_ALL.has(run.outcome.kind) || saysNoMore(run.outcome) || isWatchedToTheEnd(run)) return undefined;
  const [worst] = run.verdict?.findings ?? [];
  const shown = worst && showsVerdict(run) ? '' : sentencesIn(nextOrWhy(run, words));
  const rest = [words.happened, failedSilently(run) ? '' : words.next].filter((one) => one !== '' && one !== shown);
  return rest.length === 0 ? undefined : rest.join(' ');
}

const SAYS_ALL: ReadonlySet<Outcome['kind']> = new Set(['succeeded', 'answered']);

/** The verdict on a second run says that nobody can stop it. */
const isWatchedToTheEnd = ({ plan, outcome }: Run): boolean =>
  plan?.onceMore !== undefined && outcome?.kind === 'timed-out';

/** The title has the exit code, and `Error` is every program's reason. */
const saysNoMore = (outcome: Outcome): boolean =>
  outcome.kind === 'failed' && outcome.signal === undefined && outcome.reason === 'Error';

/** The second line of a card: what to do next, why it waits, why somebody wants it, or how it was decided. */
export function cardLine(run: Run, isPrivate = false): readonly Span[] {
  switch (run.state) {
    case 'finished':
      return isPrivate ? goesSpans(run, '.') : finishedSpans(run);
    case 'denied':
      return run.refusal ? line`${sentencesIn(refusalWords(run.refusal))}` : [];
    case 'rejected':
      return rejectionSpans(run);
    case 'cancelled':
      return line`${person(run.origin.requesterId)} withdrew it. Nothing was started.`;
    case 'expired':
      return line`${sentence(whyExpired(run.approval))} Ask again when an approver is around.`;
    default:
      if (!isPrivate && run.verdict?.line !== undefined) return finishedSpans(run);
      return waitingSpans(run) ?? comingSpans(run, isPrivate);
  }
}

const refusalWords = ({ message, hint }: Refusal): string => `${sentence(message)} ${hint}`;

/** What the second line leaves out of a refusal: for an alert, nobody reads it elsewhere. */
export function restOfRefusal({ state, refusal }: Run): string | undefined {
  const words = refusal && state === 'denied' ? refusalWords(refusal) : '';
  const shown = sentencesIn(words);
  return shown.endsWith('…') ? words : words.slice(shown.length).trim();
}

function finishedSpans(run: Run): readonly Span[] {
  const next = secondLine(run);
  return next.length > 0 || !showsVerdict(run) ? next : checkedLine(run.verdict);
}

/** The first line says the verdict, or the second one explains an outcome with it. */
const showsVerdict = (run: Run): boolean =>
  run.state !== 'finished' || run.verdict?.line === undefined || endHeadlineOf(run) !== undefined;

/** The answer that a request got before people decided on it: `Found already: web exited with code 1`. */
export function answerLine({ verdict }: Run): readonly Span[] {
  const headline = headlineOf(verdict);
  if (headline === undefined) return [];
  const lead = 'Found already:';
  return line`${strong(lead)} ${oneLine(headline, LINE_LENGTH - lead.length - 1)}`;
}

function waitingSpans({ state, waiting }: Run): readonly Span[] | undefined {
  if (state !== 'starting' || !waiting) return undefined;
  const { reason, message } = waiting;
  return line`${code(reason)}${oneLine(`: ${withoutIds(visible(message))}`, LINE_LENGTH - reason.length)}`;
}

/** The requester's reason, else the time at which the result comes. */
function comingSpans(run: Run, isPrivate: boolean): readonly Span[] {
  const { state, plan } = run;
  if (plan?.reason !== undefined) return whySpans(plan.reason);
  if (!plan) return [];
  const soonest = state === 'collecting' ? 'soon' : `in at most ${formatDuration(plan.timeoutMs)}`;
  return isPrivate ? goesSpans(run, `, ${soonest}.`) : line`The result comes in this thread, ${soonest}.`;
}

/** The second line of a private run's card says who gets the result. */
export function saysWhereItGoes(run: Run): boolean {
  if (run.state === 'finished') return true;
  const isDecided = DECIDED_AGAINST.has(run.state);
  return !isDecided && run.plan !== undefined && run.plan.reason === undefined && waitingSpans(run) === undefined;
}

const DECIDED_AGAINST: ReadonlySet<Run['state']> = new Set(['denied', 'rejected', 'cancelled', 'expired']);

/** The destination of the result if the channel must not see it. */
const goesSpans = ({ origin }: Run, end: string): readonly Span[] =>
  line`The result goes to ${quietPerson(origin.requesterId)} by direct message${end}`;

/** Of several approvals that the rule wants, some may have come. */
export function whyExpired(approval: Run['approval']): string {
  const approved = (approval?.votes ?? []).filter(({ kind }) => kind === 'approve').length;
  return approved === 0 ? 'nobody approved it in time' : `${approved} of ${approval?.count} approvals came in time`;
}

function rejectionSpans({ approval }: Run): readonly Span[] {
  const last = approval?.votes.at(-1);
  if (!last) return [];
  const why = last.reason === undefined ? '.' : line`: ${typedText(oneLine(visible(last.reason), 90))}`;
  return line`${person(last.userId)} rejected it${why}`;
}

/** For an answer without findings: the parts that were not checked, else the number of those that were. */
function checkedLine(verdict: Verdict | undefined): readonly Span[] {
  if (verdict?.line === undefined || verdictTone(verdict) !== 'success') return verdict ? notCheckedLine(verdict) : [];
  const fine = verdict.fine?.split(', ') ?? [];
  if (fine.length === 0) return [];
  const named = fine.slice(0, 3).join(', ');
  const more = fine.length > 3 ? ` and ${fine.length - 3} more` : '';
  return line`${oneLine(`Checked: ${named}${more}.`)}`;
}

function notCheckedLine(verdict: Verdict): readonly Span[] {
  const lead = 'Not checked:';
  const unseen = unseenWords(verdict);
  if (unseen === '') return [];
  return line`${strong(lead)} ${oneLine(unseen.replace(/\.?$/, '.'), LINE_LENGTH - lead.length - 1)}`;
}

/** What a person typed, if it says more than the plan. */
export function ownWords(run: Run): Span | false {
  const { plan } = run;
  const isPlain = plan?.command.length === 0 && plan.reason === undefined && plan.label === undefined;
  return !isPlain && run.commandLine !== '' && code(oneLine(typedCommand(run)));
}

const WHY = 'Why: ';
/** The reason in one line; `isWhole` tells whether all of it fits. */
export const whySpans = (reason: string): readonly Span[] =>
  line`${strong('Why:')} ${typedText(oneLine(visible(reason), LINE_LENGTH - WHY.length))}`;
export const isWhole = (reason: string): boolean => visible(reason).length <= LINE_LENGTH - WHY.length;
