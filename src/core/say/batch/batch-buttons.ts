import { formatCount } from '../../../lib/duration.ts';
import { own } from '../../../lib/object.ts';
import { groupResults, podsToRerun } from '../../batch/pod-result.ts';
import { type Counts, inFlightOf } from '../../batch/pod-state.ts';
import { NEXT_LABELS } from '../../diagnosis/facts/rules.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import { isFinal } from '../../run/life-cycle.ts';
import { actions, shownParts } from '../message/line.ts';
import type { Button, Part } from '../message/message.ts';
import { imageForDifference, isComparison } from './compare-parts.ts';

/** The buttons that apply to the state of the batch. Their value is the run's id. */
export const buttonsPart = (run: BatchRun, counts: Counts): readonly Part[] =>
  run.state === 'pending-approval' ? [] : shownParts(actions(...buttonsOf(run, counts)));

/** Somebody asked how a workload is; which pods kdebug looks into is its own choice. */
const hasFirstAnswer = ({ verdict }: BatchRun): boolean => verdict?.line !== undefined;

function buttonsOf(run: BatchRun, counts: Counts): readonly Button[] {
  const { id: value, batch } = run;
  if (run.state === 'finished' && isComparison(run))
    return [...insideButton(run), { action: 'rerun', label: 'Compare again', value }];
  if (run.state === 'finished' && hasFirstAnswer(run)) return [{ action: 'rerun', label: 'Run again', value }];
  if (run.state === 'finished') return [...rerunButton(run), ...outliersButton(run)];
  if (batch.closed || isFinal(run.state)) return [];
  if (isComparison(run) || hasFirstAnswer(run)) return [cancelButton(value, inFlightOf(counts))];
  return [
    ...continueButton(run),
    batch.paused
      ? { action: 'resume', label: 'Resume', value, style: 'primary' as const }
      : { action: 'pause', label: 'Pause', value },
    { action: 'resize', label: 'Change size', value },
    cancelButton(value, inFlightOf(counts)),
  ];
}

/** A comparison sees its differences from outside; this button leads into the pod. */
function insideButton(run: BatchRun): readonly Button[] {
  const nextImage = imageForDifference(run);
  const label = nextImage === undefined ? undefined : own(NEXT_LABELS, nextImage);
  return label === undefined ? [] : [{ action: 'next-image', label, value: run.id }];
}

/** A failed canary makes Continue a danger button. */
function continueButton({ id: value, batch: { canary, pods } }: BatchRun): readonly Button[] {
  if (canary !== 'waiting') return [];
  const isFine = pods.find(({ launchedAtMs }) => launchedAtMs !== undefined)?.state === 'succeeded';
  return isFine
    ? [{ action: 'continue', label: 'Continue', value, style: 'primary' }]
    : [{ action: 'continue', label: 'Continue anyway', value, style: 'danger' }];
}

const cancelButton = (value: string, inFlight: number): Button => ({
  action: 'cancel',
  label: 'Cancel batch',
  value,
  style: 'danger',
  confirm: {
    title: 'Cancel this batch?',
    text: `No more pods will start. ${inFlight === 0 ? 'No container is running now.' : runningOn(inFlight)}`,
    yes: 'Cancel batch',
    no: 'Keep running',
  },
});

/** Pods that were never started have not failed, so they are not "retried"; "other" are those of a batch that ran. */
function retryLabel({ batch }: BatchRun, count: number): string {
  const started = podsToRerun(batch).filter(({ launchedAtMs }) => launchedAtMs !== undefined).length;
  if (started === count) return `Retry ${count.toLocaleString('en-US')} failed`;
  const isOther = started === 0 && batch.firstLaunchAtMs !== undefined;
  return `Run ${formatCount(count, isOther ? 'other pod' : 'pod')}${started === 0 ? '' : ' again'}`;
}

const runningOn = (count: number): string =>
  count === 1
    ? "The container already running can't be stopped and will finish."
    : `The ${count.toLocaleString('en-US')} containers already running can't be stopped and will finish.`;

function rerunButton(run: BatchRun): readonly Button[] {
  const { id: value, batch } = run;
  const count = podsToRerun(batch).length;
  if (count === 0) return [];
  return [{ action: 'rerun-failed', label: retryLabel(run, count), value }];
}

/** Only if pods differ: what is equal in all of them, the message says. */
function outliersButton({ id: value, batch }: BatchRun): readonly Button[] {
  return groupResults(batch).length < 2 ? [] : [{ action: 'show-outliers', label: 'Show outliers', value }];
}
