import type { Batch, BatchEvent } from '../../core/batch/batch.ts';
import { type OpenBatch, openBatch, recordOf } from '../../core/batch/open-batch.ts';
import { batchTransition } from '../../core/batch/transition.ts';
import type { Run } from '../../core/run/run.ts';
import type { RunEvent } from '../../core/run/run-event.ts';
import { withBatch } from '../../core/run/transition.ts';
import type { HeldRun, RunAhead } from '../context/held-run.ts';

/** A running batch. Its pods move in memory (`move`), ahead of the store; the cluster holds what a crash loses. */
export class HeldBatch implements RunAhead {
  /** Read-only: just `move` and events of the run change it. */
  readonly open: OpenBatch;
  readonly held: HeldRun;
  readonly #announce: () => void;
  /** Caches the run with the current batch until either changes. */
  #view: { readonly saved: Run; readonly run: Run } | undefined;

  constructor(held: HeldRun, batch: Batch, nowMs: number) {
    this.held = held;
    this.open = openBatch(batch, nowMs);
    this.#announce = held.lead(this);
  }

  get run(): Run {
    return this.held.run;
  }

  /** False: the event cannot happen now. */
  move(event: BatchEvent, nowMs: number): boolean {
    if (this.held.isOver || batchTransition(this.open, event, nowMs) === 'illegal') return false;
    this.#view = undefined;
    this.#announce();
    return true;
  }

  view(saved: Run): Run {
    if (this.#view?.saved !== saved) this.#view = { saved, run: withBatch(saved, recordOf(this.open)) };
    return this.#view.run;
  }

  /** Pods may have moved while the event was saved. */
  saved(event: RunEvent): void {
    if (event.kind === 'batch') batchTransition(this.open, event.event, event.atMs);
    this.#view = undefined;
  }
}
