import { stateOfContainer } from '../../core/container/status.ts';
import { toKdebugError } from '../../core/errors.ts';
import { isDirect } from '../../core/ids.ts';
import { matchesNamespace } from '../../core/planning/resolve.ts';
import { channelPolicy, type Policy } from '../../core/policy/policy.ts';
import type { Origin } from '../../core/request/origin.ts';
import { isFinal, isLaunched, type LaunchedRun } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import {
  isLong,
  type LogReading,
  linesFileMessage,
  logAnswer,
  readingMessage,
  storedReading,
} from '../../core/say/answers/log-answer.ts';
import { errorMessage } from '../../core/say/answers/private-messages.ts';
import { logsMessage } from '../../core/say/answers/run-for-one.ts';
import type { Message } from '../../core/say/message/message.ts';
import { withDeadline } from '../../lib/clock.ts';
import { record } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import { privateDestinationOf } from '../context/destinations.ts';
import { currentPod } from '../context/pod-room.ts';
import { refusal } from '../context/refusals.ts';
import { mayUseDirect } from '../planning/approvers.ts';
import { accessProblem } from '../planning/preflight.ts';
import type { Destination, PrivateDestination } from '../ports/slack.ts';
import { type LogRequestOfOne, readLines } from './read-lines.ts';

/** Slack waits three seconds, of which the links have used up to one. A longer reading answers later. */
const ANSWER_MS = 1_000;
/**
 * The answer to `logs` for a reader who may see the output. A run in progress, or a wish for certain lines, reads the log
 * again from the cluster, from its start, through the same redaction. Where that cannot be, it shows what is stored.
 */
export async function logsOf(run: Run, request: LogRequestOfOne, deps: FlowDeps): Promise<Message> {
  const { filter, sight, origin } = request;
  const isPlain = Object.keys(filter).length === 0;
  if (!isLaunched(run) || (isPlain && isFinal(run.state))) return logsMessage(run, sight);
  const answer = answerOf(run, request, deps);
  return withDeadline(deps.clock, ANSWER_MS, answer, () => {
    void followUp(origin, answer, deps);
    return readingMessage(run);
  });
}

async function followUp(origin: Origin, answer: Promise<Message>, { thread, log }: FlowDeps): Promise<void> {
  try {
    const message = await answer.catch((thrown: unknown) => errorMessage(toKdebugError(thrown)));
    await thread.tell(privateDestinationOf({ origin, delivery: {} }), message);
  } catch (thrown) {
    log.warn('log lines not sent', { reason: toKdebugError(thrown).code });
  }
}

async function answerOf(run: LaunchedRun, request: LogRequestOfOne, deps: FlowDeps): Promise<Message> {
  const { filter, sight, origin, isPrivate } = request;
  const read = await readAgain(run, request, deps);
  const stored = 'problem' in read && run.log ? storedReading(run.log, filter, read.problem) : undefined;
  const reading = 'problem' in read ? stored : read;
  if (!reading) return logsMessage(run, sight);
  if (!isLong(reading.selected)) return logAnswer(run, { ...sight, filter, reading });
  const { channelId, threadTs } = origin;
  const thread = threadTs === undefined || isPrivate ? undefined : { channelId, threadTs };
  const reader = privateDestinationOf({ origin, delivery: {} });
  const file = {
    filename: `kdebug-${run.id}-lines.log`,
    title: `Lines of the log of run ${run.id}`,
    text: `${reading.selected.text}\n`,
    message: linesFileMessage(run, reading.selected, origin.requesterId),
  };
  void sendFile(file, { reader, thread }, deps);
  return logAnswer(run, { ...sight, filter, reading, file: thread ? 'thread' : 'direct' });
}

/** A sentence that says why not. */
interface Unread {
  readonly problem: string;
}

async function readAgain(run: LaunchedRun, request: LogRequestOfOne, deps: FlowDeps): Promise<LogReading | Unread> {
  const { plan, containerName } = run;
  const { origin, filter } = request;
  try {
    if (!mayRead(run, origin, deps.policies.current()))
      return { problem: 'The policy does not allow this channel to read from that namespace now.' };
    // In a channel, who reads it is Slack's to say; a direct message stays open to people who have lost it.
    const notDirect = isDirect(origin.channelId) && !(await mayUseDirect(origin.requesterId, deps));
    const refused = notDirect ? refusal('direct_not_allowed') : await accessProblem({ id: run.id, origin }, plan, deps);
    if (refused) return { problem: `The log cannot be read again for you: ${refused.message}.` };
    const pod = await currentPod(plan, deps);
    if (!pod) return { problem: 'The pod is gone.' };
    const state = stateOfContainer(pod, containerName, plan.targetContainerName);
    if (state.kind !== 'running' && state.kind !== 'terminated')
      return { problem: 'The container has not started, or the node has forgotten it.' };
    await record(deps, { id: run.id, origin }, 'log-read', { tail: filter.tail, sinceMs: filter.sinceMs });
    const startedAtMs = state.kind === 'running' ? state.startedAtMs : Date.parse(state.termination.startedAt);
    return await readLines(run, { ...request, isRunning: state.kind === 'running', startedAtMs }, deps);
  } catch (thrown) {
    const { code } = toKdebugError(thrown);
    if (code === 'audit_unavailable') throw thrown;
    return { problem: `The cluster does not give the log now (${code}).` };
  }
}

/** By the policy of now, as for a run: some rule of the channel names the cluster and the namespace. */
function mayRead({ plan }: LaunchedRun, { channelId }: Origin, policy: Policy): boolean {
  const rules = channelPolicy(policy, channelId)?.rules ?? [];
  return rules.some(
    ({ clusters, namespaces }) =>
      clusters.includes(plan.cluster) && namespaces.some((pattern) => matchesNamespace(pattern, plan.namespace)),
  );
}

export interface TextFile {
  readonly filename: string;
  readonly title: string;
  readonly text: string;
  /** Shown with it. */
  readonly message: Message;
}

/** To a thread, or by direct message. If Slack refuses it, the person learns why. Never rejects. */
export async function sendFile(
  { filename, title, text, message }: TextFile,
  { reader, thread: destination }: { readonly reader: PrivateDestination; readonly thread?: Destination | undefined },
  { thread, log }: FlowDeps,
): Promise<void> {
  try {
    const bytes = Buffer.from(text);
    const open = async function* () {
      yield bytes;
    };
    const target = destination ?? (await thread.openDirect(reader.userId));
    await thread.share(target, () => message, [{ filename, title, bytes: bytes.length, open }]);
  } catch (thrown) {
    const error = toKdebugError(thrown);
    log.warn('file of an answer not sent', { filename, reason: error.code });
    await thread.tell(reader, errorMessage(error)).catch(() => undefined);
  }
}
