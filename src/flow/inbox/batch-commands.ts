import type { Command } from '../../core/command/command.ts';
import { toKdebugError } from '../../core/errors.ts';
import { isRunId } from '../../core/ids.ts';
import { jobOfRun } from '../../core/job/job-request.ts';
import { RESIZE_FORM, resizeForm, sizesOfForm } from '../../core/report/batch/batch-forms.ts';
import {
  exportedAsFileMessage,
  exportedFileMessage,
  exportMessage,
  MAX_SHOWN_LENGTH,
} from '../../core/report/batch/manifest-message.ts';
import { changedMessage } from '../../core/report/batch/private-batch.ts';
import type { Message } from '../../core/report/message.ts';
import { errorMessage, reasonMessage } from '../../core/report/private-messages.ts';
import { type BatchRun, isBatchRun } from '../../core/run/life-cycle.ts';
import type { Origin, Run } from '../../core/run/run.ts';
import type { Approvals } from '../approval/votes.ts';
import { record } from '../audit.ts';
import type { FlowDeps } from '../deps.ts';
import type { RunChanger } from '../held-run.ts';
import type { Answer, Click, PrivateDestination, Submission, SubmitAnswer } from '../ports/slack.ts';
import { privateDestinationOf } from '../reply/destinations.ts';
import type { AcceptRequest } from './accept.ts';
import { type Again, againOf, RERUN_FAILED, rerunFailed, submitAgain } from './again.ts';
import { type Change, changeBatch, mayChange, type NotChanged } from './change-batch.ts';
import { showRun } from './show.ts';

const CHANGES = ['pause', 'resume', 'continue', 'cancel'] as const;
const RESIZE = 'resize';

const said = (message: Message): Answer => ({ kind: 'message', message });
const NOTHING: Answer = { kind: 'nothing' };

export interface BatchCommandsParts {
  readonly deps: FlowDeps;
  readonly runs: RunChanger;
  readonly approvals: Approvals;
  readonly take: AcceptRequest;
}

/**
 * What people do with a batch that there is: look at it, change it, take its failed pods up again, have it as YAML. A click is
 * only a hint: who it is, whether they may and where the batch stands are looked up at the click. Every refusal is private.
 */
export class BatchCommands {
  readonly #parts: BatchCommandsParts;

  constructor(parts: BatchCommandsParts) {
    this.#parts = parts;
  }

  /** Undefined: no button of a batch at work, or one that a vote decides. */
  async click(click: Click): Promise<Answer | undefined> {
    const change = CHANGES.find((kind) => kind === click.action);
    if (!change && click.action !== RESIZE && click.action !== RERUN_FAILED) return undefined;
    const run = await this.#read(click.value);
    // Before it runs, Cancel takes the request back, as it does for one pod.
    if (change === 'cancel' && (!run || !isBatchRun(run) || run.state === 'pending-approval')) return undefined;
    const anchor = run?.delivery.anchor;
    // A button of another message, channel or batch was not put there by us.
    if (!run || !isBatchRun(run) || anchor?.channelId !== click.channelId || anchor.ts !== click.messageTs) {
      return said(reasonMessage('button_stale'));
    }
    if (change) return refusalOr(await this.#change(run, { kind: change }, click.userId), NOTHING);
    if (click.action === RESIZE) return this.#openResize(run, click);
    return this.#rerun(run, { ...click, runId: run.id });
  }

  #rerun(run: BatchRun, again: Again): Promise<Answer> {
    const { take, deps } = this.#parts;
    return rerunFailed(run, again, { take, nowMs: deps.clock.now(), policy: deps.policies.current() });
  }

  async #rerunByForm(again: Again): Promise<Answer> {
    const run = await this.#read(again.runId);
    const isThere = run?.delivery.anchor?.channelId === again.channelId;
    return run && isBatchRun(run) && isThere ? this.#rerun(run, again) : said(reasonMessage('button_stale'));
  }

  async command(origin: Origin, { id, change }: Extract<Command, { kind: 'batch' }>): Promise<Answer> {
    const run = await this.#readFor(origin, id);
    if (!run || !isBatchRun(run)) return said(reasonMessage('batch_not_found', id));
    if (!change) return said(await showRun(run, { origin, kind: 'show', deps: this.#parts.deps }));
    if (change.kind === 'cancel' && run.state === 'pending-approval') return this.#takeBack(run, origin);
    const not = await this.#change(run, change, origin.requesterId);
    return refusalOr(not, said(changedMessage(run.id, change.kind)));
  }

  async export(origin: Origin, id: string): Promise<Answer> {
    const run = await this.#readFor(origin, id);
    if (!run || !isBatchRun(run)) return said(reasonMessage('batch_not_found', id));
    const asker = privateDestinationOf({ origin, delivery: {} });
    return said(exportBatch(run, asker, this.#parts.deps));
  }

  /** Undefined: no form of a batch. */
  async submit(submission: Submission): Promise<SubmitAnswer | undefined> {
    const again = againOf(submission, RERUN_FAILED);
    if (again) return submitAgain(again, (given) => this.#rerunByForm(given));
    if (submission.name !== RESIZE_FORM) return undefined;
    const run = await this.#read(submission.value);
    if (!run || !isBatchRun(run) || run.origin.channelId !== submission.channelId) {
      return { kind: 'taken', message: reasonMessage('button_stale') };
    }
    const sizes = sizesOfForm(submission.fields, run.batch);
    if (sizes.kind === 'errors') return sizes;
    const { kind: _, ...scale } = sizes;
    const not = await this.#change(run, { kind: 'scale', ...scale }, submission.userId);
    return not ? { kind: 'taken', message: reasonMessage(not.code, not.detail) } : { kind: 'taken' };
  }

  #change(run: BatchRun, change: Change, userId: string): Promise<NotChanged> {
    const { deps, runs } = this.#parts;
    return changeBatch(run, change, { userId, deps, runs });
  }

  async #openResize(run: BatchRun, { userId }: Click): Promise<Answer> {
    const { deps } = this.#parts;
    if (!(await mayChange(run, userId, deps))) {
      await record(deps, run, 'batch', { actorId: userId, kind: RESIZE, verdict: 'not_your_batch' });
      return said(reasonMessage('not_your_batch'));
    }
    return isOpen(run) ? { kind: 'form', form: resizeForm(run) } : said(reasonMessage('batch_unchangeable'));
  }

  /** By the same judgement as the card's own button. */
  #takeBack(run: BatchRun, { teamId, requesterId: userId, channelId, dedupeKey }: Origin): Promise<Answer> {
    const messageTs = run.delivery.anchor?.ts ?? '';
    const click = { action: 'cancel', value: run.id, teamId, userId, channelId, messageTs, dedupeKey };
    return this.#parts.approvals.click(click, 'cancel');
  }

  async #readFor({ channelId }: Origin, id: string): Promise<Run | undefined> {
    const run = await this.#read(id);
    // A batch of another channel is as good as none.
    return run?.origin.channelId === channelId ? run : undefined;
  }

  async #read(id: string): Promise<Run | undefined> {
    return isRunId(id) ? this.#parts.deps.store.read(id) : undefined;
  }
}

/** It may run, and is not about to end. */
const isOpen = ({ state, batch }: BatchRun): boolean => (state === 'approved' || state === 'running') && !batch.closed;

const refusalOr = (not: NotChanged, done: Answer): Answer => (not ? said(reasonMessage(not.code, not.detail)) : done);

/**
 * The batch as an EphemeralJob, for one person: in a code block, and where that would cut it, as a file in a direct message,
 * which is sent after the answer.
 */
function exportBatch(run: BatchRun, asker: PrivateDestination, deps: FlowDeps): Message {
  const job = jobOfRun(run);
  if (!job) return reasonMessage('batch_not_exportable');
  const yaml = deps.manifests.write(job);
  if (yaml.length <= MAX_SHOWN_LENGTH) return exportMessage(run.id, yaml);
  void sendFile(run, { yaml, asker, deps });
  return exportedAsFileMessage(run.id);
}

interface ToSend {
  readonly yaml: string;
  readonly asker: PrivateDestination;
  readonly deps: FlowDeps;
}

async function sendFile({ id }: BatchRun, { yaml, asker, deps }: ToSend): Promise<void> {
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
    await thread.share(await thread.openDirect(asker.userId), exportedFileMessage(id), [file]);
  } catch (thrown) {
    const error = toKdebugError(thrown);
    log.warn('an exported batch was not sent', { runId: id, reason: error.code });
    await thread.tell(asker, errorMessage(error)).catch(() => undefined);
  }
}
