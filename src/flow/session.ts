import { KdebugError } from '../core/errors.ts';
import type { Run } from '../core/run/run.ts';
import { type RunEvent, transition } from '../core/run/transition.ts';
import type { RunStore } from './ports.ts';

/**
 * This replica's hold on one run: its newest state, and the only way to change it. Changes are applied one after another,
 * each written to the store under the lease's fence before anybody sees it.
 */
export class RunSession {
  readonly #store: RunStore;
  readonly #fence: number;
  readonly #onChange: Set<() => void> = new Set();
  #run: Run;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(run: Run, fence: number, store: RunStore) {
    this.#run = run;
    this.#fence = fence;
    this.#store = store;
  }

  get run(): Run {
    return this.#run;
  }

  /** Calls `listener` after every change; the returned function takes it back. */
  onChange(listener: () => void): () => void {
    this.#onChange.add(listener);
    return () => this.#onChange.delete(listener);
  }

  /**
   * Moves the run on. An event that its state does not allow changes nothing (late or repeated news).
   * @throws KdebugError lease_lost (another replica owns the run: stop at once), store_unreachable (nothing changed)
   */
  apply(event: RunEvent): Promise<Run> {
    const turn = this.#turn.then(() => this.#applyNow(event));
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async release(): Promise<void> {
    await this.#turn;
    await this.#store.release(this.#run.id, this.#fence);
  }

  async #applyNow(event: RunEvent): Promise<Run> {
    const moved = transition(this.#run, event);
    if (moved.kind === 'illegal') return this.#run;
    if ((await this.#store.save(moved.run, this.#fence)) === 'stale') throw new KdebugError('lease_lost');
    this.#run = moved.run;
    for (const listener of this.#onChange) listener();
    return this.#run;
  }
}
