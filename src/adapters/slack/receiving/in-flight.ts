import { type Clock, withDeadline } from '../../../lib/clock.ts';

/** Counts work in progress, so that a stop can wait for it. */
export class InFlight {
  readonly #work = new Set<Promise<unknown>>();

  track<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    const forget = () => this.#work.delete(work);
    work.then(forget, forget);
    return work;
  }

  async drained(clock: Clock, boundMs: number): Promise<void> {
    await withDeadline(clock, boundMs, this.#settled(), () => undefined);
  }

  async #settled(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }
}
