import type { Batch, BatchEvent } from '../core/batch/batch.ts';
import { type OpenBatch, openBatch, recordOf } from '../core/batch/open-batch.ts';
import { batchTransition } from '../core/batch/transition.ts';
import { KdebugError } from '../core/errors.ts';
import type { RunId } from '../core/ids.ts';
import type { Run } from '../core/run/run.ts';
import type { RunEvent } from '../core/run/run-event.ts';
import { type Transition, transition, withBatch } from '../core/run/transition.ts';
import type { RunStore } from './ports/store.ts';

/** `kept`: the store has just taken it, so the run is ours; else only a batch that is worked on has moved. */
type Listener = (kept: boolean) => void;

/**
 * This replica's hold on one run: its newest state, and the only way to change it. Changes are applied one after another,
 * each written to the store under the lease's fence before anybody sees it; but for the pods of a batch that is worked on
 * (`openBatch`), which are ahead of the store until the next `save`.
 */
export class HeldRun {
  readonly #store: Pick<RunStore, 'save' | 'release'>;
  readonly #fence: number;
  readonly #onChange: Set<Listener> = new Set();
  #open: OpenBatch | undefined;
  /** The run with its open batch, until either changes. */
  #view: Run | undefined;
  /** Somebody else worked on the run before: what was said of it may not be on record. */
  readonly recovered: boolean;
  #run: Run;
  #over = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(run: Run, fence: number, store: Pick<RunStore, 'save' | 'release'>, recovered = false) {
    this.#run = run;
    this.#fence = fence;
    this.#store = store;
    this.recovered = recovered;
  }

  get run(): Run {
    if (!this.#open) return this.#run;
    this.#view ??= withBatch(this.#run, recordOf(this.#open));
    return this.#view;
  }

  /** Whether this replica has lost the run, or let go of it: nothing more may be done in its name. */
  get isOver(): boolean {
    return this.#over;
  }

  /** Whoever still works on the run stops at the next step. */
  abandon(): void {
    this.#over = true;
    this.#tell(false);
  }

  /** Calls `listener` after every change, and when the session is over; the returned function takes it back. */
  onChange(listener: Listener): () => void {
    this.#onChange.add(listener);
    return () => this.#onChange.delete(listener);
  }

  /**
   * Moves the run on. An event that its state does not allow changes nothing (late or repeated news).
   * @throws KdebugError lease_lost (another replica owns the run: stop at once), store_unreachable (nothing changed),
   * limit_pending_per_person (it would wait for an approval, as too many of the person's do; nothing changed)
   */
  async apply(event: RunEvent): Promise<Run> {
    await this.tryApply(event);
    return this.run;
  }

  /**
   * The same, telling whether it moved: for events that people race for. `first` is done with the run as it will be, when nothing
   * but the store can prevent it any more. @throws as `apply`, and what `first` throws: then nothing changed
   */
  tryApply(event: RunEvent, first?: (next: Run) => Promise<void>): Promise<Transition['kind']> {
    const turn = this.#turn.then(() => this.#applyNow(event, first));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** Begins to work on a batch: from now on its pods move in memory (`move`). The one open batch; look, but change nothing. */
  openBatch(batch: Batch, nowMs: number): OpenBatch {
    this.#open = openBatch(batch, nowMs);
    this.#tell(false);
    return this.#open;
  }

  /** Moves the open batch in memory alone; the next `save` keeps it. False: the event cannot happen now. */
  move(event: BatchEvent, nowMs: number): boolean {
    if (this.#over || !this.#open || batchTransition(this.#open, event, nowMs) === 'illegal') return false;
    this.#tell(false);
    return true;
  }

  /**
   * Writes the run as it is. Asks the store at the same time whether it is still ours, before a deed that cannot be taken back.
   * @throws as `apply`
   */
  save(): Promise<void> {
    const turn = this.#turn.then(() => this.#save(this.run));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async release(): Promise<void> {
    await this.#turn;
    await this.#store.release(this.#run.id, this.#fence);
  }

  async #applyNow(event: RunEvent, first?: (next: Run) => Promise<void>): Promise<Transition['kind']> {
    const moved = transition(this.run, event);
    if (moved.kind === 'illegal') return moved.kind;
    if (this.#over) throw new KdebugError('lease_lost');
    await first?.(moved.run);
    await this.#save(moved.run);
    this.#run = moved.run;
    // Its pods may have moved on while it was written.
    if (this.#open && event.kind === 'batch') batchTransition(this.#open, event.event, event.atMs);
    this.#tell(true);
    return moved.kind;
  }

  async #save(run: Run): Promise<void> {
    if (this.#over) throw new KdebugError('lease_lost');
    const answer = await this.#store.save(run, this.#fence);
    if (answer === 'saved') return;
    if (answer === 'limited') throw new KdebugError('limit_pending_per_person');
    this.abandon();
    throw new KdebugError('lease_lost');
  }

  #tell(kept: boolean): void {
    this.#view = undefined;
    for (const listener of this.#onChange) listener(kept);
  }
}

/** Why a run could not be changed: nothing is left to do for it, or another replica holds it right now. */
export type OutOfReach = 'settled' | 'elsewhere';

/** Changes a run that nobody may be working on: at its session here, or by taking it. */
export interface RunChanger {
  /** Runs `act` on the run's one session and lets the run go on from there. @throws what `act` throws */
  change<Value>(id: RunId, act: (session: HeldRun) => Promise<Value>): Promise<Value | OutOfReach>;
}
