import { type KdebugError, toKdebugError } from '../core/errors.ts';
import { isBatchRun, isFinal } from '../core/run/life-cycle.ts';
import type { RunState } from '../core/run/run.ts';
import { delayOf } from '../lib/backoff.ts';
import { sleep } from '../lib/clock.ts';
import { defined } from '../lib/defined.ts';
import { Rounds } from '../lib/rounds.ts';
import { record } from './audit.ts';
import type { BatchLogs } from './batch/logs.ts';
import type { FlowDeps } from './deps.ts';
import type { HeldRun, RunChanger } from './held-run.ts';
import { refusalOfError } from './inbox/refusals.ts';
import { collect } from './stages/collect.ts';
import { type CheckAtLaunch, launch } from './stages/launch.ts';
import type { LogReaders } from './stages/logs.ts';
import { plan } from './stages/plan.ts';
import type { PodRoom } from './stages/pod-room.ts';
import { watch } from './stages/watch.ts';

/** How long a stage may go on failing for passing reasons: a person waits for the first, a clock bounds the others. */
const PATIENCE_MS: Readonly<Partial<Record<RunState, number>>> = {
  received: 8_000,
  approved: 60_000,
  launching: 60_000,
};
/** However long a step takes: without its store a run is left to whoever reaches the store again. */
const STORE_PATIENCE_MS = 60_000;
const BACK_OFF = { firstMs: 400, maxMs: 5_000 };
const PASSING: ReadonlySet<string> = new Set(['cluster_unreachable', 'cluster_busy', 'store_unreachable']);

export interface AdvanceContext {
  readonly deps: FlowDeps;
  readonly readers: LogReaders;
  readonly runs: RunChanger;
  readonly batchLogs: BatchLogs;
  readonly room: PodRoom;
  /** Takes a batch that may run to its end, and its containers through these same stages (`workOnBatch`). */
  readonly workOnBatch: (session: HeldRun, context: AdvanceContext) => Promise<void>;
  /** Of a part of a batch: what is looked at instead right before its launch. */
  readonly check?: CheckAtLaunch;
}

/**
 * Takes a run from stage to stage (request → launch → follow → collect) until it is final or waits for people. Every stage is
 * a re-entrant function of the stored run. @throws KdebugError lease_lost
 */
export async function advance(session: HeldRun, context: AdvanceContext): Promise<void> {
  const trouble = new Trouble(context.deps.random);
  const rounds = new Rounds(context.deps.clock);
  if (session.run.state === 'received') await tryStep(session, context, trouble, recordRequest);
  while (!isFinal(session.run.state)) {
    await rounds.next();
    if (session.run.state !== 'pending-approval') await tryStep(session, context, trouble);
    else if (!(await expire(session, context.deps))) return;
  }
}

/** Ends an approval whose time is over; false while it may still be given. */
async function expire(session: HeldRun, { clock }: FlowDeps): Promise<boolean> {
  const expiresAtMs = session.run.approval?.expiresAtMs ?? 0;
  if (clock.now() < expiresAtMs) return false;
  await session.apply({ kind: 'expired', atMs: clock.now() });
  return true;
}

type Step = (session: HeldRun, context: AdvanceContext) => Promise<void>;

async function tryStep(session: HeldRun, context: AdvanceContext, trouble: Trouble, take: Step = step): Promise<void> {
  const { clock } = context.deps;
  const { state } = session.run;
  try {
    await take(session, context);
    trouble.over();
  } catch (thrown) {
    const error = toKdebugError(thrown);
    if (error.code === 'lease_lost') throw error;
    const isStore = error.code === 'store_unreachable';
    const waitMs = trouble.waitMs(error, clock.now(), isStore ? STORE_PATIENCE_MS : (PATIENCE_MS[state] ?? 0));
    if (waitMs !== undefined) await sleep(clock, waitMs);
    // What cannot be written down is not an outcome: the container may well be running.
    else if (isStore) throw error;
    else await giveUp(session, error, context.deps);
  }
}

/** First of all who asked what is put on record: by whoever takes the run up, so that no crash leaves it out. */
function recordRequest({ run }: HeldRun, { deps }: AdvanceContext): Promise<void> {
  return record(deps, run, 'request', { command: run.commandLine, source: run.origin.source });
}

function step(session: HeldRun, context: AdvanceContext): Promise<void> {
  const { deps, readers, runs, room, check } = context;
  if (session.run.state !== 'received' && isBatchRun(session.run)) return context.workOnBatch(session, context);
  switch (session.run.state) {
    case 'received':
      return plan(session, deps, runs);
    case 'approved':
    case 'launching':
      return launch(session, deps, { room, ...defined({ check }) });
    case 'starting':
    case 'running':
      return watch(session, deps, readers);
    default:
      return collect(session, deps, readers);
  }
}

/** An error that patience does not mend is an outcome like any other. */
async function giveUp(session: HeldRun, error: KdebugError, deps: FlowDeps): Promise<void> {
  const atMs = deps.clock.now();
  const { state, id } = session.run;
  deps.log.warn('stage given up', { runId: id, phase: state, reason: error.code, error });
  const outcome = { kind: 'internal', code: error.code } as const;
  if (state === 'received') await session.apply({ kind: 'denied', refusal: refusalOfError(error), atMs });
  else if (state === 'collecting') await session.apply({ kind: 'finished', outcome, atMs });
  else await session.apply({ kind: 'ended', outcome, atMs });
}

/** Back-off of one stage: how long to wait before it is entered again, until its patience is over. */
class Trouble {
  readonly #random: (() => number) | undefined;
  #sinceMs: number | undefined;
  #times = 0;

  constructor(random: (() => number) | undefined) {
    this.#random = random;
  }

  over(): void {
    this.#sinceMs = undefined;
    this.#times = 0;
  }

  waitMs(error: KdebugError, nowMs: number, patienceMs: number): number | undefined {
    if (!PASSING.has(error.code)) return undefined;
    this.#sinceMs ??= nowMs;
    const backOffMs = delayOf(BACK_OFF, this.#times, this.#random);
    this.#times += 1;
    const asked = error.facts.retryAfterMs;
    // A server that asks for no patience at all gets ours.
    const waitMs = typeof asked === 'number' && asked > 0 ? asked : backOffMs;
    return nowMs + waitMs - this.#sinceMs > patienceMs ? undefined : waitMs;
  }
}
