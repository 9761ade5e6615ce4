import { formatAge, formatCount, formatDuration } from '../../../lib/duration.ts';
import { visible } from '../../../lib/invisible.ts';
import { shorten } from '../../../lib/text.ts';
import type { Batch, PodState, SkipReason } from '../../batch/batch.ts';
import type { ResultGroup } from '../../batch/pod-result.ts';
import { type BatchStatus, type Counts, columnsOf, matchedOf, skipReasonOf } from '../../batch/pod-state.ts';
import type { Target } from '../../command/command.ts';
import { classText } from '../../policy/class-facts.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import { code, type EmojiName, emoji, type Fact, type Part, type Span, type Tone, text } from '../message.ts';
import { powerParts } from '../parts/power-parts.ts';
import { typedText } from '../typed-text.ts';

/**
 * How many pods stand where, in words that a narrow screen wraps and a screen reader reads: the columns of the proposal but for AGE,
 * which is counted from the creation.
 */
export function countsPart(batch: Batch, counts: Counts, nowMs: number): Part {
  const { match, succeed, failed, running, waiting } = columnsOf(counts);
  const age = formatAge(nowMs - batch.createdAtMs);
  const said = (name: EmojiName, count: number, words: string): readonly Span[] => [
    emoji(name),
    text(` ${count.toLocaleString('en-US')} ${words}`),
  ];
  const isOver = batch.endedAtMs !== undefined;
  return {
    kind: 'paragraph',
    spans: [
      ...said('white_check_mark', succeed, 'succeeded'),
      text(' · '),
      ...said('x', failed, 'failed'),
      ...(isOver && running + waiting === 0
        ? []
        : [
            text('\n'),
            ...said('arrow_forward', running, 'running'),
            text(' · '),
            ...said('hourglass_flowing_sand', waiting, 'waiting'),
          ]),
      text(`\n${formatCount(match, 'pod')} matched${isOver ? '' : ` · for ${age}`}`),
    ],
  };
}

/** The plan, for whoever approves or watches: what runs, as what, in which pods, how wide. */
export function planFacts(run: BatchRun): readonly Fact[] {
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
    ...(state === 'pending-approval' ? askedFacts(run) : []),
    // The last: it may be long, and what does not fit is cut from the end.
    ...(plan.reason === undefined ? [] : [{ label: 'Reason', value: typedText(visible(plan.reason)) }]),
  ];
}

/** Each once: the containers of a template may share one. */
function imageSpans({ variants }: Batch): readonly Span[] {
  const aliases = [...new Set((variants[0] ?? []).map(({ imageAlias }) => imageAlias))];
  return aliases.flatMap((alias, index) => [...(index === 0 ? [] : [text(', ')]), code(alias)]);
}

/** What a person who decides must see besides. */
function askedFacts(run: BatchRun): readonly Fact[] {
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

/** A selector of 1,000 characters is allowed. */
const MAX_SELECTOR_LENGTH = 300;

function selectionSpan({ request: { target }, rerunOf }: BatchRun): Span {
  if (rerunOf !== undefined) return text(`the pods of batch ${rerunOf} that did not succeed`);
  if (target.kind === 'all') return text('every pod of the namespace');
  const words = wordsOfTarget(target);
  return code(shorten(words, MAX_SELECTOR_LENGTH));
}

function wordsOfTarget(target: Exclude<Target, { kind: 'all' }>): string {
  if (target.kind === 'selector') return target.selector;
  return target.kind === 'workload' ? `${target.workload}/${target.name}` : target.name;
}

/** What each container runs, joins and is given, while somebody has to decide on it. */
export const askedParts = ({ state, batch }: BatchRun): readonly Part[] =>
  state === 'pending-approval' ? powerParts({ batch }) : [];

/** `3 skipped: 2 finished, 1 on Windows`; undefined where none is. */
export function skippedText(batch: Batch, counts: Counts): string | undefined {
  if (counts.skipped === 0) return undefined;
  const numbers = new Map<SkipReason, number>();
  for (const pod of batch.pods) {
    const reason = skipReasonOf(batch, pod);
    if (reason) numbers.set(reason, (numbers.get(reason) ?? 0) + 1);
  }
  const parts = [...numbers].sort(([, a], [, b]) => b - a).map(([reason, count]) => `${count} ${SKIP_TEXT[reason]}`);
  return `${counts.skipped} of ${matchedOf(counts)} skipped: ${parts.join(', ')}`;
}

/** What each status is called, and how it looks. */
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

const SKIP_TEXT: Readonly<Record<SkipReason, string>> = {
  static: 'static',
  finished: 'finished',
  deleting: 'being deleted',
  'not-scheduled': 'not scheduled yet',
  windows: 'on Windows',
  'cap-reached': 'at their limit of debug containers',
  'share-reached': 'at their limit of your debug containers',
  'no-such-target': 'without that container',
  'target-ended': 'whose target has exited',
  'beyond-replicas': 'beyond --replicas',
};

/** A name for a message: the longest is 253 characters, of which the ends say most. */
const SHOWN = 63;
export const shownName = (name: string): string =>
  name.length <= SHOWN ? name : `${name.slice(0, 30)}…${name.slice(-32)}`;

/** `failed, exit code 1 (Error), dns_unreachable`. */
export function groupText({ state, exitCode, reason, findings }: ResultGroup): string {
  const code = exitCode === undefined || state === 'succeeded' ? '' : `, exit code ${exitCode}`;
  const why = reason === undefined || reason === 'Completed' ? '' : ` (${reason})`;
  const found = findings.length === 0 ? '' : `: ${findings.join(', ')}`;
  return `${STATE_TEXT[state]}${code}${why}${found}`;
}

/** Of a batch that was rebuilt from the cluster (`rebuildBatch`). */
export const RECORD_LOST =
  'kdebug restarted during this batch and recovered these containers from the cluster. Pods that were still waiting are no longer known and were not started; times are estimates.';
