import type { Clock } from '../../../lib/clock.ts';

/** After a 429 the rate becomes this share of what the server accepted in the last second. */
const DOWN = 0.92;
/** Each second without a 429 multiplies the rate by this, up to half of the rate refused last. */
const UP_FAST = 2;
/** Above that the rate grows by this share in the first second, twice that in the next, and so on. */
const UP = 0.03;
/** A refusal after a pause shows little of what the server accepts. */
const MIN_PER_SECOND = 10;
/** Above this rate nothing is held back. */
const FREE_PER_SECOND = 5_000;
const SECOND_MS = 1_000;
/** Over a shorter time a server's burst allowance looks like its rate. */
const MIN_MEASURED_MS = 250;

/**
 * Sends calls no faster than the API server accepts them. Unlimited until a 429 (the server's own limit, or priority
 * and fairness). Then calls are spread evenly, at a rate that falls with a 429, at most once a second, and rises slowly
 * without. This uses nearly all of the allowance with few refusals.
 */
export class Pace {
  readonly #clock: Clock;
  #perSecond = Number.POSITIVE_INFINITY;
  /** The accepted rate when the server refused more; unknown at first. */
  #ceiling = Number.POSITIVE_INFINITY;
  #nextAtMs = 0;
  #fellAtMs = Number.NEGATIVE_INFINITY;
  #roseAtMs = 0;
  /** Seconds of slow growth since the last 429. */
  #steps = 0;
  readonly #waiting: (() => void)[] = [];
  /** The times at which the server accepted calls, within the last second. */
  #acceptedAtMs: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls that wait for their turn. */
  get waiting(): number {
    return this.#waiting.length;
  }

  async turn(): Promise<void> {
    const nowMs = this.#clock.elapsed();
    this.#rise(nowMs);
    if (this.#waiting.length === 0 && this.#nextAtMs <= nowMs) return this.#reserve(nowMs);
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#releaseNext();
    });
  }

  /** Releases waiters one at a time: calls delayed by a busy event loop do not go out as a burst. */
  #releaseNext(): void {
    this.#clock.after(Math.max(0, this.#nextAtMs - this.#clock.elapsed()), () => {
      const nowMs = this.#clock.elapsed();
      // A 429 may have delayed it meanwhile.
      if (nowMs >= this.#nextAtMs) {
        this.#waiting.shift()?.();
        this.#reserve(nowMs);
      }
      if (this.#waiting.length > 0) this.#releaseNext();
    });
  }

  /** Timers fire a little late; at most one call makes up for that. */
  #reserve(nowMs: number): void {
    const spaceMs = SECOND_MS / this.#perSecond;
    this.#nextAtMs = Math.max(this.#nextAtMs, nowMs - spaceMs) + spaceMs;
  }

  /** Call with the status of each response. */
  learn(status: number): void {
    const nowMs = this.#clock.elapsed();
    if (status !== 429) {
      this.#acceptedAtMs.push(nowMs);
      if (this.#acceptedAtMs.length > FREE_PER_SECOND) this.#forget(nowMs);
      return;
    }
    if (nowMs - this.#fellAtMs < SECOND_MS) return;
    this.#forget(nowMs);
    const isFirst = this.#perSecond === Number.POSITIVE_INFINITY;
    // A rate that has just doubled was not accepted for a whole second yet, and the first calls went out all at once.
    const acceptedPerSecond = isFirst
      ? Math.max((this.#acceptedAtMs.length * SECOND_MS) / this.#acceptingForMs(nowMs), MIN_PER_SECOND)
      : Math.max(this.#acceptedAtMs.length, this.#perSecond / UP_FAST);
    if (!isFirst) this.#ceiling = acceptedPerSecond;
    this.#perSecond = Math.max(1, DOWN * Math.min(acceptedPerSecond, this.#perSecond));
    this.#fellAtMs = nowMs;
    this.#roseAtMs = nowMs;
    this.#steps = 0;
    // The calls already sent have used this second.
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

  #acceptingForMs(nowMs: number): number {
    return Math.max(nowMs - (this.#acceptedAtMs[0] ?? nowMs), MIN_MEASURED_MS);
  }

  #forget(nowMs: number): void {
    this.#acceptedAtMs = this.#acceptedAtMs.filter((atMs) => atMs > nowMs - SECOND_MS);
  }
}
