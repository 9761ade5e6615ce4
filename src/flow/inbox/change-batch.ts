import type { BatchEvent } from '../../core/batch/batch.ts';
import { decideResize } from '../../core/batch/decide-batch.ts';
import type { Command } from '../../core/command/command.ts';
import type { ReasonCode } from '../../core/errors.ts';
import { isSamePerson } from '../../core/policy/identity.ts';
import { type BatchRun, isBatchRun, isFinal } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { defined } from '../../lib/defined.ts';
import { isApprover } from '../approval/approvers.ts';
import { record } from '../audit.ts';
import type { FlowDeps } from '../deps.ts';
import type { HeldRun, RunChanger } from '../held-run.ts';

/** What people may do to a batch while it runs. */
export type Change = NonNullable<Extract<Command, { kind: 'batch' }>['change']>;

/** Why it was not done; undefined: it was. */
export type NotChanged = { readonly code: ReasonCode; readonly detail?: string } | undefined;

export interface ChangeContext {
  readonly userId: string;
  readonly deps: FlowDeps;
  readonly runs: RunChanger;
}

/**
 * Does one change for one person: whether they may, whether the policy lets it grow, and where it stands are looked up now. On
 * record first, refusals too. The change itself is one atomic event of the batch's state machine. @throws KdebugError
 * audit_unavailable, store_unreachable, and the `Directory`'s: then nothing was changed
 */
export async function changeBatch(run: BatchRun, change: Change, asking: ChangeContext): Promise<NotChanged> {
  const { userId, deps, runs } = asking;
  if (!(await mayChange(run, userId, deps))) {
    await keep(run, change, asking, 'not_your_batch');
    return { code: 'not_your_batch' };
  }
  const answer = await runs.change(run.id, async (session) => ({ not: await changeAt(session, change, asking) }));
  return typeof answer === 'string' ? passOn(run, change, asking) : answer.not;
}

/** Who asked for it, and the approvers that its rule names. */
export async function mayChange(run: Run, userId: string, deps: FlowDeps): Promise<boolean> {
  const { identity } = deps.policies.current();
  if (isSamePerson(identity, run.origin, userId)) return true;
  return isApprover(run.approval?.from ?? [], userId, deps);
}

async function changeAt(session: HeldRun, change: Change, asking: ChangeContext): Promise<NotChanged> {
  const { run } = session;
  const { deps, userId } = asking;
  if (!isBatchRun(run)) return { code: 'batch_unchangeable' };
  if (change.kind === 'scale') {
    const verdict = decideResize(run.batch, change, deps.policies.current());
    if (verdict.kind === 'deny') {
      await keep(run, change, asking, verdict.code);
      return { code: verdict.code, ...defined({ detail: verdict.subject }) };
    }
  }
  await keep(run, change, asking, 'allowed');
  const event = eventOf(change, userId);
  const moved = await session.tryApply({ kind: 'batch', event, atMs: deps.clock.now() });
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

function keep(run: Run, change: Change, { deps, userId }: ChangeContext, verdict: string): Promise<void> {
  const sizes = change.kind === 'scale' ? { parallelism: change.parallelism, replicas: change.replicas } : {};
  return record(deps, run, 'batch', { actorId: userId, kind: change.kind, ...sizes, verdict });
}

/** Nobody here could take it: it is over, or another replica is at work on it, which is left a note (`heedNotes`). */
async function passOn({ id }: Run, change: Change, { userId, deps: { store } }: ChangeContext): Promise<NotChanged> {
  const now = await store.read(id);
  if (!now || isFinal(now.state)) return { code: 'batch_unchangeable' };
  await store.notes.leave(id, JSON.stringify({ change, userId }));
  return { code: 'batch_elsewhere' };
}
