import { formatBytes, formatCount } from '../../../lib/duration.ts';
import { sentence } from '../../../lib/text.ts';
import { countPods, matchedOf, statusOf } from '../../batch/pod-state.ts';
import { REASONS } from '../../errors.ts';
import type { Refusal } from '../../request/origin.ts';
import { type BatchRun, isBatchRun, isFinal } from '../../run/life-cycle.ts';
import type { Run, RunLog } from '../../run/run.ts';
import { COMMAND } from '../../shown-names.ts';
import { accessFacts, STATUS_TEXT, scopeFacts } from '../batch/batch-facts.ts';
import { isDecided } from '../batch/batch-headline.ts';
import { type BatchRenderContext, batchMessage } from '../batch/batch-message.ts';
import {
  code,
  type Fact,
  link,
  type Message,
  type Part,
  paragraph,
  person,
  type Span,
  strong,
  type Tone,
  text,
  time,
} from '../message/message.ts';
import { votesPart } from '../parts/approval-parts.ts';
import { filesParts } from '../parts/file-parts.ts';
import { oneLine } from '../parts/headline.ts';
import { describeOutcome, STATE_TEXT } from '../parts/outcome-text.ts';
import { caveats, resultFacts } from '../parts/result-parts.ts';
import { headOf, secondLine } from '../parts/run-lines.ts';
import { withoutWithdrawal } from '../run/copy-messages.ts';
import { resultMessage, resultParts } from '../run/run-messages.ts';
import { decisionSpans, planFields } from './explain-messages.ts';

/** Links to a run's messages in Slack; absent if the reader may not open them or Slack gives none. */
export interface RunLinks {
  readonly thread?: string;
  readonly result?: string;
}

/** What one person may see of a run. */
export interface Sight {
  readonly links: RunLinks;
  /** The container's output is not for this person. */
  readonly isHidden: boolean;
}

/** The answer to `show`: result, plan, decision and links. It has no buttons. `redact`: the policy's patterns. */
export function showMessage(run: Run, sight: Sight, redact: readonly string[]): Message {
  const { title, tone } = titleOf(run, sight);
  const { plan, refusal } = run;
  return {
    summary: `Run ${run.id}: ${title}`,
    tone,
    parts: [
      { kind: 'heading', text: `Run ${run.id}: ${title}` },
      paragraph([code(`${COMMAND} ${run.commandLine}`)]),
      ...linksPart(run, sight),
      ...(sight.isHidden ? [] : outcomeParts(run)),
      ...(refusal ? [paragraph([text(`${sentence(refusalWords(refusal, sight))} ${refusal.hint}`)])] : []),
      // The command line above already shows the command, without its secrets.
      ...(plan
        ? [{ kind: 'facts', facts: planFields(plan, redact).filter(({ label }) => isShown(label, run)) } as const]
        : []),
      ...decisionParts(run),
      ...runFacts(run),
      ...(sight.isHidden ? [HIDDEN] : []),
      {
        kind: 'note',
        spans: [text('Requested by '), person(run.origin.requesterId), text(', '), time(run.origin.receivedAtMs)],
      },
    ],
  };
}

/** The answer to `logs`: the first and last lines, and where the whole log is. */
export function logsMessage(run: Run, sight: Sight): Message {
  const { log } = run;
  const title = `Log of run ${run.id}`;
  return {
    summary: `${title}: ${titleOf(run, sight).title}`,
    tone: 'neutral',
    parts: [
      { kind: 'heading', text: title },
      ...(sight.isHidden
        ? [HIDDEN]
        : log
          ? [...excerptParts(log), ...filesParts(run, { isPrivate: false }), ...caveats(run)]
          : [noLogYet(run)]),
      ...linksPart(run, sight),
      { kind: 'note', spans: [code(`${COMMAND} show ${run.id}`), text(' shows the run itself')] },
    ],
  };
}

/** Of a plan that nothing was launched for, only what was asked about. */
const isShown = (label: string, { outcome }: Run): boolean =>
  outcome?.kind === 'answered' ? ['Pod', 'Target'].includes(label) : label !== 'Command';

/** What was last said of a pod that is gone may quote a container's output. */
const refusalWords = ({ code, message }: Refusal, { isHidden }: Sight): string =>
  isHidden && code === 'pod_is_gone' ? REASONS[code].title : message;

const HIDDEN: Part = {
  kind: 'paragraph',
  spans: [text('Its output is for the requester alone, so it is not shown here.')],
};

/** The same answer as the run's card; where the output is hidden, nothing of it gives the verdict away. */
function titleOf(run: Run, { isHidden }: Sight): { readonly title: string; readonly tone: Tone } {
  if (run.state === 'finished' && !isBatchRun(run)) {
    const { headline, tone } = headOf(run, run.finishedAtMs ?? 0, isHidden);
    return { title: oneLine(headline), tone };
  }
  const { headline, tone } = STATE_TEXT[run.state];
  if (run.state !== 'finished' || !run.outcome) return { title: headline, tone };
  const { title, tone: ended } = describeOutcome(run.outcome);
  return { title, tone: ended };
}

/** What the result says, without its buttons and without a mention. */
function outcomeParts(run: Run): readonly Part[] {
  if (!ENDED.has(run.state)) return [];
  if (run.state !== 'finished' || isBatchRun(run)) {
    return resultMessage(run).parts.filter(({ kind }) => kind !== 'actions' && kind !== 'note' && kind !== 'heading');
  }
  const second = secondLine(run);
  return [
    ...(second.length === 0 ? [] : [paragraph(second)]),
    ...resultParts(run, { isPrivate: false }),
    { kind: 'facts', facts: resultFacts(run) },
  ];
}

const ENDED: ReadonlySet<Run['state']> = new Set(['finished', 'rejected', 'expired', 'cancelled']);

function decisionParts(run: Run): readonly Part[] {
  const { decision, grantedBy } = run;
  const granted: readonly Span[] =
    grantedBy === undefined ? [] : [text('; let through by the grant of run '), code(grantedBy)];
  return [...(decision ? [paragraph([...decisionSpans(decision), ...granted])] : []), ...votesPart(run)];
}

/** The links in one line. Shared files are beside the result. */
export function linksPart({ delivery }: Run, { links: { thread, result } }: Pick<Sight, 'links'>): readonly Part[] {
  const files = Object.keys(delivery.files ?? {}).length;
  const withFile = files === 0 ? 'Result' : files === 1 ? 'Result and file' : 'Result and files';
  const spans = [
    ...(thread === undefined ? [] : [link(thread, 'Thread')]),
    ...(result === undefined ? [] : [link(result, withFile)]),
  ];
  return spans.length === 0
    ? []
    : [paragraph(spans.flatMap((span, index) => (index === 0 ? [span] : [text(' · '), span])))];
}

function excerptParts(log: RunLog): readonly Part[] {
  if (log.bytes === 0) return [paragraph([text('The log is empty.')])];
  const size = `${formatCount(log.lines, 'line')}, ${formatBytes(log.bytes)}`;
  if (log.omittedLines === 0)
    return [paragraph([text(`All of it: ${size}.`)]), { kind: 'preformatted', text: log.head }];
  const omitted = `\n… ${formatCount(log.omittedLines, 'line')} left out …\n`;
  return [
    paragraph([text(`The first and last lines of ${size}.`)]),
    { kind: 'preformatted', text: `${log.head}${omitted}${log.tail}` },
  ];
}

const noLogYet = ({ state }: Run): Part =>
  paragraph([
    text(
      ENDED.has(state) || state === 'denied'
        ? 'This run has no log.'
        : 'There is no log yet. It comes with the result, in the thread.',
    ),
  ]);

/** The dashboard for one person, with links instead of buttons; the buttons are on the dashboard in the channel. */
export function batchForOne(run: BatchRun, context: BatchRenderContext & { readonly links: RunLinks }): Message {
  const { parts, ...message } = batchMessage(run, context);
  const change: readonly Span[] = isFinal(run.state)
    ? [code(`${COMMAND} export ${run.id}`), text(' exports it as YAML')]
    : [code(`${COMMAND} batch ${run.id} pause | resume | cancel | --parallelism=P --replicas=N`), text(' changes it')];
  const shown = withoutWithdrawal(parts).filter(({ kind }) => kind !== 'actions');
  const facts: readonly Part[] = isDecided(run)
    ? [{ kind: 'facts', facts: [...accessFacts(run), ...scopeFacts(run)] }]
    : [];
  return { ...message, parts: [...shown, ...facts, ...linksPart(run, context), { kind: 'note', spans: change }] };
}

/** A batch's status in a few words: `Running, 12 of 40 runs succeeded`. */
export function batchWords({ state, batch }: BatchRun): string {
  if (state !== 'approved' && state !== 'running' && state !== 'finished') return state;
  const counts = countPods(batch);
  const { words } = STATUS_TEXT[statusOf(batch, counts)];
  return `${words}, ${counts.succeeded} of ${matchedOf(counts) - counts.skipped} runs succeeded`;
}

const CHANGED = {
  pause: 'is paused: no more pods start until somebody resumes it',
  resume: 'continues',
  continue: 'continues with the other pods',
  cancel: 'is cancelled: no more pods start; containers already running will finish',
  scale: 'has its new size',
} as const;

/** The answer to a typed change. A click needs no answer: its dashboard shows the change. */
export function changedMessage(id: string, change: keyof typeof CHANGED): Message {
  const sentence = `Batch ${id} ${CHANGED[change]}.`;
  return { summary: sentence, tone: 'success', parts: [{ kind: 'paragraph', spans: [strong(sentence)] }] };
}

/** What `show` adds to result and plan: until when votes count, when it started, the grant, the container and its log. */
function runFacts(run: Run): readonly Part[] {
  const facts = [...approvalFacts(run), ...timeFacts(run), ...grantFacts(run), ...containerFacts(run)];
  return facts.length === 0 ? [] : [{ kind: 'facts', facts }];
}

function approvalFacts({ state, approval }: Run): readonly Fact[] {
  if (state !== 'pending-approval' || !approval) return [];
  return [{ label: 'Expires', value: [time(approval.expiresAtMs)] }];
}

/** A container that ended quickly was never seen running; its end has the time. */
function timeFacts({ startedAtMs, termination, verdict }: Run): readonly Fact[] {
  const read = verdict?.readAtMs === undefined ? [] : [{ label: 'Read', value: [time(verdict.readAtMs)] }];
  const atMs = startedAtMs ?? (termination && Date.parse(termination.startedAt));
  return atMs === undefined || Number.isNaN(atMs) ? read : [...read, { label: 'Started', value: [time(atMs)] }];
}

function grantFacts({ grant }: Run): readonly Fact[] {
  if (!grant) return [];
  const { byUserId, uses, maxRuns, expiresAtMs, endedBy } = grant;
  const end: readonly Span[] =
    endedBy === undefined ? [text(', until '), time(expiresAtMs)] : [text(', ended by '), person(endedBy)];
  return [
    { label: 'Grant', value: [text('by '), person(byUserId), text(`, ${uses.length} of ${maxRuns} used`), ...end] },
  ];
}

function containerFacts({ id, containerName, outcome }: Run): readonly Fact[] {
  if (outcome?.kind === 'answered') return [{ label: 'Container', value: [text('none was added')] }];
  if (containerName === undefined) return [];
  return [
    { label: 'Container', value: [code(containerName)] },
    { label: 'Its log', value: [code(`${COMMAND} logs ${id}`), text(', also with --tail, --since and --grep')] },
  ];
}
