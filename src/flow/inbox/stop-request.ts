import { AUDITED_AS } from '../../core/actions.ts';
import type { ReasonCode } from '../../core/errors.ts';
import type { Origin, Refusal } from '../../core/request/origin.ts';
import { isBatchRun, isPlanned, type PlannedRun } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { canBeStopped, isStopping } from '../../core/run/stop.ts';
import { stopMessage, stopRefusedMessage } from '../../core/say/answers/stop-messages.ts';
import { withDeadline } from '../../lib/clock.ts';
import type { Approvals } from '../approval/votes.ts';
import { record } from '../context/audit.ts';
import { isOnCard, readRun, readRunOfChannel } from '../context/find-run.ts';
import type { RunChanger } from '../context/held-run.ts';
import { currentPod } from '../context/pod-room.ts';
import { answerReason, answerWith, type BoundedRefusals, NOTHING, refusal } from '../context/refusals.ts';
import { stopProblem } from '../planning/stop-check.ts';
import type { Answer, Click } from '../ports/slack.ts';
import { type BatchCommands, type ChangeContext, mayChange, type NotChanged } from './batch-commands.ts';

/** The longest time that a person waits for the checks before the answer. */
const CHECKS_MS = 1_500;

/** A note to another replica. */
export const STOP = 'stop';

/**
 * Stores one person's wish to end a run; whoever holds the run carries it out (`Stopper`). Looks up now whether they
 * may, and whether it can work. Records first, refusals too. Undefined: stored, and nobody else had.
 * @throws KdebugError audit_unavailable, store_unreachable, and the `Directory`'s: then nothing has changed
 */
export async function stopRun(run: Run, context: ChangeContext): Promise<NotChanged> {
  const { deps, runs } = context;
  const refused = await whyNot(run, context);
  if (refused) {
    const { userId, refusals } = context;
    const { step, kind } = AUDITED_AS.stop;
    await refusals.recordOnRun(run, { userId, code: refused.code, step, facts: { kind, verdict: refused.code } });
    return refused;
  }
  const event = { kind: 'stop-requested', byUserId: context.userId, atMs: deps.clock.now() } as const;
  const moved = await runs.change(run.id, (held) => held.tryApply(event, () => recordAllowed(run, context)));
  if (moved === 'moved') return undefined;
  const now = (await deps.store.read(run.id)) ?? run;
  if (moved === 'illegal' || !canBeStopped(now)) return { code: stateProblem(now) ?? 'run_ended' };
  await deps.store.notes.leave(run.id, JSON.stringify({ change: { kind: STOP }, userId: context.userId }));
  return { code: 'stop_elsewhere' };
}

type Refused = NonNullable<NotChanged>;

async function whyNot(run: Run, { userId, deps }: ChangeContext): Promise<Refused | undefined> {
  if (!(await mayChange(run, userId, deps))) return { code: 'not_your_run' };
  const code = stateProblem(run);
  if (code) return { code };
  // Nothing of it is in the cluster yet.
  if (run.state === 'approved' || !isPlanned(run)) return undefined;
  const problem = await problemInTime(run, userId, deps);
  return problem && { code: problem.code as ReasonCode, detail: problem.message };
}

function stateProblem(run: Run): ReasonCode | undefined {
  if (run.state === 'received') return 'stop_too_early';
  if (isStopping(run)) return 'stop_under_way';
  return canBeStopped(run) ? undefined : 'run_ended';
}

/** Refuses where the cluster does not answer in time: nobody knows whether this person may. */
async function problemInTime(
  run: PlannedRun,
  byUserId: string,
  deps: ChangeContext['deps'],
): Promise<Refusal | undefined> {
  const checks = currentPod(run.plan, deps).then((pod) => stopProblem(run, { byUserId, pod }, deps));
  const unanswered = (): Refusal => refusal('cluster_unreachable', 'no answer in time');
  return withDeadline(deps.clock, CHECKS_MS, checks, unanswered);
}

function recordAllowed(run: Run, { userId, deps }: ChangeContext): Promise<void> {
  const { step, kind } = AUDITED_AS.stop;
  return record(deps, run, step, { actorId: userId, kind, verdict: 'allowed' });
}

interface StopsParts {
  readonly deps: ChangeContext['deps'];
  readonly runs: RunChanger;
  readonly refusals: BoundedRefusals;
  readonly approvals: Approvals;
  readonly batches: BatchCommands;
}

/** `/kdebug stop ID` and the button Stop. Every answer is private; the card shows what happens. */
export class Stops {
  readonly #parts: StopsParts;

  constructor(parts: StopsParts) {
    this.#parts = parts;
  }

  async click(click: Click): Promise<Answer> {
    const run = await readRun(click.value, this.#parts.deps);
    if (!run || !isOnCard(run.delivery.anchor, click)) return answerReason('button_stale');
    if (isBatchRun(run)) return this.#parts.batches.clickCancel(click);
    if (run.state === 'pending-approval') return this.#parts.approvals.click(click, 'cancel');
    return this.#stop(run, click.userId, NOTHING);
  }

  async command(origin: Origin, id: string): Promise<Answer> {
    const { deps, batches } = this.#parts;
    const run = await readRunOfChannel(id, origin.channelId, deps);
    if (!run) return answerReason('run_not_found', id);
    if (isBatchRun(run)) return batches.command(origin, { kind: 'batch', id, change: { kind: 'cancel' } });
    if (run.state === 'pending-approval') return batches.withdraw(run, origin);
    return this.#stop(run, origin.requesterId, answerWith(stopMessage(run)));
  }

  async #stop(run: Run, userId: string, done: Answer): Promise<Answer> {
    const { deps, runs, refusals } = this.#parts;
    const not = await stopRun(run, { userId, deps, runs, refusals });
    return not ? answerWith(stopRefusedMessage(run, not, deps.clock.now())) : done;
  }
}
