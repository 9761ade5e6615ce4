import type { Clock } from '../../src/lib/clock.ts';
import { START_MS } from './builders.ts';

interface Timer {
  atMs: number;
  readonly order: number;
  readonly wake: () => void;
}

/** A clock that moves only by `advance`, `standStill` and `jump`; between two timers everything that can run has run. */
export class FakeClock implements Clock {
  #nowMs: number;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(nowMs = START_MS) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  after(ms: number, wake: () => void): () => void {
    this.#order += 1;
    const timer = { atMs: this.#nowMs + Math.max(0, ms), order: this.#order, wake };
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

  /** The clock is set: each timer still waits as long as before. */
  jump(ms: number): void {
    this.#nowMs += ms;
    for (const timer of this.#timers) timer.atMs += ms;
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
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      const isEarlier = !first || timer.atMs < first.atMs || (timer.atMs === first.atMs && timer.order < first.order);
      if (timer.atMs <= untilMs && isEarlier) first = timer;
    }
    return first;
  }
}

/** What runs soon without a timer: queued turns of the event loop, and answers of the disk and of the thread pool. */
const RUNS_SOON = /^(Immediate|FS|Random|Scrypt|PBKDF2|Sign|Hash|Zlib)/;
/** More turns than any chain of a test has: a loop that never rests is left alone then. */
const MAX_TURNS = 100;

/** Several may settle at once; each waits with one queued turn. */
let settling = 0;

/** Lets everything run that waits for no timer and no socket: until nothing of the kind is left. */
export async function settle(): Promise<void> {
  settling += 1;
  try {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      const queued = process.getActiveResourcesInfo().filter((name) => RUNS_SOON.test(name)).length;
      if (queued < settling) return;
    }
  } finally {
    settling -= 1;
  }
}
