import type { Clock } from '../../../lib/clock.ts';

/** Of what the server took in the last second, this much is asked of it after it has said 429. */
const DOWN = 0.92;
/** What is asked grows by this much each second without one, up to half of where it was refused last. */
const UP_FAST = 2;
/** From there on it grows by this much in the first second, twice that in the next, and so on: it is back soon, and gently. */
const UP = 0.03;
/** A refusal that comes after a pause says little of what the server takes. */
const MIN_PER_SECOND = 10;
/** Above so many a second there is nothing to hold back. */
const FREE_PER_SECOND = 5_000;
const SECOND_MS = 1_000;
/** In less time a server's stock of spare calls is mistaken for its rate. */
const MIN_LOOK_MS = 250;

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
  /** Seconds of gentle growth since. */
  #steps = 0;
  readonly #waiting: (() => void)[] = [];
  /** When calls were taken, within the last second. */
  #taken: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when a call may be sent. */
  async turn(): Promise<void> {
    const nowMs = this.#clock.now();
    this.#rise(nowMs);
    if (this.#waiting.length === 0 && this.#nextAtMs <= nowMs) return this.#space(nowMs);
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#letNext();
    });
  }

  /** One after the other: what a busy moment of this process held up is not sent all at once. */
  #letNext(): void {
    this.#clock.after(Math.max(0, this.#nextAtMs - this.#clock.now()), () => {
      const nowMs = this.#clock.now();
      // A 429 may have put it off meanwhile.
      if (nowMs >= this.#nextAtMs) {
        this.#waiting.shift()?.();
        this.#space(nowMs);
      }
      if (this.#waiting.length > 0) this.#letNext();
    });
  }

  /** Timers are a little late; one call at most makes up for that. */
  #space(nowMs: number): void {
    const spaceMs = SECOND_MS / this.#perSecond;
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs - spaceMs) + spaceMs;
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
    const isFirst = this.#perSecond === Number.POSITIVE_INFINITY;
    // A rate that was doubled a moment ago has not been taken for a whole second yet, and the first calls were all sent at once.
    const took = isFirst
      ? Math.max((this.#taken.length * SECOND_MS) / this.#takenForMs(nowMs), MIN_PER_SECOND)
      : Math.max(this.#taken.length, this.#perSecond / UP_FAST);
    if (!isFirst) this.#ceiling = took;
    this.#perSecond = Math.max(1, DOWN * Math.min(took, this.#perSecond));
    this.#fellAtMs = nowMs;
    this.#roseAtMs = nowMs;
    this.#steps = 0;
    // What is on its way already has had its share of this second.
    this.#nextAtMs = nowMs + SECOND_MS / this.#perSecond;
  }

  #rise(nowMs: number): void {
    const seconds = Math.floor((nowMs - this.#roseAtMs) / SECOND_MS);
    if (this.#perSecond === Number.POSITIVE_INFINITY || seconds < 1) return;
    this.#roseAtMs += seconds * SECOND_MS;
    for (let left = Math.min(seconds, 1_000); left > 0; left -= 1) {
      const isFar = this.#perSecond * UP_FAST < this.#ceiling;
      if (!isFar) this.#steps += 1;
      this.#perSecond *= isFar ? UP_FAST : 1 + UP * this.#steps;
    }
    if (this.#perSecond > FREE_PER_SECOND) this.#perSecond = Number.POSITIVE_INFINITY;
  }

  #takenForMs(nowMs: number): number {
    return Math.max(nowMs - (this.#taken[0] ?? nowMs), MIN_LOOK_MS);
  }

  #forget(nowMs: number): void {
    this.#taken = this.#taken.filter((atMs) => atMs > nowMs - SECOND_MS);
  }
}
