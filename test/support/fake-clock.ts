import type { Clock } from '../../src/lib/clock.ts';
import { START_MS } from './builders.ts';

interface Timer {
  readonly atMs: number;
  readonly wake: () => void;
}

/** A clock that moves only when told to; between two timers everything that can run has run. */
export class FakeClock implements Clock {
  #nowMs = START_MS;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#nowMs;
  }

  after(ms: number, wake: () => void): () => void {
    const timer = { atMs: this.#nowMs + ms, wake };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get pending(): number {
    return this.#timers.size;
  }

  /** Time passes in which nothing runs, not even what is due. */
  standStill(ms: number): void {
    this.#nowMs += ms;
  }

  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await settle();
    for (let next = this.#next(untilMs); next; next = this.#next(untilMs)) {
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.wake();
      await settle();
    }
    this.#nowMs = untilMs;
  }

  #next(untilMs: number): Timer | undefined {
    const due = [...this.#timers].filter(({ atMs }) => atMs <= untilMs);
    return due.sort((a, b) => a.atMs - b.atMs)[0];
  }
}

/** Lets everything run that waits for nothing but its turn. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
