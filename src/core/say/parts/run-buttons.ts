import { own } from '../../../lib/object.ts';
import { NEXT_LABELS } from '../../diagnosis/facts/rules.ts';
import { labelOf } from '../../diagnosis/report-verdict.ts';
import type { OutcomeKind } from '../../outcome.ts';
import type { LinkVariable, Policy } from '../../policy/policy.ts';
import type { Refusal } from '../../request/origin.ts';
import { mayCompare } from '../../run/ask.ts';
import { isBatchRun } from '../../run/life-cycle.ts';
import type { Run } from '../../run/run.ts';
import type { RunState } from '../../run/run-state.ts';
import { canBeStopped, isStopping } from '../../run/stop.ts';
import { actions, type Shown } from '../message/line.ts';
import type { Button, Part } from '../message/message.ts';

/** The places of buttons: on the run's card in the channel, or on the result in its thread. */
export type Surface = 'card' | 'private-card' | 'result';

/**
 * The next steps that a run offers, by its state. Each is decided afresh at the click, so a button promises nothing.
 * The card has every button of the result: Slack may show the buttons of a message with files and deliver no click on
 * them. Where only the requester may see the output, the card (`private-card`) has no button that gives the verdict
 * away. A batch has its own (`batch-buttons.ts`).
 */
export function runButtons(run: Run, surface: Surface): readonly Button[] {
  if (isBatchRun(run)) return [];
  if (run.state === 'finished') return onFinished(run, surface);
  return surface === 'result' ? [] : onCard(run, run.state);
}

function onCard(run: Run, state: Exclude<RunState, 'finished'>): readonly Button[] {
  const { id: value } = run;
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
  }
}

/** More of them fill too much of a phone. Only *Stop*, of a run that goes on, may be a sixth. */
const MAX_BUTTONS = 5;

/**
 * First what to do about the findings. The details have the command, and the result has the log itself or beside it as a
 * file. An answer without a container has neither.
 */
function onFinished(run: Run, surface: Surface): readonly Button[] {
  const { id: value, outcome } = run;
  const isCard = surface !== 'result';
  const isPrivate = surface === 'private-card';
  const details: Button = { action: 'details', label: 'Details', value };
  const ways = [...(isPrivate ? [] : leadsOf(run)), ...rerunButton(run)];
  const hasNoCopy = isPrivate || outcome?.kind === 'answered' || ways.length + 2 > MAX_BUTTONS;
  const copy: readonly Button[] = hasNoCopy ? [] : [{ action: 'copy-command', label: 'Copy command', value }];
  const stop = isCard ? stillRunning(run) : [];
  const all = [...stop, ...ways, ...copy];
  return [...all, ...(isCard && all.length + 2 <= MAX_BUTTONS ? logsButton(run) : []), details];
}

function leadsOf(run: Run): readonly Button[] {
  const { id: value, verdict } = run;
  const { lookAgain: again, nextImage } = verdict ?? {};
  return [
    ...(again ? [{ action: 'look-again', label: labelOf(again), value } as const] : []),
    ...(nextImage === undefined
      ? []
      : [{ action: 'next-image', label: own(NEXT_LABELS, nextImage) ?? 'Look deeper', value } as const]),
    ...(mayCompare(run) ? [{ action: 'compare', label: 'Compare with siblings', value } as const] : []),
  ];
}

/** A second run of a program has no target beside which a stop could reach it. */
const stopButton = (run: Run): readonly Button[] =>
  run.plan?.onceMore === undefined && canBeStopped(run) && !isStopping(run) ? [stopOf(run)] : [];

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

/** The buttons as a part. */
export const runButtonsPart = (run: Run, surface: Surface): Shown => actions(...runButtons(run, surface));

/** The part of a refused request that its requester may add: a reason, or another profile. */
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
  lacksOf(run, refusal) === undefined ? [] : [actions({ action: 'ask-for-it', label: 'Ask for it', value: run.id })];

/** A link shows a period that begins before the alert or the request: so did the trouble. */
const BEFORE_MS = 15 * 60_000;
const AFTER_MS = 5 * 60_000;

/** The policy's links as buttons, filled in for the pod of this run. */
export function linksPart({ plan, origin, finishedAtMs, alert }: Run, links: Policy['links'] = {}): Shown {
  if (!plan) return [];
  const { cluster, namespace, podName, workload } = plan;
  const values: Readonly<Record<LinkVariable, string>> = {
    cluster,
    namespace,
    pod: podName,
    workload: workload?.name ?? podName,
    from: String((alert?.sinceMs ?? origin.receivedAtMs) - BEFORE_MS),
    to: String((finishedAtMs ?? origin.receivedAtMs) + AFTER_MS),
  };
  const fill = (url: string): string =>
    url.replace(/\{(\w+)\}/g, (_, name: LinkVariable) => encodeURIComponent(values[name] ?? ''));
  return { kind: 'links', links: Object.entries(links).map(([label, url]) => ({ label, url: fill(url) })) };
}
