import { type ReasonCode, toKdebugError } from '../core/errors.ts';
import type { RunId, UserId } from '../core/ids.ts';
import { dueAtMs, isSettled } from '../core/run/life-cycle.ts';
import type { Run } from '../core/run/run.ts';
import { sleep, withDeadline } from '../lib/clock.ts';
import { Alerts } from './alerts/receive.ts';
import { runBatch } from './batch/run-batch.ts';
import type { Starter } from './context/accept.ts';
import { conclude } from './context/audit.ts';
import type { FlowDeps } from './context/deps.ts';
import { filteredClusters } from './context/filtered-cluster.ts';
import { HeldRun, type OutOfReach, type RunChanger } from './context/held-run.ts';
import { observeRuns } from './context/measure.ts';
import { OtherHolder } from './context/other-holder.ts';
import { PodRoom } from './context/pod-room.ts';
import { CommandInbox } from './inbox/inbox.ts';
import { BatchLogs } from './log/batch-logs.ts';
import { LogReaders } from './log/logs.ts';
import type { AlertReceiver } from './ports/alerts.ts';
import type { ForeignLease } from './ports/store.ts';
import { Recovery } from './recovery/cluster-scan.ts';
import { afterLoss, leaseTrouble } from './recovery/lost-lease.ts';
import { applyPeerCommands } from './recovery/peer-commands.ts';
import { Reply } from './reply/reply.ts';
import { type AdvanceContext, runToEnd } from './run/pipeline.ts';

/** Runs that one replica holds at a time; it refuses more. */
const MAX_HELD = 2_000;
/**
 * One person's share of them: a tenth, so that nobody alone fills a replica. Far more than anybody needs, although runs
 * that await a late end count too.
 */
const MAX_HELD_FOR_ONE = 200;
/**
 * The time between two renewals of leases and looks for abandoned runs: with leases of 3 s, a dead replica's work
 * continues in 5 s.
 */
const ADOPT_EVERY_MS = 1_000;
/** Between two tries to lease a run that another replica holds. */
const LEASE_EVERY_MS = 100;
/** By then the lease of a dead replica has lapsed, and whoever adopted the run has released it or is busy. */
const GIVE_UP_AFTER_MS = 5_000;
/** Time at the end of a drain for handing over unfinished runs; the caller may allow more. */
const HAND_OVER_MS = 1_000;

interface Work {
  readonly held: HeldRun;
  readonly ended: Promise<void>;
}

/**
 * Holds the runs of this replica: leases them, runs each to its end (`runToEnd` in pipeline.ts), releases it, and hands
 * over unfinished ones when the replica stops. Any replica can do the next step of any run.
 */
export class RunSupervisor implements Starter, RunChanger {
  readonly inbox: CommandInbox;
  readonly alerts: AlertReceiver;
  readonly #deps: FlowDeps;
  readonly #recovery: Recovery;
  readonly #context: AdvanceContext;
  readonly #work = new Map<RunId, Work>();
  readonly #runs = (): readonly Run[] => [...this.#work.values()].map(({ held }) => held.run);
  readonly #leasing = new Map<RunId, Promise<HeldRun | ForeignLease | undefined>>();
  /** Runs that await only a late end or the end of their grant; no person waits for them. */
  readonly #awaitingLateEnd = new Set<RunId>();
  /** Runs that the store did not release: while we renew our leases, nobody can claim them. */
  readonly #unreleased = new Set<HeldRun>();
  readonly #leaseTrouble: ReturnType<typeof leaseTrouble>;
  #draining = false;
  #drained = false;
  #stopAdopting: () => void = () => {};

  constructor(given: FlowDeps) {
    const deps = { ...given, clusters: filteredClusters(given.clusters, given) };
    this.#deps = deps;
    this.#leaseTrouble = leaseTrouble(deps);
    this.#context = {
      deps,
      runs: this,
      starter: this,
      runBatch,
      readers: new LogReaders(deps),
      batchLogs: new BatchLogs(deps.spools),
      room: new PodRoom(deps),
    };
    this.#recovery = new Recovery(deps, (held) => this.start(held));
    this.inbox = new CommandInbox(deps, this, this);
    this.alerts = new Alerts(deps, this, this);
    observeRuns(deps, this.#runs);
  }

  refusalFor(requesterId: UserId): ReasonCode | undefined {
    if (this.#draining) return 'shutting_down';
    if (!this.#deps.token.isAccepted()) return 'slack_token_rejected';
    if (this.#work.size >= MAX_HELD) return 'too_busy';
    const theirs = [...this.#work.values()].filter(({ held: { run } }) => run.origin.requesterId === requesterId);
    return theirs.length >= MAX_HELD_FOR_ONE ? 'limit_sessions_per_person' : undefined;
  }

  get active(): number {
    return this.#work.size - this.#awaitingLateEnd.size;
  }

  start(held: HeldRun): void {
    const { id } = held.run;
    this.#work.set(id, { held, ended: this.#supervise(held) });
    this.#leasing.delete(id);
  }

  async change<Value>(id: RunId, act: (held: HeldRun) => Promise<Value>): Promise<Value | OutOfReach> {
    const { clock, store } = this.#deps;
    const untilMs = clock.elapsed() + GIVE_UP_AFTER_MS;
    const other = new OtherHolder();
    while (clock.elapsed() < untilMs) {
      const got = this.#work.get(id)?.held ?? (await this.#lease(id));
      const done = got instanceof HeldRun && (await this.#changeAt(got, act));
      if (done) return done.value;
      const run = await store.read(id);
      if (!run || isSettled(run)) return 'settled';
      if (got && 'endsAtMs' in got && other.isBusy(got, clock.elapsed())) return 'elsewhere';
      await sleep(clock, LEASE_EVERY_MS);
    }
    return 'elsewhere';
  }

  /** Undefined: the run was released meanwhile, or another replica claimed it. */
  async #changeAt<Value>(
    held: HeldRun,
    act: (held: HeldRun) => Promise<Value>,
  ): Promise<{ readonly value: Value } | undefined> {
    try {
      return { value: await act(held) };
    } catch (thrown) {
      if (toKdebugError(thrown).code !== 'lease_lost') throw thrown;
      return undefined;
    } finally {
      if (!this.#work.has(held.run.id)) this.start(held);
    }
  }

  /** Adopts abandoned runs, now and every second until `drain`, and finds the runs that an emptied store forgot. */
  startAdopting(): void {
    const tick = (): void => {
      void this.#adopt().finally(() => {
        if (!this.#drained) this.#stopAdopting = this.#deps.clock.after(ADOPT_EVERY_MS, tick);
      });
    };
    tick();
    this.#recovery.scanAll();
  }

  /**
   * Accepts nothing new, and resolves when every held run has ended. After `ms` it hands over the rest, so that another
   * replica can claim them at once; that may take `handOverMs`. Before it, `failPending` fails every queued Slack call.
   */
  async drain(ms: number, failPending: () => void = () => {}, handOverMs = HAND_OVER_MS): Promise<void> {
    this.#draining = true;
    this.#recovery.stop();
    const { clock } = this.#deps;
    const inTime = (some: readonly Work[], withinMs: number) =>
      withDeadline(clock, withinMs, Promise.all(some.map(({ ended }) => ended)), () => undefined);
    await inTime(this.#busy(), ms);
    const left = this.#busy();
    for (const { held } of left) held.abandon();
    failPending();
    await inTime(left, handOverMs);
    this.#drained = true;
    this.#stopAdopting();
    await this.inbox.refusals.close();
  }

  #busy(): readonly Work[] {
    return [...this.#work].flatMap(([id, work]) => (this.#awaitingLateEnd.has(id) ? [] : [work]));
  }

  /** One lease at a time: simultaneous clicks share the held run, which starts after the first of them. */
  #lease(id: RunId): Promise<HeldRun | ForeignLease | undefined> {
    const leasing = this.#leasing.get(id) ?? this.#leaseNow(id);
    this.#leasing.set(id, leasing);
    return leasing;
  }

  async #leaseNow(id: RunId): Promise<HeldRun | ForeignLease | undefined> {
    const { store, owner } = this.#deps;
    const lease = await store.lease(id, owner).catch((thrown: unknown) => {
      this.#leasing.delete(id);
      throw thrown;
    });
    // A parked run has nothing left to post, so this is not a recovery.
    if (lease && 'run' in lease) return new HeldRun(lease, this.#deps, { recovered: dueAtMs(lease.run) === 0 });
    this.#leasing.delete(id);
    return lease;
  }

  async #adopt(): Promise<void> {
    const { store, owner, log, metrics } = this.#deps;
    try {
      await store.renew(owner);
      void applyPeerCommands(this.#runs(), { deps: this.#deps, runs: this, refusals: this.inbox.refusals });
      for (const held of this.#unreleased) await this.#release(held);
      if (this.#draining) return;
      for (const lease of await store.claim(owner, Math.min(MAX_HELD - this.#work.size, 50))) {
        const held = new HeldRun(lease, this.#deps, { recovered: true });
        // A change of it is leasing it anew at this moment, and starts what it gets.
        if (this.#leasing.has(lease.run.id)) {
          await this.#release(held);
          continue;
        }
        log.info('run adopted', { runId: lease.run.id, phase: lease.run.state });
        if (dueAtMs(lease.run) === 0) metrics.adopted('store');
        this.start(held);
      }
      this.#leaseTrouble.worked();
    } catch (thrown) {
      this.#leaseTrouble.failed({ reason: toKdebugError(thrown).code });
    }
  }

  async #supervise(held: HeldRun): Promise<void> {
    const { id } = held.run;
    let lost = false;
    try {
      await this.#runToEnd(held);
    } catch (thrown) {
      const error = toKdebugError(thrown);
      lost = error.code === 'lease_lost';
      if (lost && this.#draining) this.#deps.log.info('run handed over', { runId: id, phase: held.run.state });
      else this.#deps.log.error('run dropped after error', { runId: id, reason: error.code, error: thrown });
    } finally {
      // After a lapsed lease, this process may hold the run anew; then the log reader belongs to the newer hold.
      if ((this.#work.get(id)?.held ?? held) === held) await this.#forget(id);
      await this.#release(held);
    }
    const again = lost ? await afterLoss(held.run, this.#deps) : undefined;
    if (again && this.#draining) await this.#release(again);
    else if (again) this.start(again);
  }

  async #forget(id: RunId): Promise<void> {
    this.#awaitingLateEnd.delete(id);
    this.#work.delete(id);
    await Promise.all([this.#context.readers.forget(id), this.#context.batchLogs.forget(id)]);
  }

  async #release(held: HeldRun): Promise<void> {
    try {
      await held.release();
      this.#unreleased.delete(held);
    } catch {
      this.#unreleased.add(held);
    }
  }

  async #runToEnd(held: HeldRun): Promise<void> {
    const { id } = held.run;
    const deps = this.#deps;
    held.onChange(() => {
      const { plan } = held.run;
      if (plan) this.#recovery.scan(plan.cluster, plan.namespace);
    });
    const slack = new Reply(held, deps, { ...this.#context, beforeClosing: () => conclude(held.run, deps) });
    const shift = {
      isDraining: () => this.#draining,
      awaitsLateEnd: (isWaiting: boolean) =>
        void (isWaiting ? this.#awaitingLateEnd.add(id) : this.#awaitingLateEnd.delete(id)),
    };
    await runToEnd(held, this.#context, { slack, shift });
  }
}
