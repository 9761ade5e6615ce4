import { KdebugError } from '../../core/errors.ts';
import type { RunId } from '../../core/ids.ts';
import type { Run } from '../../core/run/run.ts';
import type { RunEvent } from '../../core/run/run-event.ts';
import { type Transition, transition } from '../../core/run/transition.ts';
import { type Instant, instantOf, sinceInstant } from '../../lib/clock.ts';
import type { Lease, RunStore } from '../ports/store.ts';
import type { FlowDeps } from './deps.ts';
import { measureSaved } from './measure.ts';

/** `isSaved`: the store has accepted the run; else pods of an open batch moved, or the run was abandoned. */
type Listener = (isSaved: boolean) => void;

/** Changes of the run in memory that are ahead of the store until the next save (`HeldBatch`). */
export interface RunAhead {
  /** The current run, built on the last saved one. */
  view(saved: Run): Run;
  /** The store has accepted this event. */
  saved(event: RunEvent): void;
}

/**
 * For this long after a confirmation by the store a run certainly belongs to this replica: for a post in Slack, and for
 * the launches of a batch, which saves every two seconds. Both are shorter than any lease (3 s in Redis, ADR 8).
 */
export const HELD_FOR_POST_MS = 2_000;
export const HELD_FOR_LAUNCH_MS = 2_500;

interface HoldDeps extends Pick<FlowDeps, 'clock' | 'metrics'> {
  readonly store: Pick<RunStore, 'save' | 'release'>;
}

/**
 * This replica's hold on one run: its newest state, and the only way to change it. Applies changes one after another;
 * each is saved under the lease's fence before anybody sees it.
 */
export class HeldRun {
  readonly #deps: HoldDeps;
  readonly #fence: number;
  readonly #listeners: Set<Listener> = new Set();
  #ahead: RunAhead | undefined;
  /** Another replica or process worked on the run before: Slack may hold unrecorded posts. */
  readonly recovered: boolean;
  #run: Run;
  /** The run as the store has it. */
  #saved: Run;
  #isOver = false;
  /** The beginning of the last call in which the store confirmed our lease. */
  #confirmedAt: Instant;
  #turn: Promise<unknown> = Promise.resolve();

  constructor({ run, fence }: Lease, deps: HoldDeps, { recovered = false } = {}) {
    this.#run = run;
    this.#saved = run;
    this.#fence = fence;
    this.#deps = deps;
    this.#confirmedAt = instantOf(deps.clock);
    this.recovered = recovered;
  }

  get run(): Run {
    return this.#ahead?.view(this.#run) ?? this.#run;
  }

  /** This replica has lost or abandoned the run: nothing more may happen in its name. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Stops all work on the run here, at its next step. Another replica may claim it. */
  abandon(): void {
    this.#isOver = true;
    this.#notify(false);
  }

  /** Calls `listener` after every change, and when the run is abandoned; the returned function removes it. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** From now on `ahead` shows the run as it is in memory; returns the function that announces a change. */
  lead(ahead: RunAhead): () => void {
    this.#ahead = ahead;
    this.#notify(false);
    return () => this.#notify(false);
  }

  /**
   * Applies an event to the run. An event that its state does not allow (late or repeated) changes nothing.
   * @throws KdebugError lease_lost (another replica owns the run: stop at once), store_unreachable (nothing changed),
   * limit_pending_per_person (too many of the person's requests wait for an approval; nothing changed)
   */
  async apply(event: RunEvent): Promise<Run> {
    await this.tryApply(event);
    return this.run;
  }

  /**
   * The same, for events that people race for: resolves with whether the run changed. `first` gets the future run, when
   * only the store can still prevent it. @throws as `apply`, and what `first` throws: then nothing changed
   */
  tryApply(event: RunEvent, first?: (next: Run) => Promise<void>): Promise<Transition['kind']> {
    return this.#inTurn(() => this.#applyNow(event, first));
  }

  /** Saves the run unchanged, which confirms that this replica still holds it. @throws as `apply` */
  save(): Promise<void> {
    return this.#inTurn(() => this.#save(this.run));
  }

  /**
   * True if the store has confirmed our lease within the last `withinMs`, by both clocks: after its machine was
   * suspended this replica asks again, because another one may hold the run by now.
   */
  isHeld(withinMs: number): boolean {
    return !this.#isOver && sinceInstant(this.#deps.clock, this.#confirmedAt) < withinMs;
  }

  /**
   * Call before anything irreversible: a stalled process may have lost the run to another replica. Queries the store
   * unless it confirmed our lease within the last `withinMs`. @throws as `apply`
   */
  async assertHeld(withinMs: number): Promise<void> {
    if (this.#isOver) throw new KdebugError('lease_lost');
    if (!this.isHeld(withinMs)) await this.save();
  }

  async release(): Promise<void> {
    await this.#turn;
    await this.#deps.store.release(this.#run.id, this.#fence);
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #applyNow(event: RunEvent, first?: (next: Run) => Promise<void>): Promise<Transition['kind']> {
    const moved = transition(this.run, event);
    if (moved.kind === 'illegal') return moved.kind;
    if (this.#isOver) throw new KdebugError('lease_lost');
    await first?.(moved.run);
    await this.#save(moved.run);
    this.#run = moved.run;
    this.#ahead?.saved(event);
    this.#notify(true);
    return moved.kind;
  }

  async #save(run: Run): Promise<void> {
    if (this.#isOver) throw new KdebugError('lease_lost');
    const { clock, store, metrics } = this.#deps;
    const beganAt = instantOf(clock);
    const result = await store.save(run, this.#fence);
    if (result === 'limited') throw new KdebugError('limit_pending_per_person');
    if (result === 'stale') {
      metrics.leaseLost();
      this.abandon();
      throw new KdebugError('lease_lost');
    }
    this.#confirmedAt = beganAt;
    measureSaved(this.#saved, run, metrics);
    this.#saved = run;
  }

  #notify(isSaved: boolean): void {
    for (const listener of this.#listeners) listener(isSaved);
  }
}

/** A run could not be changed because it is settled, or because another replica holds it right now. */
export type OutOfReach = 'settled' | 'elsewhere';

/** Changes a run whether or not this replica holds it, leasing it if necessary. */
export interface RunChanger {
  /** Runs `act` on the held run; the run then continues from there. @throws what `act` throws */
  change<Value>(id: RunId, act: (held: HeldRun) => Promise<Value>): Promise<Value | OutOfReach>;
}
