import type { ForeignLease } from '../ports/store.ts';

/** A living replica that holds a run for longer is busy with it. */
const BUSY_AFTER_MS = 1_000;

/** Tells a replica that is busy with a run from a dead one, whose lease only lapses. */
export class OtherHolder {
  #first: ForeignLease | undefined;
  #sinceMs = 0;

  /** Call at each try that met the lease of another replica. True: that replica lives, and keeps the run. */
  isBusy(met: ForeignLease, nowMs: number): boolean {
    if (this.#first?.fence !== met.fence) [this.#first, this.#sinceMs] = [met, nowMs];
    return met.endsAtMs > this.#first.endsAtMs && nowMs - this.#sinceMs >= BUSY_AFTER_MS;
  }
}
