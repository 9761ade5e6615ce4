import { formatCount, formatDuration } from '../../../lib/duration.ts';
import { shorten } from '../../../lib/text.ts';
import type { Batch, PodState } from '../../batch/batch.ts';
import type { ResultGroup } from '../../batch/pod-result.ts';
import { type BatchStatus, type Counts, matchedOf, skipReasonOf, skipSummary } from '../../batch/pod-state.ts';
import { targetWords } from '../../command/print.ts';
import { classText } from '../../container/class-facts.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import { fact, line, rows, type Words } from '../message/line.ts';
import { code, type Fact, type Part, type Tone } from '../message/message.ts';
import { powerParts } from '../parts/power-parts.ts';
import { compareFacts, isComparison } from './compare-parts.ts';

/** The profiles and the class of the batch, as text. The headline names the images. */
export function accessFacts({ batch }: BatchRun): readonly Fact[] {
  const templates = batch.variants.flat();
  const classes = new Set(templates.map((template) => classText(template.class, template.classReasons)));
  const profiles = new Set(templates.map(({ profile }) => profile));
  return [fact('Access', line`${code([...profiles].join(', '))} · ${[...classes].join(' · ')}`)];
}

/** The pods, and the number at a time. */
export function scopeFacts(run: BatchRun): readonly Fact[] {
  if (isComparison(run)) return compareFacts(run);
  const { batch } = run;
  return rows(
    fact('Pods', `${batch.queueEnd} of ${batch.pods.length} that match; pods created later are left alone`),
    fact('Selects', selectionOf(run)),
    fact('At a time', batch.parallelism),
    batch.canary !== undefined && fact('Canary', 'one pod first'),
    batch.replicas !== undefined && fact('At most', formatCount(batch.replicas, 'pod')),
    batch.ttlMs !== undefined && fact('Stops after', formatDuration(batch.ttlMs)),
  );
}

/** A selector may have 1,000 characters. */
const MAX_SELECTOR_LENGTH = 300;

function selectionOf({ request: { target }, rerunOf }: BatchRun): Words {
  if (rerunOf !== undefined) return `the pods of batch ${rerunOf} that did not succeed`;
  if (target.kind === 'all') return 'every pod of the namespace';
  const words = target.kind === 'selector' ? target.selector : targetWords(target).join(' ');
  return code(shorten(words, MAX_SELECTOR_LENGTH));
}

/** The command, the target and the variables of each container, shown while approvers decide. */
export const approverParts = ({ state, batch }: BatchRun): readonly Part[] =>
  state === 'pending-approval' ? powerParts({ batch }) : [];

/** `3 of 40 skipped: 2 finished, 1 on Windows`; undefined if none is skipped. */
export function skippedText(batch: Batch, counts: Counts): string | undefined {
  if (counts.skipped === 0) return undefined;
  return `${counts.skipped} of ${matchedOf(counts)} skipped: ${skipSummary(batch.pods.map((pod) => skipReasonOf(batch, pod)))}`;
}

/** The name and colour of each status. Good ends of all runs say nothing about the pods, so they have no green tick. */
export const STATUS_TEXT: Readonly<Record<BatchStatus, { readonly tone: Tone; readonly words: string }>> = {
  Waiting: { tone: 'progress', words: 'Waiting' },
  Running: { tone: 'progress', words: 'Running' },
  Paused: { tone: 'attention', words: 'Paused' },
  Succeeded: { tone: 'ended', words: 'Succeeded' },
  Failed: { tone: 'failure', words: 'Failed' },
  PartiallySucceeded: { tone: 'attention', words: 'Partially succeeded' },
  Cancelled: { tone: 'ended', words: 'Cancelled' },
};

/** Describes kdebug's own run, so that nobody takes it for the state of the pod. */
const STATE_TEXT: Readonly<Record<PodState, string>> = {
  queued: 'the run is queued',
  skipped: 'skipped',
  starting: 'the run is starting',
  running: 'the run goes on',
  succeeded: 'the run succeeded',
  failed: 'the run failed',
  'start-failed': 'kdebug’s container did not start',
  'timed-out': 'the run timed out',
  lost: 'the run was lost',
  cancelled: 'the run was cancelled',
};

/** A name may have 253 characters; its ends identify it best. */
const MAX_NAME_LENGTH = 63;
export const shownName = (name: string): string =>
  name.length <= MAX_NAME_LENGTH ? name : `${name.slice(0, 30)}…${name.slice(-32)}`;

/** `the run failed, exit code 137 (OOMKilled)`, `found dns unreachable`. `Error` is every failure's reason. */
export function groupText({ state, exitCode, reason, findings }: ResultGroup): string {
  if (state === 'succeeded' && findings.length > 0) return `found ${findingWords(findings)}`;
  const code = exitCode === undefined || state === 'succeeded' ? '' : `, exit code ${exitCode}`;
  const why = reason === undefined || reason === 'Completed' || reason === 'Error' ? '' : ` (${reason})`;
  const found = findings.length === 0 ? '' : `: ${findingWords(findings)}`;
  return `${STATE_TEXT[state]}${code}${why}${found}`;
}

const findingWords = (findings: readonly string[]): string =>
  findings.map((finding) => finding.replaceAll('_', ' ')).join(', ');

/** Shown for a batch that was rebuilt from the cluster (`rebuildBatch`). */
export const RECORD_LOST =
  'kdebug restarted and recovered this from the cluster: times are estimates, and pods still waiting were not started.';
