import type { Clock } from '../../../src/lib/clock.ts';

interface Timer {
  readonly atMs: number;
  readonly wake: () => void;
  handle: NodeJS.Timeout | undefined;
}

/** The real clock, except that a test may skip time: what was due meanwhile happens, in its order, without anybody waiting. */
export class SkippingClock implements Clock {
  #skewMs = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return Date.now() + this.#skewMs;
  }

  elapsed(): number {
    return Math.floor(performance.now()) + this.#skewMs;
  }

  after(ms: number, wake: () => void): () => void {
    const timer: Timer = { atMs: this.elapsed() + Math.ceil(Math.max(0, ms)), wake, handle: undefined };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => this.#forget(timer);
  }

  async skip(ms: number): Promise<void> {
    const untilMs = this.elapsed() + ms;
    for (let next = this.#next(untilMs); next; next = this.#next(untilMs)) {
      this.#moveTo(next.atMs);
      this.#fire(next);
      await turn();
    }
    this.#moveTo(untilMs);
    for (const timer of this.#timers) this.#arm(timer);
  }

  #moveTo(atMs: number): void {
    this.#skewMs += Math.max(0, atMs - this.elapsed());
  }

  #arm(timer: Timer): void {
    clearTimeout(timer.handle);
    timer.handle = setTimeout(() => this.#fire(timer), timer.atMs - this.elapsed()).unref();
  }

  #fire(timer: Timer): void {
    this.#forget(timer);
    timer.wake();
  }

  #forget(timer: Timer): void {
    clearTimeout(timer.handle);
    this.#timers.delete(timer);
  }

  #next(untilMs: number): Timer | undefined {
    const due = [...this.#timers].filter(({ atMs }) => atMs <= untilMs);
    return due.sort((a, b) => a.atMs - b.atMs)[0];
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
