import { formatCount, formatDuration, shortDuration } from '../../../lib/duration.ts';
import { visible } from '../../../lib/visible.ts';
import type { Batch } from '../../batch/batch.ts';
import { groupResults, paceOf } from '../../batch/pod-result.ts';
import { type Counts, countPods, endedOf, matchedOf, statusOf } from '../../batch/pod-state.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import type { RunState } from '../../run/run.ts';
import { code, type Message, type Part, person, type Span, strong, type Tone, text, time } from '../message.ts';
import { APPROVAL_NEEDED, OUTPUT_IS_PRIVATE, STATE_TEXT } from '../outcome-text.ts';
import { type Approvers, approvalParts } from '../parts/approval-parts.ts';
import { typedCommand } from '../typed-text.ts';
import { buttonsPart } from './batch-buttons.ts';
import {
  approverParts,
  batchFacts,
  countsPart,
  RECORD_LOST,
  STATUS_TEXT,
  shownName,
  skippedText,
} from './batch-facts.ts';
import { groupsPart } from './result-message.ts';

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
export function batchMessage(run: BatchRun, { nowMs, approvers, isPrivate = false }: BatchRenderContext): Message {
  const { batch, origin } = run;
  const counts = countPods(batch);
  const { headline, tone } = headOf(run, counts);
  return {
    summary: summaryOf(run, headline, counts),
    tone,
    parts: [
      { kind: 'paragraph', spans: [strong(headline), text('  '), code(typedCommand(run))] },
      ...(isDecided(run) ? progressParts(batch, counts, nowMs) : []),
      { kind: 'facts', facts: batchFacts(run) },
      ...approverParts(run),
      ...approvalParts(run, approvers, nowMs),
      ...pauseOrEndPart(batch, nowMs),
      ...groupsPart(groupResults(batch), isPrivate),
      ...skippedPart(batch, counts),
      ...buttonsPart(run, counts),
      {
        kind: 'note',
        spans: [
          text('Asked by '),
          person(origin.requesterId),
          text(` · batch ${run.id}${isPrivate ? OUTPUT_IS_PRIVATE : ''}`),
        ],
      },
    ],
  };
}

function summaryOf({ state, batch, plan }: BatchRun, headline: string, counts: Counts): string {
  const subject = `${imagesOf(batch)} on ${formatCount(matchedOf(counts), 'pod')} of ${plan.namespace}`;
  if (state !== 'pending-approval') return `${headline}: ${subject}`;
  return `${APPROVAL_NEEDED}: ${subject}${plan.reason === undefined ? '' : `: ${visible(plan.reason)}`}`;
}

/** Whether it was allowed or approved. */
const isDecided = ({ state }: BatchRun): boolean => !UNDECIDED.has(state);

const UNDECIDED: ReadonlySet<RunState> = new Set([
  'received',
  'denied',
  'pending-approval',
  'rejected',
  'expired',
  'cancelled',
]);

const imagesOf = ({ variants }: Batch): string => (variants[0] ?? []).map(({ imageAlias }) => imageAlias).join(', ');

function headOf(run: BatchRun, counts: Counts): { readonly headline: string; readonly tone: Tone } {
  if (!isDecided(run)) return STATE_TEXT[run.state];
  const { batch } = run;
  const { tone, words } = STATUS_TEXT[statusOf(batch, counts)];
  if (batch.endedAtMs !== undefined) {
    return {
      tone,
      headline: `${words}: ${counts.succeeded.toLocaleString('en-US')} of ${formatCount(matchedOf(counts) - counts.skipped, 'pod')}`,
    };
  }
  if (batch.closed) {
    return { tone, headline: `Finishing: ${formatCount(counts.starting + counts.running, 'pod')} still running` };
  }
  const isLookedAt = batch.canary === 'waiting' && !batch.paused;
  return isLookedAt ? { tone: 'attention', headline: 'Canary finished: review it' } : { tone, headline: words };
}

function progressParts(batch: Batch, counts: Counts, nowMs: number): readonly Part[] {
  const all = matchedOf(counts) - counts.skipped;
  const pace = paceOf(batch, counts, nowMs);
  const rate = pace ? `\n${rateText(pace.perMinute)}` : '';
  const left = leftText(counts, pace?.leftMs);
  const done = endedOf(counts) + counts.cancelled;
  return [
    {
      kind: 'paragraph',
      spans: [
        text(`${done.toLocaleString('en-US')} of ${formatCount(all, 'pod')} done${left}${tookText(batch)}${rate}`),
      ],
    },
    countsPart(batch, counts, nowMs),
  ];
}

/** From the first launch, as in the result: the request itself may have waited for an approval. */
function tookText({ firstLaunchAtMs, endedAtMs }: Batch): string {
  return firstLaunchAtMs === undefined || endedAtMs === undefined
    ? ''
    : ` · took ${shortDuration(endedAtMs - firstLaunchAtMs)}`;
}

/**
 * No estimate when pods are only starting (the pace of the others says nothing about them), nor below a second: it
 * would be wrong before anybody reads it.
 */
function leftText({ queued, running }: Counts, leftMs = 0): string {
  return queued + running === 0 || leftMs < 1_000 ? '' : ` · about ${formatDuration(leftMs)} left`;
}

const rateText = (perMinute: number): string =>
  perMinute >= 120
    ? `${Math.round(perMinute / 60).toLocaleString('en-US')} pods/s`
    : `${perMinute < 10 ? perMinute.toFixed(1) : Math.round(perMinute)} pods/min`;

function skippedPart(batch: Batch, counts: Counts): readonly Part[] {
  const skipped = skippedText(batch, counts);
  return skipped === undefined ? [] : [{ kind: 'note', spans: [text(skipped)] }];
}

/** Why no more pods start. */
function pauseOrEndPart(batch: Batch, nowMs: number): readonly Part[] {
  const spans = pauseOrEndSpans(batch, nowMs);
  return spans.length === 0 ? [] : [{ kind: 'paragraph', spans }];
}

function pauseOrEndSpans(batch: Batch, nowMs: number): readonly Span[] {
  const { closed, paused, canary, ttlMs, createdAtMs } = batch;
  if (closed) return closedSpans(batch);
  if (batch.endedAtMs !== undefined) return [];
  if (paused) return [text('Paused by '), person(paused.byUserId), text(', '), time(paused.atMs)];
  if (canary === 'waiting') return canarySpans(batch);
  return ttlMs === undefined || nowMs >= createdAtMs + ttlMs ? [] : [text('Finishes by '), time(createdAtMs + ttlMs)];
}

function canarySpans({ pods }: Batch): readonly Span[] {
  const first = pods.find(({ launchedAtMs }) => launchedAtMs !== undefined);
  const others = pods.filter(({ state }) => state === 'queued').length;
  const start = others === 1 ? 'The other pod starts' : `The other ${others.toLocaleString('en-US')} pods start`;
  return [text('The canary was '), code(shownName(first?.name ?? '')), text(`. ${start} when you click Continue.`)];
}

function closedSpans({ closed }: Batch): readonly Span[] {
  switch (closed?.because) {
    case 'cancelled':
      return [
        text('Cancelled'),
        ...(closed.byUserId === undefined ? [] : [text(' by '), person(closed.byUserId)]),
        text(', '),
        time(closed.atMs),
        text('. No more pods will start.'),
      ];
    case 'ttl':
      return [
        text('Its time to live is over: no more pods will start, and kdebug no longer waits for those still running.'),
      ];
    case 'start-failures':
      return [
        text('Stopped: three pods failed to start for the same reason ('),
        code(closed.reason ?? ''),
        text('), so the others would fail too.'),
      ];
    case 'record-lost':
      return [text(RECORD_LOST)];
    default:
      return [];
  }
}
