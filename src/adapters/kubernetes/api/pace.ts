import type { Clock } from '../../../flow/ports/machine.ts';

/** Of what the server took in the last second, this much is asked of it after it has said 429. */
const DOWN = 0.92;
/** What is asked grows by this much each second without one: fast up to where it was refused last, slowly beyond. */
const UP_FAST = 2;
const UP = 1.03;
/** A refusal that comes after a pause says little of what the server takes. */
const LEAST_PER_SECOND = 10;
/** Above so many a second there is nothing to hold back. */
const FREE_PER_SECOND = 5_000;
const SECOND_MS = 1_000;

/**
 * Asks of an API server what it takes. Free until it answers 429 (a limit of its own, or priority and fairness); from then on calls
 * are spread evenly at a rate that falls with every 429, once a second at most, and rises slowly without: so nearly all of what is
 * allowed is used, and few calls are sent in vain.
 */
export class Pace {
  readonly #clock: Clock;
  #perSecond = Number.POSITIVE_INFINITY;
  /** What the server took in a second when it refused more; unknown at first. */
  #ceiling = Number.POSITIVE_INFINITY;
  #nextAtMs = 0;
  #fellAtMs = Number.NEGATIVE_INFINITY;
  #roseAtMs = 0;
  /** When calls were taken, within the last second. */
  #taken: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when a call may be sent. */
  async turn(): Promise<void> {
    const nowMs = this.#clock.now();
    this.#rise(nowMs);
    if (this.#perSecond === Number.POSITIVE_INFINITY) return;
    const atMs = Math.max(nowMs, this.#nextAtMs);
    this.#nextAtMs = atMs + SECOND_MS / this.#perSecond;
    if (atMs > nowMs) await new Promise<void>((resolve) => void this.#clock.after(atMs - nowMs, resolve));
  }

  /** What a call was answered. */
  learn(status: number): void {
    const nowMs = this.#clock.now();
    if (status !== 429) {
      this.#taken.push(nowMs);
      if (this.#taken.length > FREE_PER_SECOND) this.#forget(nowMs);
      return;
    }
    if (nowMs - this.#fellAtMs < SECOND_MS) return;
    this.#forget(nowMs);
    // A rate that was doubled a moment ago has not been taken for a whole second yet.
    const wasTaken = this.#perSecond === Number.POSITIVE_INFINITY ? LEAST_PER_SECOND : this.#perSecond / UP_FAST;
    const took = Math.max(this.#taken.length, wasTaken);
    if (this.#perSecond !== Number.POSITIVE_INFINITY) this.#ceiling = took;
    this.#perSecond = Math.max(1, DOWN * Math.min(took, this.#perSecond));
    this.#fellAtMs = nowMs;
    this.#roseAtMs = nowMs;
    // What is on its way already has had its share of this second.
    this.#nextAtMs = nowMs + SECOND_MS / this.#perSecond;
  }

  #rise(nowMs: number): void {
    const seconds = Math.floor((nowMs - this.#roseAtMs) / SECOND_MS);
    if (this.#perSecond === Number.POSITIVE_INFINITY || seconds < 1) return;
    this.#roseAtMs += seconds * SECOND_MS;
    for (let left = Math.min(seconds, 1_000); left > 0; left -= 1) {
      this.#perSecond *= this.#perSecond * UP_FAST < this.#ceiling ? UP_FAST : UP;
    }
    if (this.#perSecond > FREE_PER_SECOND) this.#perSecond = Number.POSITIVE_INFINITY;
  }

  #forget(nowMs: number): void {
    this.#taken = this.#taken.filter((atMs) => atMs > nowMs - SECOND_MS);
  }
}
