import { toKdebugError } from '../../core/errors.ts';
import { jobOfRun } from '../../core/job/job-request.ts';
import {
  exportedAsFileMessage,
  exportedFileMessage,
  exportMessage,
  MAX_SHOWN_LENGTH,
} from '../../core/report/batch/manifest-message.ts';
import type { Message } from '../../core/report/message.ts';
import { errorMessage, reasonMessage } from '../../core/report/private-messages.ts';
import { batchForOne, logsMessage, type RunLinks, showMessage } from '../../core/report/run-for-one.ts';
import { type BatchRun, isBatchRun } from '../../core/run/life-cycle.ts';
import type { Origin, Run } from '../../core/run/run.ts';
import type { PostRef } from '../../core/run/run-state.ts';
import { withDeadline } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../deps.ts';
import { readRunOfChannel } from '../inbox/find-run.ts';
import type { PrivateDestination } from '../ports/slack.ts';
import { isForRequesterAlone } from '../reply/slack-connect.ts';

/** Slack waits three seconds for the answer, which is useful even without links. */
const LINKS_MS = 1_000;

export async function showOrLogs(
  origin: Origin,
  { kind, id }: { readonly kind: 'show' | 'logs'; readonly id: string },
  deps: FlowDeps,
): Promise<Message> {
  const run = await readRunOfChannel(id, origin.channelId, deps);
  return run ? showRun(run, { origin, kind, deps }) : reasonMessage('run_not_found', id);
}

/** Shows a run or a batch to one person, and private output only to its requester. */
export async function showRun(
  run: Run,
  { origin, kind, deps }: { readonly origin: Origin; readonly kind: 'show' | 'logs'; readonly deps: FlowDeps },
): Promise<Message> {
  const isRequester = run.origin.requesterId === origin.requesterId;
  const isHidden = await isHiddenFrom(run, origin.requesterId, deps);
  const links = await linksOf(run, isRequester, deps);
  if (!isBatchRun(run))
    return kind === 'logs' ? logsMessage(run, { isHidden, links }) : showMessage(run, { isHidden, links });
  const { clock, policies } = deps;
  return batchForOne(run, { nowMs: clock.now(), approvers: policies.current().approvers, isPrivate: isHidden, links });
}

/** Whether this person may not see what its containers wrote; true if Slack cannot say. */
export async function isHiddenFrom({ origin }: Run, userId: string, deps: FlowDeps): Promise<boolean> {
  return origin.requesterId !== userId && isForRequesterAlone(origin, deps).catch(() => true);
}

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
  void sendFile(run, { yaml, recipient, deps });
  return exportedAsFileMessage(run.id);
}

interface ExportedFile {
  readonly yaml: string;
  readonly recipient: PrivateDestination;
  readonly deps: FlowDeps;
}

async function sendFile({ id }: BatchRun, { yaml, recipient, deps }: ExportedFile): Promise<void> {
  const { thread, log } = deps;
  try {
    const bytes = Buffer.from(yaml);
    const file = {
      filename: `kdebug-batch-${id}.yaml`,
      title: `Batch ${id} as an EphemeralJob`,
      bytes: bytes.length,
      open: async function* () {
        yield bytes;
      },
    };
    await thread.share(await thread.openDirect(recipient.userId), exportedFileMessage(id), [file]);
  } catch (thrown) {
    const error = toKdebugError(thrown);
    log.warn('exported batch not sent', { runId: id, reason: error.code });
    await thread.tell(recipient, errorMessage(error)).catch(() => undefined);
  }
}
