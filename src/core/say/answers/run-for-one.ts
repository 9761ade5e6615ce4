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
  dotted,
  fact,
  facts,
  heading,
  line,
  message,
  note,
  paragraph,
  preformatted,
  rows,
  type Shown,
} from '../message/line.ts';
import { code, type Fact, link, type Message, type Part, person, strong, type Tone, time } from '../message/message.ts';
import { votesPart } from '../parts/approval-parts.ts';
import { filesParts } from '../parts/file-parts.ts';
import { oneLine } from '../parts/headline.ts';
import { describeOutcome, STATE_TEXT, stateWords } from '../parts/outcome-text.ts';
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

/** The part of a run that one person may see. */
export interface Sight {
  readonly links: RunLinks;
  /** The container's output is not for this person. */
  readonly isHidden: boolean;
}

/** The answer to `show`: result, plan, decision and links. It has no buttons. `redact`: the policy's patterns. */
export function showMessage(run: Run, sight: Sight, redact: readonly string[]): Message {
  const { title, tone } = runHead(run, sight);
  const { plan, refusal } = run;
  return message({ tone }, [
    heading(`Run ${run.id}: ${title}`),
    paragraph`${code(`${COMMAND} ${run.commandLine}`)}`,
    linksPart(run, sight),
    !sight.isHidden && outcomeParts(run),
    refusal && paragraph`${sentence(refusalWords(refusal, sight))} ${refusal.hint}`,
    // The command line above already shows the command, without its secrets.
    plan && facts(planFields(plan, redact).filter(({ label }) => isShown(label, run))),
    decisionParts(run),
    facts(approvalFact(run), timeFacts(run), grantFact(run), containerFacts(run)),
    sight.isHidden && HIDDEN,
    note`Requested by ${person(run.origin.requesterId)}, ${time(run.origin.receivedAtMs)}`,
  ]);
}

/** The answer to `logs`: the first and last lines, and where the whole log is. */
export function logsMessage(run: Run, sight: Sight): Message {
  const { log } = run;
  const title = `Log of run ${run.id}`;
  const shown = log ? [excerptParts(log), filesParts(run, { isPrivate: false }), caveats(run)] : noLogYet(run);
  return message({ summary: `${title}: ${runHead(run, sight).title}`, tone: 'neutral' }, [
    heading(title),
    sight.isHidden ? HIDDEN : shown,
    linksPart(run, sight),
    note`${code(`${COMMAND} show ${run.id}`)} shows the run itself`,
  ]);
}

/** Of a plan that nothing was launched for, only what was asked about. The command of a second run was not typed. */
const isShown = (label: string, { outcome, plan }: Run): boolean =>
  outcome?.kind === 'answered'
    ? ['Pod', 'Target'].includes(label)
    : label !== 'Command' || plan?.onceMore !== undefined;

/** The last event about a pod that is gone may quote a container's output. */
const refusalWords = ({ code, message }: Refusal, { isHidden }: Sight): string =>
  isHidden && code === 'pod_is_gone' ? REASONS[code].title : message;

const HIDDEN = paragraph`Its output is for the requester alone, so it is not shown here.`;

/** The same answer as the run's card; where the output is hidden, nothing of it gives the verdict away. */
function runHead(run: Run, { isHidden }: Sight): { readonly title: string; readonly tone: Tone } {
  if (run.state === 'finished' && !isBatchRun(run)) {
    const { headline, tone } = headOf(run, run.finishedAtMs ?? 0, isHidden);
    return { title: oneLine(headline), tone };
  }
  const { tone } = STATE_TEXT[run.state];
  if (run.state !== 'finished' || !run.outcome) return { title: stateWords(run), tone };
  const { title, tone: ended } = describeOutcome(run.outcome);
  return { title, tone: ended };
}

/** The content of the result, without its buttons and without a mention. */
function outcomeParts(run: Run): Shown {
  if (!ENDED.has(run.state)) return [];
  if (run.state !== 'finished' || isBatchRun(run)) {
    return resultMessage(run).parts.filter(({ kind }) => kind !== 'actions' && kind !== 'note' && kind !== 'heading');
  }
  return [paragraph`${secondLine(run)}`, resultParts(run, { isPrivate: false }), facts(resultFacts(run))];
}

const ENDED: ReadonlySet<Run['state']> = new Set(['finished', 'rejected', 'expired', 'cancelled']);

function decisionParts(run: Run): Shown {
  const { decision, grantedBy } = run;
  const granted = grantedBy === undefined ? [] : line`; let through by the grant of run ${code(grantedBy)}`;
  return [decision && paragraph`${decisionSpans(decision)}${granted}`, votesPart(run)];
}

/** The links in one line. Shared files are beside the result. */
export function linksPart({ delivery }: Run, { links: { thread, result } }: Pick<Sight, 'links'>): Shown {
  const files = Object.keys(delivery.files ?? {}).length;
  const withFile = files === 0 ? 'Result' : files === 1 ? 'Result and file' : 'Result and files';
  return paragraph`${dotted([
    thread === undefined ? thread : link(thread, 'Thread'),
    result === undefined ? result : link(result, withFile),
  ])}`;
}

function excerptParts(log: RunLog): Shown {
  if (log.bytes === 0) return paragraph`The log is empty.`;
  const size = `${formatCount(log.lines, 'line')}, ${formatBytes(log.bytes)}`;
  if (log.omittedLines === 0) return [paragraph`All of it: ${size}.`, preformatted(log.head)];
  const omitted = `\n… ${formatCount(log.omittedLines, 'line')} left out …\n`;
  return [paragraph`The first and last lines of ${size}.`, preformatted(`${log.head}${omitted}${log.tail}`)];
}

const noLogYet = ({ state }: Run): Part =>
  ENDED.has(state) || state === 'denied'
    ? paragraph`This run has no log.`
    : paragraph`There is no log yet. It comes with the result, in the thread.`;

/** The dashboard for one person, with links instead of buttons; the buttons are on the dashboard in the channel. */
export function batchForOne(run: BatchRun, context: BatchRenderContext & { readonly links: RunLinks }): Message {
  const { parts, ...frame } = batchMessage(run, context);
  return message(frame, [
    withoutWithdrawal(parts).filter(({ kind }) => kind !== 'actions'),
    isDecided(run) && facts(accessFacts(run), scopeFacts(run)),
    linksPart(run, context),
    isFinal(run.state)
      ? note`${code(`${COMMAND} export ${run.id}`)} exports it as YAML`
      : note`${code(`${COMMAND} batch ${run.id} pause | resume | cancel | --parallelism=P --replicas=N`)} changes it`,
  ]);
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
export const changedMessage = (id: string, change: keyof typeof CHANGED): Message =>
  message({ tone: 'success' }, [paragraph`${strong(`Batch ${id} ${CHANGED[change]}.`)}`]);

/** Until when votes count. */
const approvalFact = ({ state, approval }: Run): Fact | false =>
  state === 'pending-approval' && approval !== undefined && fact('Expires', time(approval.expiresAtMs));

/** A container that ended quickly was never seen running; its end has the time. */
function timeFacts({ startedAtMs, termination, verdict }: Run): readonly Fact[] {
  const atMs = startedAtMs ?? (termination && Date.parse(termination.startedAt)) ?? Number.NaN;
  return rows(
    verdict?.readAtMs !== undefined && fact('Read', time(verdict.readAtMs)),
    !Number.isNaN(atMs) && fact('Started', time(atMs)),
  );
}

function grantFact({ grant }: Run): Fact | undefined {
  if (!grant) return undefined;
  const { byUserId, uses, maxRuns, expiresAtMs, endedBy } = grant;
  const end = endedBy === undefined ? line`until ${time(expiresAtMs)}` : line`ended by ${person(endedBy)}`;
  return fact('Grant', line`by ${person(byUserId)}, ${uses.length} of ${maxRuns} used, ${end}`);
}

function containerFacts({ id, containerName, outcome }: Run): readonly Fact[] {
  if (outcome?.kind === 'answered') return [fact('Container', 'none was added')];
  if (containerName === undefined) return [];
  return [
    fact('Container', code(containerName)),
    fact('Its log', line`${code(`${COMMAND} logs ${id}`)}, also with --tail, --since and --grep`),
  ];
}
