/** A clock that wakes; the flow's `Clock` is one. */
interface Timer {
  now(): number;
  after(ms: number, wake: () => void): () => void;
}

/** Rounds that a loop may take at once: more than any loop of ours has news for in one go. */
const FREE = 20;
/** One more every so often: late enough for the rest of the process, early enough for who waits. */
const EVERY_MS = 250;

/**
 * The belt of a loop that waits for news: however its wait fails (news that it makes itself, a clock that stands still, a server that
 * hangs up at once), it takes 20 rounds in a row and then four a second, each after a real timer. Call `next` before each round, and
 * `progress` after one that did what can only be done so often (a launch, a new state): then the count begins again.
 */
export class Rounds {
  readonly #timer: Timer;
  #left = FREE;
  #countedAtMs: number;

  constructor(timer: Timer) {
    this.#timer = timer;
    this.#countedAtMs = timer.now();
  }

  /** Resolves when the next round may begin. Never rejects. */
  async next(): Promise<void> {
    const sinceMs = this.#timer.now() - this.#countedAtMs;
    // A clock that was set back counts from where it is now.
    const earned = sinceMs < 0 ? 0 : Math.floor(sinceMs / EVERY_MS);
    this.#left = Math.min(FREE, this.#left + earned);
    this.#countedAtMs = sinceMs < 0 || this.#left === FREE ? this.#timer.now() : this.#countedAtMs + earned * EVERY_MS;
    if (this.#left > 0) {
      this.#left -= 1;
      return;
    }
    await new Promise<void>((resolve) => {
      this.#timer.after(EVERY_MS, resolve);
    });
    this.#countedAtMs = this.#timer.now();
  }

  progress(): void {
    this.#left = FREE;
  }
}
