import { keysOf } from '../../core/alert/card.ts';
import { KdebugError, toKdebugError } from '../../core/errors.ts';
import { isBatchRun, isEnded, isLaunched, isPlanned, nextStep } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { sleep } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import { Rounds } from '../../lib/rounds.ts';
import type { Starter } from '../context/accept.ts';
import { record } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun, RunChanger } from '../context/held-run.ts';
import { Patience } from '../context/patience.ts';
import type { PodRoom } from '../context/pod-room.ts';
import { refusalOfError } from '../context/refusals.ts';
import type { BatchLogs } from '../log/batch-logs.ts';
import type { LogReaders } from '../log/logs.ts';
import { collect } from './collect.ts';
import { awaitLateEnd, type LateEndWait } from './late-end.ts';
import { type CheckAtLaunch, launch } from './launch.ts';
import { plan } from './plan.ts';
import { awaitsCard, joinCard } from './unattended.ts';
import { watch } from './watch.ts';

export interface AdvanceContext {
  readonly deps: FlowDeps;
  readonly readers: LogReaders;
  readonly runs: RunChanger;
  readonly starter: Starter;
  readonly batchLogs: BatchLogs;
  readonly room: PodRoom;
  /** Takes every pod of a batch through these same stages. Passed in, because `flow/batch` imports this file. */
  readonly runBatch: (held: HeldRun, context: AdvanceContext) => Promise<void>;
  /** For one pod of a batch: what to check right before its launch, instead of the checks of a single run. */
  readonly check?: CheckAtLaunch;
}

/** The visible side of a run; `Reply` is the one implementation. */
interface SlackSide {
  /**
   * Resolves, with the run as Slack shows it, once Slack has every post and only people or the clock can bring more.
   */
  catchUp(): Promise<Run>;
  advanced(): void;
}

/** Connects the supervisor with a wait for a late end, which nobody else awaits. */
interface Shift {
  isDraining(): boolean;
  awaitsLateEnd(isWaiting: boolean): void;
}

/**
 * Runs a run from its current state until this replica can release it: the stages, with Slack kept up to date beside
 * them, and then the late end of a run that kdebug gave up. A vote may come at any time and start another round.
 * @throws KdebugError lease_lost, store_unreachable
 */
export async function runToEnd(
  held: HeldRun,
  context: AdvanceContext,
  { slack, shift }: { readonly slack: SlackSide; readonly shift: Shift },
): Promise<void> {
  const { deps } = context;
  const rounds = new Rounds(deps.clock);
  let lateEnd: LateEndWait | undefined;
  for (;;) {
    await rounds.next();
    const [, shown] = await bothOrNeither(
      held,
      advance(held, context).then(() => slack.advanced()),
      slack.catchUp(),
    );
    const step = nextStep(held.run, deps.clock.now());
    if (step.kind === 'done' || step.kind === 'park') return;
    if (step.kind !== 'await-late-end') continue;
    lateEnd ??= awaitLateEnd(held, context);
    shift.awaitsLateEnd(true);
    const hasNews = await lateEnd({ shown, wanted: () => !shift.isDraining() });
    shift.awaitsLateEnd(false);
    if (!hasNews) return;
  }
}

/**
 * Takes a run from stage to stage until it is final or waits for votes. @throws KdebugError lease_lost,
 * store_unreachable
 */
export async function advance(held: HeldRun, context: AdvanceContext): Promise<void> {
  const { clock } = context.deps;
  const patience = new Patience(context.deps.random);
  const rounds = new Rounds(clock);
  if (held.run.state === 'received') await tryStage(held, context, { patience, stage: recordRequest });
  while (nextStep(held.run, clock.now()).kind === 'advance') {
    await rounds.next();
    await tryStage(held, context, { patience, stage: nextStage });
  }
}

type Stage = (held: HeldRun, context: AdvanceContext) => Promise<unknown>;

/** Every stage is a re-entrant function of the stored run, so the run's next holder may enter it again. */
function nextStage(held: HeldRun, context: AdvanceContext): Promise<unknown> {
  const { deps, readers, runs, starter, room, check } = context;
  const { run } = held;
  if (run.state === 'received') return awaitsCard(run) ? joinCard(held, deps) : plan(held, { deps, runs, starter });
  if (run.state === 'pending-approval') return held.apply({ kind: 'expired', atMs: deps.clock.now() });
  if (isBatchRun(run)) return context.runBatch(held, context);
  switch (run.state) {
    case 'approved':
    case 'launching':
      if (isPlanned(run)) return launch(held, run, { deps, room, ...defined({ check }) });
      break;
    case 'starting':
    case 'running':
      if (isLaunched(run)) return watch(held, run, { deps, readers, room });
      break;
    default:
      if (isEnded(run)) return collect(held, run, { deps, readers });
  }
  throw new KdebugError('internal_error', { detail: `a run in the state ${run.state} lacks what its stage needs` });
}

/** Writes the audit record of the request first. Whichever replica picks up the run does it, so a crash cannot skip it. */
const recordRequest: Stage = ({ run }, { deps }) =>
  record(deps, run, 'request', {
    command: run.commandLine,
    source: run.origin.source,
    alert: run.alert?.name,
    // Of the group's first alerts; a record holds a bounded text.
    alerts: run.alert && keysOf(run.alert).slice(0, 10).join(' '),
  });

/** Enters one stage; retries after a transient error, and ends the run after any other. */
async function tryStage(
  held: HeldRun,
  context: AdvanceContext,
  { patience, stage }: { readonly patience: Patience; readonly stage: Stage },
): Promise<void> {
  const { clock } = context.deps;
  const { state } = held.run;
  try {
    await stage(held, context);
    patience.reset();
  } catch (thrown) {
    const error = toKdebugError(thrown);
    if (error.code === 'lease_lost') throw error;
    const waitMs = patience.waitMs(error, state, clock.elapsed());
    if (waitMs !== undefined) await sleep(clock, waitMs);
    // An unsaved error is not an outcome: the container may well be running.
    else if (error.code === 'store_unreachable') throw error;
    else await abandonRun(held, error, context.deps);
  }
}

/** Ends the run with an error that is not transient: an outcome like any other. */
async function abandonRun(held: HeldRun, error: KdebugError, deps: FlowDeps): Promise<void> {
  const atMs = deps.clock.now();
  const { state, id } = held.run;
  deps.log.warn('stage failed, giving up', { runId: id, phase: state, reason: error.code, error });
  const outcome = { kind: 'internal', code: error.code } as const;
  if (state === 'received') await held.apply({ kind: 'denied', refusal: refusalOfError(error), atMs });
  else if (state === 'collecting') await held.apply({ kind: 'finished', outcome, atMs });
  else await held.apply({ kind: 'ended', outcome, atMs });
}

/** Runs two halves of one task: when one fails, the other stops, and the task fails. */
async function bothOrNeither<One, Two>(held: HeldRun, one: Promise<One>, two: Promise<Two>): Promise<[One, Two]> {
  const stopOther = (thrown: unknown): never => {
    held.abandon();
    throw thrown;
  };
  const both = [one.catch(stopOther), two.catch(stopOther)] as const;
  await Promise.allSettled(both);
  return Promise.all(both);
}
