import { own } from '../../../lib/object.ts';
import { mayCompare } from '../../compare/ask.ts';
import { NEXT_IMAGES } from '../../diagnosis/rules.ts';
import { labelOf } from '../../diagnosis/verdict.ts';
import { isBatchRun } from '../../run/life-cycle.ts';
import type { OutcomeKind } from '../../run/outcome.ts';
import type { Refusal, Run } from '../../run/run.ts';
import { canBeStopped, isStopping } from '../../run/stop.ts';
import type { Button, Part } from '../message.ts';

/** Where buttons are shown: on the run's card in the channel, or on the result in its thread. */
export type Surface = 'card' | 'result';

/**
 * What a person may do next with this run, by its state; at most five. Each is decided afresh for whoever clicks, so a button promises
 * nothing. A batch has its own (`batch-buttons.ts`).
 */
export function runButtons(run: Run, surface: Surface): readonly Button[] {
  if (isBatchRun(run)) return [];
  return surface === 'card' ? onCard(run) : onResult(run);
}

function onCard(run: Run): readonly Button[] {
  const { id: value, state } = run;
  const details: Button = { action: 'details', label: 'Details', value };
  switch (state) {
    case 'received':
    case 'denied':
    // Its buttons decide; approvers get them in copies, too.
    case 'pending-approval':
      return [];
    case 'approved':
    case 'launching':
      return [details];
    case 'starting':
      return [...stopButton(run), details];
    case 'running':
    case 'collecting':
      return [...stopButton(run), { action: 'logs', label: 'Show log so far', value }, details];
    case 'expired':
    case 'cancelled':
      return [{ action: 'rerun', label: 'Ask again', value }, details];
    case 'rejected':
      return [details];
    case 'finished':
      return [...stillRunning(run), ...rerunButton(run), ...logsButton(run), details];
  }
}

/** The log is on the result itself, or beside it as a file. */
function onResult(run: Run): readonly Button[] {
  const { id: value, state, verdict } = run;
  if (state !== 'finished') return [];
  const { lookAgain: again, nextImage } = verdict ?? {};
  const leads: readonly Button[] = [
    ...(again ? [{ action: 'look-again', label: labelOf(again), value } as const] : []),
    ...(nextImage === undefined
      ? []
      : [{ action: 'next-image', label: own(NEXT_IMAGES, nextImage) ?? 'Look deeper', value } as const]),
    ...(mayCompare(run) ? [{ action: 'compare', label: 'Compare with siblings', value } as const] : []),
  ];
  return [
    ...leads,
    ...rerunButton(run),
    // With three ways on there is no room for it; the details have the command.
    ...(leads.length > 2 ? [] : [{ action: 'copy-command', label: 'Copy command', value } as const]),
    { action: 'details', label: 'Details', value },
  ];
}

const stopButton = (run: Run): readonly Button[] => (canBeStopped(run) && !isStopping(run) ? [stopOf(run)] : []);

const stopOf = ({ id }: Run): Button => ({
  action: 'stop',
  label: 'Stop',
  value: id,
  style: 'danger',
  confirm: {
    title: 'Stop this run?',
    text: 'Its processes get a signal to end. The log so far is kept.',
    yes: 'Stop it',
    no: 'Keep running',
  },
});

/** kdebug gave it up, but its container runs on. */
const stillRunning = (run: Run): readonly Button[] => (run.outcome?.kind === 'timed-out' ? stopButton(run) : []);

/** Nobody runs anything in a pod that is not there any more. */
const POINTLESS: ReadonlySet<OutcomeKind> = new Set(['pod-gone']);

const rerunButton = ({ id: value, outcome }: Run): readonly Button[] =>
  outcome && POINTLESS.has(outcome.kind) ? [] : [{ action: 'rerun', label: 'Run again', value }];

const logsButton = ({ id: value, log }: Run): readonly Button[] =>
  log && log.bytes > 0 ? [{ action: 'logs', label: 'Show log', value }] : [];

/** The buttons as a part; none without buttons. */
export function runButtonsPart(run: Run, surface: Surface): readonly Part[] {
  const buttons = runButtons(run, surface);
  return buttons.length === 0 ? [] : [{ kind: 'actions', buttons }];
}

/** What a refused request lacks that its requester may ask for: a reason, or another profile. */
export function lacksOf(
  { request }: Pick<Run, 'request'>,
  { code: reason }: Refusal,
): 'reason' | 'profile' | undefined {
  if (reason === 'reason_required') return 'reason';
  // Without a named profile the image or the pod makes the class, and no profile lowers it.
  const isByProfile = reason === 'class_not_allowed' && request.profile !== 'auto';
  return isByProfile || reason === 'profile_not_allowed' || reason === 'profile_refused_here' ? 'profile' : undefined;
}

/** The button on the private refusal of such a request. */
export const askPart = (run: Run, refusal: Refusal): readonly Part[] =>
  lacksOf(run, refusal) === undefined
    ? []
    : [{ kind: 'actions', buttons: [{ action: 'ask-for-it', label: 'Ask for it', value: run.id }] }];
