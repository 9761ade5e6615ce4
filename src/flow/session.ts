import { KdebugError } from '../core/errors.ts';
import type { RunId } from '../core/ids.ts';
import type { Run } from '../core/run/run.ts';
import type { RunEvent } from '../core/run/run-event.ts';
import { type Transition, transition } from '../core/run/transition.ts';
import type { RunStore } from './ports.ts';

/**
 * This replica's hold on one run: its newest state, and the only way to change it. Changes are applied one after another,
 * each written to the store under the lease's fence before anybody sees it.
 */
export class RunSession {
  readonly #store: RunStore;
  readonly #fence: number;
  readonly #onChange: Set<() => void> = new Set();
  /** Somebody else worked on the run before: what was said of it may not be on record. */
  readonly recovered: boolean;
  #run: Run;
  #over = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(run: Run, fence: number, store: RunStore, recovered = false) {
    this.#run = run;
    this.#fence = fence;
    this.#store = store;
    this.recovered = recovered;
  }

  get run(): Run {
    return this.#run;
  }

  /** Whether this replica has lost the run, or let go of it: nothing more may be done in its name. */
  get isOver(): boolean {
    return this.#over;
  }

  /** Whoever still works on the run stops at the next step. */
  giveUp(): void {
    this.#over = true;
    this.#tell();
  }

  /** Calls `listener` after every change, and when the session is over; the returned function takes it back. */
  onChange(listener: () => void): () => void {
    this.#onChange.add(listener);
    return () => this.#onChange.delete(listener);
  }

  /**
   * Moves the run on. An event that its state does not allow changes nothing (late or repeated news).
   * @throws KdebugError lease_lost (another replica owns the run: stop at once), store_unreachable (nothing changed)
   */
  async apply(event: RunEvent): Promise<Run> {
    await this.tryApply(event);
    return this.#run;
  }

  /** The same, telling whether it moved: for events that people race for. @throws as `apply` */
  tryApply(event: RunEvent): Promise<Transition['kind']> {
    const turn = this.#turn.then(() => this.#applyNow(event));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** Asks the store whether the run is still ours, before a word that cannot be taken back. @throws as `apply` */
  confirm(): Promise<void> {
    const turn = this.#turn.then(() => this.#save(this.#run));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async release(): Promise<void> {
    await this.#turn;
    await this.#store.release(this.#run.id, this.#fence);
  }

  async #applyNow(event: RunEvent): Promise<Transition['kind']> {
    const moved = transition(this.#run, event);
    if (moved.kind === 'illegal') return moved.kind;
    await this.#save(moved.run);
    this.#run = moved.run;
    this.#tell();
    return moved.kind;
  }

  async #save(run: Run): Promise<void> {
    if (this.#over) throw new KdebugError('lease_lost');
    if ((await this.#store.save(run, this.#fence)) === 'saved') return;
    this.giveUp();
    throw new KdebugError('lease_lost');
  }

  #tell(): void {
    for (const listener of this.#onChange) listener();
  }
}

/** Changes a run that nobody may be working on: at its session here, or by taking it. */
export interface RunChanger {
  /**
   * Runs `act` on the run's one session and lets the run go on from there. Undefined: there is no such open run, or another
   * replica holds it right now. @throws what `act` throws
   */
  change<Value>(id: RunId, act: (session: RunSession) => Promise<Value>): Promise<Value | undefined>;
}
