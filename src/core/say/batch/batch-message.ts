import { formatCount, formatDuration, shortDuration } from '../../../lib/duration.ts';
import { visible } from '../../../lib/invisible.ts';
import type { Batch } from '../../batch/batch.ts';
import { withoutOutput } from '../../batch/pod-result.ts';
import { type Counts, columnsOf, countPods, matchedOf } from '../../batch/pod-state.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import { dotted, facts, line, message, note, paragraph, type Shown } from '../message/line.ts';
import { code, type Message, type Part, person, quietPerson, type Span, time } from '../message/message.ts';
import { typedCommand } from '../message/typed-text.ts';
import { type Approvers, approvalParts, decidedOn } from '../parts/approval-parts.ts';
import { headlineOf, oneLine, toneOf } from '../parts/headline.ts';
import { APPROVAL_NEEDED, OUTPUT_IS_PRIVATE } from '../parts/outcome-text.ts';
import { wholeReason } from '../parts/request-parts.ts';
import { changedNote, GROUPS_ON_CARD, groupsList } from '../parts/result-parts.ts';
import { answerLine, cardLine, firstLine, nameOf, whySpans } from '../parts/run-lines.ts';
import { buttonsPart } from './batch-buttons.ts';
import { accessFacts, approverParts, scopeFacts, shownName, skippedText } from './batch-facts.ts';
import { type BatchHeadline, batchHeadline, batchReason, isDecided } from './batch-headline.ts';
import { comparisonParts, isComparison } from './compare-parts.ts';
import { groupsPart, shownGroups } from './group-parts.ts';

export interface BatchRenderContext {
  readonly nowMs: number;
  readonly approvers: Approvers;
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
  const batchHead = batchHeadline(run, counts, context.nowMs);
  const { tone, spans, words, rest } = (isDecided(run) ? answerHead(run, batchHead) : undefined) ?? {
    ...batchHead,
    rest: undefined,
  };
  const frame = { summary: summaryOf(run, words), notification: notificationOf(run, words), tone };
  return message(
    { ...frame, decidedOn: [decidedOn(run, context), run.state === 'pending-approval' && facts(scopeFacts(run))] },
    [
      paragraph`${spans}`,
      isDecided(run) ? dashboardParts(run, counts, { ...context, rest }) : cardParts(run, context),
      note`${noteSpans(run, counts, context)}`,
    ],
  );
}

interface AnswerHead extends BatchHeadline {
  /** Below the buttons: the groups of pods, and what the looks into them say. */
  readonly rest: Shown;
}

/** If the batch looks into pods of a workload that was asked about, the facts about all its pods come first. */
function answerHead(run: BatchRun, batchHead: BatchHeadline): AnswerHead | undefined {
  const { verdict } = run;
  const headline = headlineOf(verdict);
  if (!verdict || headline === undefined) return undefined;
  return {
    tone: toneOf(verdict, batchHead.tone),
    spans: firstLine(run, headline),
    words: `${nameOf(run)}: ${headline}`,
    rest: [groupsList(verdict, GROUPS_ON_CARD), paragraph`${batchHead.spans}`, changedNote(verdict)],
  };
}

function withoutAnswer({ verdict: _, ...run }: BatchRun): BatchRun {
  return { ...run, batch: withoutOutput(run.batch) };
}

function summaryOf({ state, plan }: BatchRun, words: string): string {
  if (state !== 'pending-approval') return words;
  return `${APPROVAL_NEEDED}: ${words}${plan.reason === undefined ? '' : `: ${visible(plan.reason)}`}`;
}

/** The answer, the pods and the person. */
function notificationOf({ state, plan, origin }: BatchRun, words: string): readonly Span[] {
  const requester = person(origin.requesterId);
  if (state !== 'pending-approval') return line`${words}, for ${requester}`;
  const why = plan.reason !== undefined && `: ${visible(plan.reason)}`;
  return line`${APPROVAL_NEEDED}: ${requester}, ${words}${why}`;
}

/**
 * The card shows the reason, the power, the approvers with their deadline, and the buttons; then the pods. Once
 * decided, it shows the decision.
 */
function cardParts(run: BatchRun, context: BatchRenderContext): Shown {
  const { reason } = run.plan;
  const isPending = run.state === 'pending-approval';
  const why = isPending ? reason !== undefined && whySpans(reason) : cardLine(run);
  return [
    paragraph`${why}`,
    paragraph`${answerLine(run)}`,
    isPending ? approverParts(run) : facts(accessFacts(run)),
    approvalParts(run, context),
    wholeReason(run.plan),
    facts(scopeFacts(run)),
  ];
}

interface DashboardContext extends BatchRenderContext {
  readonly rest: Shown;
}

function dashboardParts(run: BatchRun, counts: Counts, context: DashboardContext): Shown {
  const { nowMs, rest } = context;
  const { batch } = run;
  const isCompared = isComparison(run) && batch.endedAtMs !== undefined;
  const groups = shownGroups(run);
  const isOver = batch.endedAtMs !== undefined;
  const { spans, group } = isOver || batch.closed ? batchReason(run, groups) : { spans: pauseSpans(batch, nowMs) };
  const buttons = buttonsPart(run, counts);
  const head = rest
    ? [paragraph`${cardLine(run)}`, buttons, rest, paragraph`${spans}`]
    : [
        !isOver && countsPart(counts),
        isCompared && comparisonParts(run, buttons),
        paragraph`${spans}`,
        !isCompared && buttons,
      ];
  return [head, groupsPart(groups, { except: group }), approvalParts(run, context)];
}

/** The counts of pods in words: they fit a line of a phone, and a screen reader reads them. */
function countsPart(counts: Counts): Part {
  const { succeed, failed, running, waiting } = columnsOf(counts);
  const counted = (count: number, words: string): string => `${count.toLocaleString('en-US')} ${words}`;
  return paragraph`Runs: ${dotted([
    counted(succeed, 'succeeded'),
    counted(failed, 'failed'),
    counted(running, 'running'),
    counted(waiting, 'waiting'),
  ])}`;
}

/** `local · Roy · 3 at a time · 8 pods matched · for 12 s · batch id`. What a person typed comes last. */
function noteSpans(run: BatchRun, counts: Counts, { nowMs, isPrivate }: BatchRenderContext): readonly Span[] {
  const { batch, plan, origin } = run;
  return dotted([
    plan.cluster,
    quietPerson(origin.requesterId),
    isDecided(run) && batch.endedAtMs === undefined && `${batch.parallelism} at a time`,
    isDecided(run) && `${formatCount(matchedOf(counts), 'pod')} matched`,
    skippedText(batch, counts),
    isDecided(run) && timeWords(batch, nowMs),
    line`batch ${run.id}${isPrivate && OUTPUT_IS_PRIVATE}`,
    code(oneLine(typedCommand(run))),
  ]);
}

/** The time since the creation while it goes on; then from the first launch, as the request may have waited for an approval. */
function timeWords({ createdAtMs, firstLaunchAtMs, endedAtMs }: Batch, nowMs: number): string {
  if (endedAtMs === undefined) return `for ${formatDuration(Math.floor((nowMs - createdAtMs) / 1_000) * 1_000)}`;
  return firstLaunchAtMs === undefined ? '' : `took ${shortDuration(endedAtMs - firstLaunchAtMs)}`;
}

/** Says why no more pods start now, or until when they may. */
function pauseSpans(batch: Batch, nowMs: number): readonly Span[] {
  const { paused, canary, ttlMs, createdAtMs } = batch;
  if (paused) return line`Paused by ${person(paused.byUserId)}, ${time(paused.atMs)}`;
  if (canary === 'waiting') return canarySpans(batch);
  return ttlMs === undefined || nowMs >= createdAtMs + ttlMs ? [] : line`Finishes by ${time(createdAtMs + ttlMs)}`;
}

function canarySpans({ pods }: Batch): readonly Span[] {
  const first = pods.find(({ launchedAtMs }) => launchedAtMs !== undefined);
  const end = first?.state === 'succeeded' ? 'succeeded. Click Continue' : 'failed. Click Continue anyway';
  return line`The run on the canary ${code(shownName(first?.name ?? ''))} ${end} to start the others.`;
}
