import { formatCount, formatDuration, shortDuration } from '../../../lib/duration.ts';
import { visible } from '../../../lib/invisible.ts';
import type { Batch } from '../../batch/batch.ts';
import { withoutOutput } from '../../batch/pod-result.ts';
import { type Counts, columnsOf, countPods, matchedOf } from '../../batch/pod-state.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import { code, type Message, type Part, paragraph, person, type Span, text, time } from '../message/message.ts';
import { quietPerson, typedCommand } from '../message/typed-text.ts';
import { type Approvers, approvalParts } from '../parts/approval-parts.ts';
import { headlineOf, oneLine, toneOf } from '../parts/headline.ts';
import { APPROVAL_NEEDED, OUTPUT_IS_PRIVATE } from '../parts/outcome-text.ts';
import { wholeReason } from '../parts/request-parts.ts';
import { GROUPS_ON_CARD, groupsList } from '../parts/result-parts.ts';
import { answerLine, cardLine, firstLine, nameOf, whySpans } from '../parts/run-lines.ts';
import { buttonsPart } from './batch-buttons.ts';
import { accessFacts, approverParts, scopeFacts, shownName, skippedText } from './batch-facts.ts';
import { type BatchHeadline, batchHeadline, batchReason, isDecided } from './batch-headline.ts';
import { comparisonParts, isComparison } from './compare-parts.ts';
import { groupsPart, shownGroups } from './group-parts.ts';

export interface BatchRenderContext {
  readonly nowMs: number;
  readonly approvers: Approvers;
  readonly requesterName?: string;
  /** Results and logs are for the requester alone: the dashboard shows none of them. */
  readonly isPrivate?: boolean;
}

/**
 * The root message of a batch, rendered from its record alone: the card while it waits for an approval, the dashboard
 * while it runs, the verdict at the end. Its size does not grow with the batch; rendering ten thousand pods takes a few
 * milliseconds.
 */
export function batchMessage(given: BatchRun, context: BatchRenderContext): Message {
  const run = context.isPrivate ? withoutAnswer(given) : given;
  const counts = countPods(run.batch);
  const look = batchHeadline(run, counts, context.nowMs);
  const { tone, spans, words, rest } = (isDecided(run) ? answerHead(run, look) : undefined) ?? { ...look, rest: [] };
  return {
    summary: summaryOf(run, words),
    tone,
    notification: notificationOf(run, words),
    parts: [
      { kind: 'paragraph', spans },
      ...(isDecided(run) ? dashboardParts(run, counts, { ...context, rest }) : cardParts(run, context)),
      { kind: 'note', spans: noteSpans(run, counts, context) },
    ],
  };
}

interface AnswerHead extends BatchHeadline {
  /** Below the buttons: the groups of pods, and what the looks into them say. */
  readonly rest: readonly Part[];
}

/** Where the batch looks into pods of a workload that was asked about, what is known of all its pods comes first. */
function answerHead(run: BatchRun, look: BatchHeadline): AnswerHead | undefined {
  const { verdict } = run;
  const headline = headlineOf(verdict);
  if (!verdict || headline === undefined) return undefined;
  return {
    tone: toneOf(verdict, look.tone),
    spans: firstLine(run, headline),
    words: `${nameOf(run)}: ${headline}`,
    rest: [...groupsList(verdict, GROUPS_ON_CARD), paragraph(look.spans)],
  };
}

function withoutAnswer({ verdict: _, ...run }: BatchRun): BatchRun {
  return { ...run, batch: withoutOutput(run.batch) };
}

const paragraphs = (spans: readonly Span[]): readonly Part[] => (spans.length === 0 ? [] : [paragraph(spans)]);

function summaryOf({ state, plan }: BatchRun, words: string): string {
  if (state !== 'pending-approval') return words;
  return `${APPROVAL_NEEDED}: ${words}${plan.reason === undefined ? '' : `: ${visible(plan.reason)}`}`;
}

/** The answer, the pods and the person. */
function notificationOf({ state, plan, origin }: BatchRun, words: string): readonly Span[] {
  if (state !== 'pending-approval') return [text(`${words}, for `), person(origin.requesterId)];
  const why = plan.reason === undefined ? '' : `: ${visible(plan.reason)}`;
  return [text(`${APPROVAL_NEEDED}: `), person(origin.requesterId), text(`, ${words}${why}`)];
}

/** Why, with which power, who decides and by when, the buttons; then which pods. Once decided, how. */
function cardParts(run: BatchRun, { approvers, nowMs }: BatchRenderContext): readonly Part[] {
  const { reason } = run.plan;
  const isPending = run.state === 'pending-approval';
  const why = isPending ? (reason === undefined ? [] : whySpans(reason)) : cardLine(run);
  return [
    ...paragraphs(why),
    ...paragraphs(answerLine(run)),
    ...(isPending ? approverParts(run) : [{ kind: 'facts', facts: accessFacts(run) } as const]),
    ...approvalParts(run, approvers, nowMs),
    ...wholeReason(run.plan),
    { kind: 'facts', facts: scopeFacts(run) },
  ];
}

interface DashboardContext extends BatchRenderContext {
  readonly rest: readonly Part[];
}

function dashboardParts(run: BatchRun, counts: Counts, context: DashboardContext): readonly Part[] {
  const { approvers, nowMs, rest } = context;
  const { batch } = run;
  const isCompared = isComparison(run) && batch.endedAtMs !== undefined;
  const groups = shownGroups(run);
  const isOver = batch.endedAtMs !== undefined;
  const { spans, group } = isOver || batch.closed ? batchReason(run, groups) : { spans: pauseSpans(batch, nowMs) };
  if (rest.length > 0) {
    return [
      ...paragraphs(cardLine(run)),
      ...buttonsPart(run, counts),
      ...rest,
      ...paragraphs(spans),
      ...groupsPart(groups, { except: group }),
      ...approvalParts(run, approvers, nowMs),
    ];
  }
  return [
    ...(isOver ? [] : [countsPart(counts)]),
    ...(isCompared ? comparisonParts(run, buttonsPart(run, counts)) : []),
    ...paragraphs(spans),
    ...(isCompared ? [] : buttonsPart(run, counts)),
    ...groupsPart(groups, { except: group }),
    ...approvalParts(run, approvers, nowMs),
  ];
}

/** The counts of pods in words: they fit a line of a phone, and a screen reader reads them. */
function countsPart(counts: Counts): Part {
  const { succeed, failed, running, waiting } = columnsOf(counts);
  const counted = (count: number, words: string): string => `${count.toLocaleString('en-US')} ${words}`;
  const words = [
    counted(succeed, 'succeeded'),
    counted(failed, 'failed'),
    counted(running, 'running'),
    counted(waiting, 'waiting'),
  ];
  return { kind: 'paragraph', spans: [text(`Runs: ${words.join(' · ')}`)] };
}

/** `local · Roy · 3 at a time · 8 pods matched · for 12 s · batch id`. What a person typed comes last. */
function noteSpans(
  run: BatchRun,
  counts: Counts,
  { nowMs, requesterName, isPrivate }: BatchRenderContext,
): readonly Span[] {
  const { batch, plan, origin } = run;
  const skipped = skippedText(batch, counts);
  const after = [
    ...(isDecided(run) && batch.endedAtMs === undefined ? [`${batch.parallelism} at a time`] : []),
    ...(isDecided(run) ? [`${formatCount(matchedOf(counts), 'pod')} matched`] : []),
    ...(skipped === undefined ? [] : [skipped]),
    ...(isDecided(run) ? [timeWords(batch, nowMs)] : []),
    `batch ${run.id}`,
  ];
  return [
    text(`${plan.cluster} · `),
    quietPerson(origin.requesterId, requesterName),
    text(` · ${after.filter((words) => words !== '').join(' · ')}${isPrivate ? OUTPUT_IS_PRIVATE : ''} · `),
    code(oneLine(typedCommand(run))),
  ];
}

/** The time since the creation while it goes on; then from the first launch, as the request may have waited for an approval. */
function timeWords({ createdAtMs, firstLaunchAtMs, endedAtMs }: Batch, nowMs: number): string {
  if (endedAtMs === undefined) return `for ${formatDuration(Math.floor((nowMs - createdAtMs) / 1_000) * 1_000)}`;
  return firstLaunchAtMs === undefined ? '' : `took ${shortDuration(endedAtMs - firstLaunchAtMs)}`;
}

/** Why no more pods start now, or until when they may. */
function pauseSpans(batch: Batch, nowMs: number): readonly Span[] {
  const { paused, canary, ttlMs, createdAtMs } = batch;
  if (paused) return [text('Paused by '), person(paused.byUserId), text(', '), time(paused.atMs)];
  if (canary === 'waiting') return canarySpans(batch);
  return ttlMs === undefined || nowMs >= createdAtMs + ttlMs ? [] : [text('Finishes by '), time(createdAtMs + ttlMs)];
}

function canarySpans({ pods }: Batch): readonly Span[] {
  const first = pods.find(({ launchedAtMs }) => launchedAtMs !== undefined);
  const end = first?.state === 'succeeded' ? ' succeeded. Click Continue' : ' failed. Click Continue anyway';
  return [text('The run on the canary '), code(shownName(first?.name ?? '')), text(`${end} to start the others.`)];
}
