import { jobOfRun } from '../../core/job/job-request.ts';
import type { LogFilter } from '../../core/request/command.ts';
import type { Origin } from '../../core/request/origin.ts';
import { type BatchRun, isBatchRun } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import type { PostRef } from '../../core/run/run-state.ts';
import { reasonMessage } from '../../core/say/answers/private-messages.ts';
import { batchForOne, logsMessage, type RunLinks, showMessage } from '../../core/say/answers/run-for-one.ts';
import {
  exportedAsFileMessage,
  exportedFileMessage,
  exportMessage,
  MAX_SHOWN_LENGTH,
} from '../../core/say/batch/manifest-message.ts';
import type { Message } from '../../core/say/message/message.ts';
import { withDeadline } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import { readRunOfChannel } from '../context/find-run.ts';
import { isForRequesterAlone } from '../planning/channel-check.ts';
import type { PrivateDestination } from '../ports/slack.ts';
import { logsOf, sendFile } from './logs.ts';

/** Slack waits three seconds for the answer, which is useful even without links. */
const LINKS_MS = 1_000;

export async function showOrLogs(
  origin: Origin,
  { kind, id, ...filter }: { readonly kind: 'show' | 'logs'; readonly id: string } & LogFilter,
  deps: FlowDeps,
): Promise<Message> {
  const run = await readRunOfChannel(id, origin.channelId, deps);
  return run ? showRun(run, { origin, kind, filter, deps }) : reasonMessage('run_not_found', id);
}

interface ShowRequest {
  /** Of the reader. */
  readonly origin: Origin;
  readonly kind: 'show' | 'logs';
  readonly filter?: LogFilter;
  readonly deps: FlowDeps;
}

/** Shows a run or a batch to one person, and private output only to its requester. */
export async function showRun(run: Run, { origin, kind, filter = {}, deps }: ShowRequest): Promise<Message> {
  const isRequester = run.origin.requesterId === origin.requesterId;
  const [isOfRequester, links] = await Promise.all([isPrivate(run, deps), linksOf(run, isRequester, deps)]);
  const isHidden = !isRequester && isOfRequester;
  const sight = { isHidden, links };
  if (!isBatchRun(run)) {
    if (kind === 'show') return showMessage(run, sight, deps.policies.current().output.redact);
    return isHidden ? logsMessage(run, sight) : logsOf(run, { origin, filter, sight, isPrivate: isOfRequester }, deps);
  }
  const { clock, policies } = deps;
  return batchForOne(run, { nowMs: clock.now(), approvers: policies.current().approvers, isPrivate: isHidden, links });
}

/** This person may not see the output of its containers; true if Slack cannot say. */
export const isHiddenFrom = async (run: Run, userId: string, deps: FlowDeps): Promise<boolean> =>
  run.origin.requesterId !== userId && (await isPrivate(run, deps));

const isPrivate = (run: Run, deps: FlowDeps): Promise<boolean> => isForRequesterAlone(run, deps).catch(() => true);

/** Links that this person can open: in the run's channel and in their own direct message. */
async function linksOf(
  { origin, delivery }: Run,
  isRequester: boolean,
  { thread, clock }: FlowDeps,
): Promise<RunLinks> {
  const linkTo = async (ref: PostRef | undefined): Promise<string | undefined> =>
    ref && (isRequester || ref.channelId === origin.channelId)
      ? thread.permalink(ref).catch(() => undefined)
      : undefined;
  const found = Promise.all([linkTo(delivery.anchor), linkTo(delivery.result)]);
  const [anchor, result] = await withDeadline(clock, LINKS_MS, found, (): undefined[] => []);
  return defined({ thread: anchor, result });
}

/** The batch as an EphemeralJob: in a code block or, if too long for one, in a file by direct message. */
export function exportBatch(run: BatchRun, recipient: PrivateDestination, deps: FlowDeps): Message {
  const job = jobOfRun(run);
  if (!job) return reasonMessage('batch_not_exportable');
  const yaml = deps.manifests.write(job);
  if (yaml.length <= MAX_SHOWN_LENGTH) return exportMessage(run.id, yaml);
  const { id } = run;
  const file = {
    filename: `kdebug-batch-${id}.yaml`,
    title: `Batch ${id} as an EphemeralJob`,
    text: yaml,
    message: exportedFileMessage(id),
  };
  void sendFile(file, { reader: recipient }, deps);
  return exportedAsFileMessage(run.id);
}
