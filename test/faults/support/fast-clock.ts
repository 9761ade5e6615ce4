import type { Clock } from '../../../src/lib/clock.ts';
import { START_MS } from '../../support/builders.ts';

interface Timer {
  atMs: number;
  readonly order: number;
  readonly wake: () => void;
}

/**
 * A clock that moves only when told to. Nothing in a port scene waits for anything but promises and this clock, so one turn
 * of the event loop after each timer lets all run that can: a history of minutes takes milliseconds.
 */
export class FastClock implements Clock {
  #nowMs = START_MS;
  #order = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#nowMs;
  }

  after(ms: number, wake: () => void): () => void {
    this.#order += 1;
    const timer = { atMs: this.#nowMs + Math.max(0, ms), order: this.#order, wake };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** It is set: whoever waits still waits as long as before. */
  jump(ms: number): void {
    this.#nowMs += ms;
    for (const timer of this.#timers) timer.atMs += ms;
  }

  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await turn();
    for (let next = this.#next(untilMs); next; next = this.#next(untilMs)) {
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.wake();
      await turn();
    }
    this.#nowMs = untilMs;
  }

  #next(untilMs: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      const isEarlier = !first || timer.atMs < first.atMs || (timer.atMs === first.atMs && timer.order < first.order);
      if (timer.atMs <= untilMs && isEarlier) first = timer;
    }
    return first;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
