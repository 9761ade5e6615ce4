import { AUDITED_AS } from '../../core/actions.ts';
import type { BatchEvent } from '../../core/batch/batch.ts';
import type { ReasonCode } from '../../core/errors.ts';
import { decideResize } from '../../core/planning/decide-batch.ts';
import { isSamePerson } from '../../core/planning/identity.ts';
import type { Command } from '../../core/request/command.ts';
import type { Origin } from '../../core/request/origin.ts';
import { type BatchRun, isBatchRun, isFinal } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { changedMessage } from '../../core/say/answers/run-for-one.ts';
import { resizeForm, sizesOfForm } from '../../core/say/batch/batch-forms.ts';
import { defined } from '../../lib/object.ts';
import type { Again } from '../again/again.ts';
import { rerunFailed } from '../again/rerun-failed.ts';
import type { Approvals } from '../approval/votes.ts';
import { type AcceptRequest, LookupLimiter } from '../context/accept.ts';
import { record } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import { privateDestinationOf } from '../context/destinations.ts';
import { isOnCard, type RunOrAnswer, readRun, readRunOfChannel, runOfAnyCard, STALE } from '../context/find-run.ts';
import type { HeldRun, RunChanger } from '../context/held-run.ts';
import { answerReason, answerWith, type BoundedRefusals, closeForm, NOTHING } from '../context/refusals.ts';
import { exportBatch, showRun } from '../lookup/show.ts';
import { isApprover } from '../planning/approvers.ts';
import type { Answer, Click, Submission, SubmitAnswer } from '../ports/slack.ts';
import { hasSecretOfAnother } from '../run/equal-run.ts';

export type Change = NonNullable<Extract<Command, { kind: 'batch' }>['change']>;

/** The reason why a change was refused; undefined: it was made. */
export type NotChanged = { readonly code: ReasonCode; readonly detail?: string } | undefined;

export interface ChangeContext {
  readonly userId: string;
  readonly deps: FlowDeps;
  readonly runs: RunChanger;
  readonly refusals: BoundedRefusals;
  /** Bounds one person's changes where they ask for them. Absent: they have been let through already. */
  readonly changes?: LookupLimiter;
}

/**
 * Makes one change for one person. Looks up now whether they may, whether the policy lets the batch grow, and its state. Records first,
 * refusals too; the change is one atomic event. @throws KdebugError audit_unavailable, store_unreachable, and the `Directory`'s: then
 * nothing has changed
 */
export async function changeBatch(run: BatchRun, change: Change, context: ChangeContext): Promise<NotChanged> {
  const { userId, deps, runs, changes } = context;
  if (!(await mayChange(run, userId, deps))) {
    await recordRefused(run, change, context, 'not_your_batch');
    return { code: 'not_your_batch' };
  }
  // Each change is a record, and pausing and resuming has no end. To cancel is always possible.
  if (change.kind !== 'cancel' && changes?.refusal(userId, 'change-batch')) {
    await recordRefused(run, change, context, 'limit_per_person');
    return { code: 'limit_per_person' };
  }
  const result = await runs.change(run.id, async (held) => ({ not: await changeHeld(held, change, context) }));
  return typeof result === 'string' ? passOn(run, change, context) : result.not;
}

/** The requester, and the approvers that the rule of the batch, or of the run, names. */
export async function mayChange(run: Run, userId: string, deps: FlowDeps): Promise<boolean> {
  const { identity } = deps.policies.current();
  if (isSamePerson(identity, run.origin, userId)) return true;
  return isApprover(run.approval?.from ?? [], userId, deps);
}

async function changeHeld(held: HeldRun, change: Change, context: ChangeContext): Promise<NotChanged> {
  const { run } = held;
  const { deps, userId } = context;
  if (!isBatchRun(run)) return { code: 'batch_unchangeable' };
  if (change.kind === 'scale') {
    const decision = decideResize(run.batch, change, deps.policies.current());
    if (decision.kind === 'deny') {
      await recordRefused(run, change, context, decision.code);
      return { code: decision.code, ...defined({ detail: decision.subject }) };
    }
  }
  const recordAllowed = () => record(deps, run, 'batch', { actorId: userId, ...factsOf(change), verdict: 'allowed' });
  const event = { kind: 'batch', event: eventOf(change, userId), atMs: deps.clock.now() } as const;
  const moved = await held.tryApply(event, recordAllowed);
  return moved === 'moved' ? undefined : { code: 'batch_unchangeable' };
}

function eventOf(change: Change, byUserId: string): BatchEvent {
  switch (change.kind) {
    case 'pause':
      return { kind: 'paused', byUserId };
    case 'resume':
      return { kind: 'resumed' };
    case 'continue':
      return { kind: 'continued' };
    case 'cancel':
      return { kind: 'cancelled', byUserId };
    case 'scale': {
      const { kind: _, ...sizes } = change;
      return { kind: 'resized', ...sizes };
    }
  }
}

function recordRefused(
  run: Run,
  change: Change,
  { refusals, userId }: Pick<ChangeContext, 'refusals' | 'userId'>,
  code: ReasonCode,
): Promise<void> {
  return refusals.recordOnRun(run, { userId, code, step: 'batch', facts: { ...factsOf(change), verdict: code } });
}

const factsOf = (change: Change) => ({
  kind: change.kind,
  parallelism: change.kind === 'scale' ? change.parallelism : undefined,
  replicas: change.kind === 'scale' ? change.replicas : undefined,
});

/** This replica cannot hold the batch: it has ended, or another replica holds it and gets a note (`applyPeerCommands`). */
async function passOn({ id }: Run, change: Change, { userId, deps: { store } }: ChangeContext): Promise<NotChanged> {
  const now = await store.read(id);
  if (!now || isFinal(now.state)) return { code: 'batch_unchangeable' };
  await store.notes.leave(id, JSON.stringify({ change, userId }));
  return { code: 'batch_elsewhere' };
}

/** Of a batch, by one person, as many as cost as much as one run. */
const CHANGES_PER_RUN = 4;

type ChangeByButton = Extract<Change['kind'], Click['action']>;

export interface BatchCommandsParts {
  readonly deps: FlowDeps;
  readonly runs: RunChanger;
  readonly refusals: BoundedRefusals;
  readonly approvals: Approvals;
  readonly accept: AcceptRequest;
}

/**
 * People's actions on an existing batch: show, change, rerun its failed pods, export as YAML. A click proves nothing, so each looks up the
 * person, their rights and the batch's state. Every refusal is private.
 */
export class BatchCommands {
  readonly #parts: BatchCommandsParts;
  readonly #changes: LookupLimiter;

  constructor(parts: BatchCommandsParts) {
    this.#parts = parts;
    this.#changes = new LookupLimiter(parts.deps, CHANGES_PER_RUN);
  }

  async clickChange(click: Click, kind: ChangeByButton): Promise<Answer> {
    const found = await this.#ofCard({ ...click, runId: click.value });
    return this.#changeByClick('run' in found ? found.run : undefined, click, kind);
  }

  /** Withdraws a request that waits for approval, for one pod or many; cancels a batch that may run. */
  async clickCancel(click: Click): Promise<Answer> {
    const run = await readRun(click.value, this.#parts.deps);
    if (!run || !isBatchRun(run) || run.state === 'pending-approval')
      return this.#parts.approvals.click(click, 'cancel');
    return this.#changeByClick(isOnCard(run.delivery.anchor, click) ? run : undefined, click, 'cancel');
  }

  async clickResize(click: Click): Promise<Answer> {
    const { deps, refusals } = this.#parts;
    const { userId } = click;
    const found = await this.#ofCard({ ...click, runId: click.value });
    if ('answer' in found) return found.answer;
    const { run } = found;
    if (!(await mayChange(run, userId, deps))) {
      const { step, kind } = AUDITED_AS.resize;
      const code = 'not_your_batch';
      await refusals.recordOnRun(run, { userId, code, step, facts: { kind, verdict: code } });
      return answerReason(code);
    }
    return isOpen(run) ? { kind: 'form', form: resizeForm(run) } : answerReason('batch_unchangeable');
  }

  async submitResize(submission: Submission): Promise<SubmitAnswer> {
    const run = await readRunOfChannel(submission.value, submission.channelId, this.#parts.deps);
    if (!run || !isBatchRun(run)) return closeForm(answerReason('button_stale'));
    const sizes = sizesOfForm(submission.fields, run.batch);
    if (sizes.kind === 'errors') return sizes;
    const { kind: _, ...scale } = sizes;
    return closeForm(answerOf(await this.#change(run, { kind: 'scale', ...scale }, submission.userId)));
  }

  async rerunFailed(again: Again): Promise<Answer> {
    const { accept, deps } = this.#parts;
    const found = await this.#ofCard(again);
    if ('answer' in found) return found.answer;
    const { run } = found;
    return rerunFailed(run, again, { accept, nowMs: deps.clock.now(), policy: deps.policies.current() });
  }

  async command(origin: Origin, { id, change }: Extract<Command, { kind: 'batch' }>): Promise<Answer> {
    const { deps } = this.#parts;
    const run = await readRunOfChannel(id, origin.channelId, deps);
    if (!run || !isBatchRun(run)) return answerReason('batch_not_found', id);
    if (!change) return answerWith(await showRun(run, { origin, kind: 'show', deps }));
    if (change.kind === 'cancel' && run.state === 'pending-approval') return this.withdraw(run, origin);
    return answerOf(
      await this.#change(run, change, origin.requesterId),
      answerWith(changedMessage(run.id, change.kind)),
    );
  }

  async export(origin: Origin, id: string): Promise<Answer> {
    const { deps } = this.#parts;
    const run = await readRunOfChannel(id, origin.channelId, deps);
    if (!run || !isBatchRun(run)) return answerReason('batch_not_found', id);
    const { redact } = deps.policies.current().output;
    if (hasSecretOfAnother(run, origin.requesterId, redact)) return answerReason('run_has_secret', run.id);
    return answerWith(exportBatch(run, privateDestinationOf({ origin, delivery: {} }), deps));
  }

  async #changeByClick(run: BatchRun | undefined, { userId }: Click, kind: ChangeByButton): Promise<Answer> {
    return run ? answerOf(await this.#change(run, { kind }, userId)) : answerReason('button_stale');
  }

  #change(run: BatchRun, change: Change, userId: string): Promise<NotChanged> {
    const { deps, runs, refusals } = this.#parts;
    return changeBatch(run, change, { userId, deps, runs, refusals, changes: this.#changes });
  }

  /** Judged like a click on the card's own button. */
  withdraw(run: Run, { teamId, requesterId: userId, channelId, dedupeKey }: Origin): Promise<Answer> {
    const messageTs = run.delivery.anchor?.ts ?? '';
    const click: Click = { action: 'cancel', value: run.id, teamId, userId, channelId, messageTs, dedupeKey };
    return this.#parts.approvals.click(click, 'cancel');
  }

  /** The dashboard, or the result, which has buttons too. */
  async #ofCard(click: Pick<Again, 'runId' | 'channelId' | 'messageTs'>): Promise<RunOrAnswer<BatchRun>> {
    const found = await runOfAnyCard(click, this.#parts.deps);
    if ('answer' in found) return found;
    const { run } = found;
    return isBatchRun(run) ? { run } : STALE;
  }
}

/** It may run, and is not about to end. */
const isOpen = ({ state, batch }: BatchRun): boolean => (state === 'approved' || state === 'running') && !batch.closed;

const answerOf = (not: NotChanged, done: Answer = NOTHING): Answer => (not ? answerReason(not.code, not.detail) : done);
