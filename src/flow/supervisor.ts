import { type ReasonCode, toKdebugError } from '../core/errors.ts';
import type { RunId, UserId } from '../core/ids.ts';
import { dueAtMs, isSettled } from '../core/run/life-cycle.ts';
import { sleep } from '../lib/clock.ts';
import { withDeadline } from '../lib/deadline.ts';
import { conclude } from './audit.ts';
import { BatchLogs } from './batch/logs.ts';
import { runBatch } from './batch/run-batch.ts';
import type { FlowDeps } from './deps.ts';
import { filteredClusters } from './filtered-cluster.ts';
import { HeldRun, type OutOfReach, type RunChanger } from './held-run.ts';
import { CommandInbox, type Starter } from './inbox/inbox.ts';
import { type AdvanceContext, runToEnd } from './pipeline.ts';
import type { Inbox } from './ports/slack.ts';
import { Recovery } from './recovery/cluster-scan.ts';
import { afterLoss } from './recovery/lost-lease.ts';
import { applyPeerCommands } from './recovery/peer-commands.ts';
import { Reply } from './reply/reply.ts';
import { LogReaders } from './stages/logs.ts';
import { PodRoom } from './stages/pod-room.ts';

/** Runs that one replica holds at a time; more are refused politely. */
const MAX_SESSIONS = 2_000;
/**
 * Of these, what one person may have: a tenth, so that nobody alone closes a replica to the others. Far more than anybody has under
 * way; runs that were given up count as well while their late end is waited for.
 */
const MAX_SESSIONS_OF_ONE = 200;
/** A replica renews its leases and looks for abandoned runs this often: with leases of 4 s, work of a dead one goes on within 5 s. */
const ADOPT_EVERY_MS = 1_000;
/** How often a run that another replica holds right now is asked for again. */
const TAKE_TRIES = 10;
const TAKE_EVERY_MS = 100;
/** What is left of a drain for giving back the runs that go on, unless there is more. */
const HAND_OVER_MS = 1_000;

interface Held {
  readonly session: HeldRun;
  readonly work: Promise<void>;
}

/**
 * Holds the runs of this replica: each is advanced through its stages (`advance`) with the reply told beside it from state
 * alone, then let go: settled, or parked while only people or the clock can move it. Any replica can take the next step.
 */
export class RunSupervisor implements Starter, RunChanger {
  readonly inbox: Inbox;
  readonly #deps: FlowDeps;
  readonly #recovery: Recovery;
  readonly #context: AdvanceContext;
  readonly #held = new Map<RunId, Held>();
  readonly #taking = new Map<RunId, Promise<HeldRun | undefined>>();
  /** Given up and told; only a late end or its grant's is waited for, and nobody waits for us. */
  readonly #late = new Set<RunId>();
  /** Let go of, but the store did not hear it: nobody could claim them as long as our leases are renewed. */
  readonly #unreleased = new Set<HeldRun>();
  #draining = false;
  #drained = false;
  #stopAdopting: () => void = () => {};

  constructor(given: FlowDeps) {
    const deps = { ...given, clusters: filteredClusters(given.clusters, given) };
    this.#deps = deps;
    this.#context = {
      deps,
      runs: this,
      runBatch,
      readers: new LogReaders(deps),
      batchLogs: new BatchLogs(deps.spools),
      room: new PodRoom(deps),
    };
    this.#recovery = new Recovery(deps, (session) => this.start(session));
    this.inbox = new CommandInbox(deps, this, this);
  }

  refusalFor(requesterId: UserId): ReasonCode | undefined {
    if (this.#draining) return 'shutting_down';
    if (this.#held.size >= MAX_SESSIONS) return 'too_busy';
    let theirs = 0;
    for (const { session } of this.#held.values()) if (session.run.origin.requesterId === requesterId) theirs += 1;
    return theirs >= MAX_SESSIONS_OF_ONE ? 'limit_sessions_per_person' : undefined;
  }

  /** How many runs this replica is busy with. */
  get active(): number {
    return this.#held.size - this.#late.size;
  }

  start(session: HeldRun): void {
    const { id } = session.run;
    const work = this.#hold(session).finally(() => {
      if (this.#held.get(id)?.session === session) this.#held.delete(id);
    });
    this.#held.set(id, { session, work });
    this.#taking.delete(id);
  }

  async change<Value>(id: RunId, act: (session: HeldRun) => Promise<Value>): Promise<Value | OutOfReach> {
    for (let tries = TAKE_TRIES; tries > 0; tries -= 1) {
      const session = this.#held.get(id)?.session ?? (await this.#take(id));
      const done = session && (await this.#changeAt(session, act));
      if (done) return done.value;
      const run = await this.#deps.store.read(id);
      if (!run || isSettled(run)) return 'settled';
      await sleep(this.#deps.clock, TAKE_EVERY_MS);
    }
    return 'elsewhere';
  }

  /** Undefined: the session was let go, or taken over, in this very moment. */
  async #changeAt<Value>(
    session: HeldRun,
    act: (session: HeldRun) => Promise<Value>,
  ): Promise<{ readonly value: Value } | undefined> {
    try {
      return { value: await act(session) };
    } catch (thrown) {
      if (toKdebugError(thrown).code !== 'lease_lost') throw thrown;
      return undefined;
    } finally {
      if (!this.#held.has(session.run.id)) this.start(session);
    }
  }

  /** Takes over what other replicas left, now and every second, and what an emptied store forgot, until `drain`. */
  startAdopting(): void {
    const tick = (): void => {
      void this.#adopt().finally(() => {
        if (!this.#drained) this.#stopAdopting = this.#deps.clock.after(ADOPT_EVERY_MS, tick);
      });
    };
    tick();
    this.#recovery.lookEverywhere();
  }

  /**
   * Takes nothing new; resolves when every held run is through. What is left after `ms` is given back, so that another replica
   * can take it at once; `handOverMs` is the most that this may take. `hush` is called then: no word may still wait to be said.
   */
  async drain(ms: number, hush: () => void = () => {}, handOverMs = HAND_OVER_MS): Promise<void> {
    this.#draining = true;
    this.#recovery.stop();
    const { clock } = this.#deps;
    const inTime = (held: readonly Held[], withinMs: number) =>
      withDeadline(clock, withinMs, Promise.all(held.map(({ work }) => work)), () => undefined);
    await inTime(this.#busy(), ms);
    const left = this.#busy();
    for (const { session } of left) session.abandon();
    hush();
    await inTime(left, handOverMs);
    this.#drained = true;
    this.#stopAdopting();
  }

  #busy(): readonly Held[] {
    return [...this.#held].flatMap(([id, held]) => (this.#late.has(id) ? [] : [held]));
  }

  /** One take at a time: clicks that arrive together share the session, which is started when the first of them is through. */
  #take(id: RunId): Promise<HeldRun | undefined> {
    const taking = this.#taking.get(id) ?? this.#takeNow(id);
    this.#taking.set(id, taking);
    return taking;
  }

  async #takeNow(id: RunId): Promise<HeldRun | undefined> {
    const { store, owner } = this.#deps;
    const lease = await store.lease(id, owner).catch((thrown: unknown) => {
      this.#taking.delete(id);
      throw thrown;
    });
    // A parked run has nothing left to post, so this is not a recovery.
    if (lease) return new HeldRun(lease, this.#deps, { recovered: dueAtMs(lease.run) === 0 });
    this.#taking.delete(id);
    return undefined;
  }

  async #adopt(): Promise<void> {
    const { store, owner, log } = this.#deps;
    try {
      await store.renew(owner);
      void applyPeerCommands(
        [...this.#held.values()].map(({ session }) => session.run),
        { deps: this.#deps, runs: this },
      );
      for (const session of this.#unreleased) await this.#release(session);
      if (this.#draining) return;
      const room = MAX_SESSIONS - this.#held.size;
      for (const lease of await store.claim(owner, Math.min(room, 50))) {
        log.info('run adopted', { runId: lease.run.id, phase: lease.run.state });
        this.start(new HeldRun(lease, this.#deps, { recovered: true }));
      }
    } catch (thrown) {
      log.warn('leases could not be renewed', { reason: toKdebugError(thrown).code });
    }
  }

  async #hold(session: HeldRun): Promise<void> {
    const { id } = session.run;
    let lost = false;
    try {
      await this.#runToEnd(session);
    } catch (thrown) {
      const error = toKdebugError(thrown);
      lost = error.code === 'lease_lost';
      if (lost && this.#draining) this.#deps.log.info('run handed over', { runId: id, phase: session.run.state });
      else this.#deps.log.error('run let go', { runId: id, reason: error.code, error: thrown });
    } finally {
      this.#late.delete(id);
      this.#held.delete(id);
      await this.#context.readers.forget(id);
      await this.#context.batchLogs.forget(id);
      await this.#release(session);
    }
    const again = lost ? await afterLoss(session.run, this.#deps) : undefined;
    if (again && this.#draining) await this.#release(again);
    else if (again) this.start(again);
  }

  async #release(session: HeldRun): Promise<void> {
    try {
      await session.release();
      this.#unreleased.delete(session);
    } catch {
      this.#unreleased.add(session);
    }
  }

  async #runToEnd(session: HeldRun): Promise<void> {
    const { id } = session.run;
    const deps = this.#deps;
    session.onChange(() => {
      const { plan } = session.run;
      if (plan) this.#recovery.look(plan.cluster, plan.namespace);
    });
    const slack = new Reply(session, deps, {
      readers: this.#context.readers,
      batchLogs: this.#context.batchLogs,
      beforeClosing: () => conclude(session.run, deps),
    });
    const shift = {
      isDraining: () => this.#draining,
      awaitsLateEnd: (isWaiting: boolean) => void (isWaiting ? this.#late.add(id) : this.#late.delete(id)),
    };
    await runToEnd(session, this.#context, { slack, shift });
  }
}
