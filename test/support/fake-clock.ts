import type { Clock } from '../../src/lib/clock.ts';
import { START_MS } from './builders.ts';

interface Timer {
  readonly atMs: number;
  readonly order: number;
  readonly wake: () => void;
}

/** Not zero, and far from any wall clock: a moment of one of the two is noticed where the other one is expected. */
const ELAPSED_MS = 5_000;

/** A clock that moves only by `advance`, `standStill` and `jump`; between two timers everything that can run has run. */
export class FakeClock implements Clock {
  #elapsedMs = ELAPSED_MS;
  /** The wall clock is ahead of `elapsed` by this. */
  #aheadMs: number;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(nowMs = START_MS) {
    this.#aheadMs = nowMs - ELAPSED_MS;
  }

  now(): number {
    return this.#elapsedMs + this.#aheadMs;
  }

  elapsed(): number {
    return this.#elapsedMs;
  }

  after(ms: number, wake: () => void): () => void {
    this.#order += 1;
    const timer = { atMs: this.#elapsedMs + Math.max(0, ms), order: this.#order, wake };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get pending(): number {
    return this.#timers.size;
  }

  /** Time passes in which nothing runs, not even what is due. */
  standStill(ms: number): void {
    this.#elapsedMs += ms;
  }

  /** Somebody sets the wall clock; `elapsed` and the timers go on. A suspended machine sees the same: only `now` moves. */
  jump(ms: number): void {
    this.#aheadMs += ms;
  }

  async advance(ms: number): Promise<void> {
    const untilMs = this.#elapsedMs + ms;
    await settle();
    for (let next = this.#next(untilMs); next; next = this.#next(untilMs)) {
      this.#timers.delete(next);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.atMs);
      next.wake();
      await settle();
    }
    this.#elapsedMs = untilMs;
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
