import { formatCount, formatDuration } from '../../../lib/duration.ts';
import { visible } from '../../../lib/visible.ts';
import type { Batch, PodState } from '../../batch/batch.ts';
import type { ResultGroup } from '../../batch/pod-result.ts';
import {
  type BatchStatus,
  type Counts,
  columnsOf,
  matchedOf,
  skipReasonOf,
  skipSummary,
} from '../../batch/pod-state.ts';
import { targetWords } from '../../command/print.ts';
import { classText } from '../../policy/class-facts.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import { code, type EmojiName, emoji, type Fact, type Part, type Span, type Tone, text } from '../message.ts';
import { powerParts } from '../parts/power-parts.ts';
import { typedText } from '../typed-text.ts';

/**
 * The counts of pods as words, which wrap on a narrow screen and work for a screen reader: the columns of the proposal.
 * AGE counts from the creation.
 */
export function countsPart(batch: Batch, counts: Counts, nowMs: number): Part {
  const { match, succeed, failed, running, waiting } = columnsOf(counts);
  const age = ageText(nowMs - batch.createdAtMs);
  const countSpans = (name: EmojiName, count: number, words: string): readonly Span[] => [
    emoji(name),
    text(` ${count.toLocaleString('en-US')} ${words}`),
  ];
  const hasEnded = batch.endedAtMs !== undefined;
  return {
    kind: 'paragraph',
    spans: [
      ...countSpans('white_check_mark', succeed, 'succeeded'),
      text(' · '),
      ...countSpans('x', failed, 'failed'),
      ...(hasEnded && running + waiting === 0
        ? []
        : [
            text('\n'),
            ...countSpans('arrow_forward', running, 'running'),
            text(' · '),
            ...countSpans('hourglass_flowing_sand', waiting, 'waiting'),
          ]),
      text(`\n${formatCount(match, 'pod')} matched${hasEnded ? '' : ` · for ${age}`}`),
    ],
  };
}

/** As kubectl writes it: `82s`, `5m12s`, `3h4m`. */
function ageText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 180) return `${minutes}m${minutes < 10 && seconds % 60 > 0 ? `${seconds % 60}s` : ''}`;
  return `${Math.floor(minutes / 60)}h${minutes % 60 > 0 ? `${minutes % 60}m` : ''}`;
}

/** The plan for approvers and readers: what runs, as what, in which pods, how wide. */
export function batchFacts(run: BatchRun): readonly Fact[] {
  const { batch, plan, state } = run;
  const profiles = new Set(batch.variants.flatMap((variant) => variant.map(({ profile }) => profile)));
  return [
    { label: 'Namespace', value: [code(plan.namespace)] },
    { label: 'Image', value: imageSpans(batch) },
    { label: 'Profile', value: [text([...profiles].join(', '))] },
    { label: 'Parallelism', value: [text(String(batch.parallelism))] },
    ...(batch.replicas === undefined ? [] : [{ label: 'Replicas', value: [text(String(batch.replicas))] }]),
    ...(batch.ttlMs === undefined ? [] : [{ label: 'Time to live', value: [text(formatDuration(batch.ttlMs))] }]),
    { label: 'Cluster', value: [text(plan.cluster)] },
    ...(state === 'pending-approval' ? approverFacts(run) : []),
    // Last, because it may be long and what does not fit is cut from the end.
    ...(plan.reason === undefined ? [] : [{ label: 'Reason', value: typedText(visible(plan.reason)) }]),
  ];
}

/** Each alias once: the containers of a template may share an image. */
function imageSpans({ variants }: Batch): readonly Span[] {
  const aliases = [...new Set((variants[0] ?? []).map(({ imageAlias }) => imageAlias))];
  return aliases.flatMap((alias, index) => [...(index === 0 ? [] : [text(', ')]), code(alias)]);
}

/** What approvers must see as well. */
function approverFacts(run: BatchRun): readonly Fact[] {
  const { batch } = run;
  const classes = new Set(
    batch.variants.flatMap((variant) => variant.map((template) => classText(template.class, template.classReasons))),
  );
  return [
    {
      label: 'Pods',
      value: [text(`${batch.queueEnd} of ${batch.pods.length} that match, by uid; pods created later are left alone`)],
    },
    { label: 'Selects', value: [selectionSpan(run)] },
    { label: 'Class', value: [text([...classes].join(' · '))] },
    ...(batch.canary === undefined ? [] : [{ label: 'Canary', value: [text('one pod first')] }]),
  ];
}

/** A selector may have 1,000 characters. */
const MAX_SELECTOR_LENGTH = 300;

function selectionSpan({ request: { target }, rerunOf }: BatchRun): Span {
  if (rerunOf !== undefined) return text(`the pods of batch ${rerunOf} that did not succeed`);
  if (target.kind === 'all') return text('every pod of the namespace');
  const words = target.kind === 'selector' ? target.selector : targetWords(target).join(' ');
  return code(words.length > MAX_SELECTOR_LENGTH ? `${words.slice(0, MAX_SELECTOR_LENGTH)}…` : words);
}

/** What each container runs, joins and is given, shown while approvers decide. */
export const approverParts = ({ state, batch }: BatchRun): readonly Part[] =>
  state === 'pending-approval' ? powerParts({ batch }) : [];

/** `3 of 40 skipped: 2 finished, 1 on Windows`; undefined if none is skipped. */
export function skippedText(batch: Batch, counts: Counts): string | undefined {
  if (counts.skipped === 0) return undefined;
  return `${counts.skipped} of ${matchedOf(counts)} skipped: ${skipSummary(batch.pods.map((pod) => skipReasonOf(batch, pod)))}`;
}

/** How each status is named and coloured. */
export const STATUS_TEXT: Readonly<Record<BatchStatus, { readonly tone: Tone; readonly words: string }>> = {
  Waiting: { tone: 'progress', words: 'Waiting' },
  Running: { tone: 'progress', words: 'Running' },
  Paused: { tone: 'attention', words: 'Paused' },
  Succeeded: { tone: 'success', words: 'Succeeded' },
  Failed: { tone: 'failure', words: 'Failed' },
  PartiallySucceeded: { tone: 'attention', words: 'Partially succeeded' },
  Cancelled: { tone: 'neutral', words: 'Cancelled' },
};

const STATE_TEXT: Readonly<Record<PodState, string>> = {
  queued: 'queued',
  skipped: 'skipped',
  starting: 'starting',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  'start-failed': 'did not start',
  'timed-out': 'timed out',
  lost: 'lost',
  cancelled: 'cancelled',
};

/** A name may have 253 characters; its ends identify it best. */
const MAX_NAME_LENGTH = 63;
export const shownName = (name: string): string =>
  name.length <= MAX_NAME_LENGTH ? name : `${name.slice(0, 30)}…${name.slice(-32)}`;

/** `failed, exit code 1 (Error), dns_unreachable`. */
export function groupText({ state, exitCode, reason, findings }: ResultGroup): string {
  const code = exitCode === undefined || state === 'succeeded' ? '' : `, exit code ${exitCode}`;
  const why = reason === undefined || reason === 'Completed' ? '' : ` (${reason})`;
  const found = findings.length === 0 ? '' : `: ${findings.join(', ')}`;
  return `${STATE_TEXT[state]}${code}${why}${found}`;
}

/** Shown for a batch that was rebuilt from the cluster (`rebuildBatch`). */
export const RECORD_LOST =
  'kdebug restarted during this batch and recovered these containers from the cluster. Pods that were still waiting are no longer known and were not started; times are estimates.';
