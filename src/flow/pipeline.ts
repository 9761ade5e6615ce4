import { type KdebugError, toKdebugError } from '../core/errors.ts';
import type { RunId } from '../core/ids.ts';
import type { Run, RunState } from '../core/run/run.ts';
import { isFinal, isGivenUp } from '../core/run/transition.ts';
import { collect } from './collect.ts';
import type { FlowDeps } from './deps.ts';
import { follow } from './follow.ts';
import { CommandInbox, type Starter } from './inbox.ts';
import { awaitLate } from './late.ts';
import { pause } from './latest.ts';
import { launch } from './launch.ts';
import { LogReaders } from './log-readers.ts';
import type { Inbox } from './ports.ts';
import { refusalOfError } from './refusals.ts';
import { Reply } from './reply.ts';
import { plan } from './request.ts';
import { RunSession } from './session.ts';

/** Runs that one replica holds at a time; more are refused politely. */
const MAX_SESSIONS = 2_000;
/** A replica renews its leases and looks for abandoned runs this often. */
const ADOPT_EVERY_MS = 2_000;

/** How long a stage may go on failing for passing reasons: a person waits for the first, a clock bounds the others. */
const PATIENCE_MS: Readonly<Partial<Record<RunState, number>>> = {
  received: 8_000,
  approved: 60_000,
  launching: 60_000,
};
const PASSING: ReadonlySet<string> = new Set(['cluster_unreachable', 'cluster_busy', 'store_unreachable']);

/**
 * The story of a run: request → launch → follow → collect, with the reply told beside it from state alone. Every stage is a
 * re-entrant function of the stored run, so any replica can take the next step after any crash.
 */
export class Pipeline implements Starter {
  readonly inbox: Inbox;
  readonly #deps: FlowDeps;
  readonly #readers: LogReaders;
  readonly #sessions = new Map<RunId, Promise<void>>();
  /** Given up and told; only a late end is waited for, and nobody waits for us. */
  readonly #late = new Set<RunId>();
  #draining = false;
  #stopAdopting: () => void = () => {};

  constructor(deps: FlowDeps) {
    this.#deps = deps;
    this.#readers = new LogReaders(deps);
    this.inbox = new CommandInbox(deps, this);
  }

  get accepting(): 'yes' | 'draining' | 'full' {
    if (this.#draining) return 'draining';
    return this.#sessions.size >= MAX_SESSIONS ? 'full' : 'yes';
  }

  /** How many runs this replica is busy with. */
  get active(): number {
    return this.#sessions.size - this.#late.size;
  }

  start(session: RunSession, recovered = false): void {
    const { id } = session.run;
    const work = this.#hold(session, recovered).finally(() => this.#sessions.delete(id));
    this.#sessions.set(id, work);
  }

  /** Takes over what other replicas left, now and every two seconds, until `drain`. */
  startAdopting(): void {
    const tick = (): void => {
      void this.#adopt().finally(() => {
        if (!this.#draining) this.#stopAdopting = this.#deps.clock.after(ADOPT_EVERY_MS, tick);
      });
    };
    tick();
  }

  /** Takes nothing new; resolves when every held run is through, or after `ms` (the rest is left to other replicas). */
  async drain(ms: number): Promise<void> {
    this.#draining = true;
    this.#stopAdopting();
    const busy = [...this.#sessions].filter(([id]) => !this.#late.has(id)).map(([, work]) => work);
    await Promise.race([Promise.all(busy), pause(this.#deps.clock, ms)]);
  }

  async #adopt(): Promise<void> {
    const { store, owner, log } = this.#deps;
    try {
      await store.renew(owner);
      const room = MAX_SESSIONS - this.#sessions.size;
      for (const { run, fence } of await store.claim(owner, Math.min(room, 50))) {
        log.info('run adopted', { runId: run.id, phase: run.state });
        this.start(new RunSession(run, fence, store), true);
      }
    } catch (thrown) {
      log.warn('leases could not be renewed', { reason: toKdebugError(thrown).code });
    }
  }

  async #hold(session: RunSession, recovered: boolean): Promise<void> {
    const { log } = this.#deps;
    const { id } = session.run;
    const reply = new Reply(session, this.#deps, { readers: this.#readers, recovered });
    try {
      await Promise.all([this.#advance(session), reply.keepSaying()]);
      this.#count(session.run);
      this.#late.add(id);
      const context = { readers: this.#readers, wanted: () => !this.#draining };
      if (isGivenUp(session.run) && (await awaitLate(session, this.#deps, context))) await reply.keepSaying();
    } catch (thrown) {
      const error = toKdebugError(thrown);
      log.error('run let go', { runId: id, reason: error.code, error: thrown });
    } finally {
      this.#late.delete(id);
      await this.#readers.forget(id);
      await session.release().catch(() => undefined);
    }
  }

  #count(run: Run): void {
    const outcome = run.outcome?.kind ?? 'denied';
    this.#deps.log.info('run ended', { runId: run.id, phase: run.state, outcome, reason: run.refusal?.code });
    this.#deps.metrics.runFinished(outcome, (run.finishedAtMs ?? this.#deps.clock.now()) - run.origin.receivedAtMs);
  }

  async #advance(session: RunSession): Promise<void> {
    const trouble = new Trouble();
    while (!isFinal(session.run.state) && session.run.state !== 'pending-approval') {
      const { state } = session.run;
      try {
        await this.#step(session);
        trouble.over();
      } catch (thrown) {
        const error = toKdebugError(thrown);
        if (error.code === 'lease_lost') throw error;
        const waitMs = trouble.waitMs(error, this.#deps.clock.now(), PATIENCE_MS[state] ?? 0);
        if (waitMs === undefined) await this.#giveUp(session, error);
        else await pause(this.#deps.clock, waitMs);
      }
    }
  }

  #step(session: RunSession): Promise<void> {
    switch (session.run.state) {
      case 'received':
        return plan(session, this.#deps);
      case 'approved':
      case 'launching':
        return launch(session, this.#deps);
      case 'starting':
      case 'running':
        return follow(session, this.#deps, this.#readers);
      default:
        return collect(session, this.#deps, this.#readers);
    }
  }

  /** An error that patience does not mend is an outcome like any other. */
  async #giveUp(session: RunSession, error: KdebugError): Promise<void> {
    const atMs = this.#deps.clock.now();
    this.#deps.log.warn('stage given up', {
      runId: session.run.id,
      phase: session.run.state,
      reason: error.code,
      error,
    });
    const { state } = session.run;
    if (state === 'received') await session.apply({ kind: 'denied', refusal: refusalOfError(error), atMs });
    else if (state === 'collecting')
      await session.apply({ kind: 'finished', outcome: { kind: 'internal', code: error.code }, atMs });
    else await session.apply({ kind: 'ended', outcome: { kind: 'internal', code: error.code }, atMs });
  }
}

/** Back-off of one stage: how long to wait before it is entered again, until its patience is over. */
class Trouble {
  #sinceMs: number | undefined;
  #times = 0;

  over(): void {
    this.#sinceMs = undefined;
    this.#times = 0;
  }

  waitMs(error: KdebugError, nowMs: number, patienceMs: number): number | undefined {
    if (!PASSING.has(error.code)) return undefined;
    this.#sinceMs ??= nowMs;
    this.#times += 1;
    const asked = error.facts.retryAfterMs;
    const waitMs = typeof asked === 'number' ? asked : Math.min(200 * 2 ** this.#times, 5_000);
    return nowMs + waitMs - this.#sinceMs > patienceMs ? undefined : waitMs;
  }
}
