import { type Clock, sleep } from './clock.ts';

/** Rounds in a burst: more than any kdebug loop has news for at once. */
const FREE = 20;
/** One more round per interval: rare enough for the rest of the process, frequent enough for a waiting person. */
const EVERY_MS = 250;

/**
 * A safety limit for a loop that waits for news. Whatever breaks its wait (news of its own making, a stopped clock, a
 * server that hangs up at once), the loop gets 20 rounds in a row and then four a second, each after a real timer. Call
 * `next` before each round, and `progress` after one that made bounded progress (a launch, a new state), which restarts
 * the count.
 */
export class Rounds {
  readonly #clock: Clock;
  #left = FREE;
  #countedAtMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#countedAtMs = clock.elapsed();
  }

  /** Resolves when the next round may begin. Never rejects. */
  async next(): Promise<void> {
    const nowMs = this.#clock.elapsed();
    const earned = Math.floor((nowMs - this.#countedAtMs) / EVERY_MS);
    this.#left = Math.min(FREE, this.#left + earned);
    this.#countedAtMs = this.#left === FREE ? nowMs : this.#countedAtMs + earned * EVERY_MS;
    if (this.#left > 0) {
      this.#left -= 1;
      return;
    }
    await sleep(this.#clock, EVERY_MS);
    this.#countedAtMs = this.#clock.elapsed();
  }

  progress(): void {
    this.#left = FREE;
  }
}
