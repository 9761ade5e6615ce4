import type { Clock } from '../../../lib/clock.ts';

/** The `Date` header has whole seconds. */
const SECOND_MS = 1_000;

/**
 * The API server's clock, which log stamps follow, from the `Date` headers of its responses. One header has whole
 * seconds; many together narrow the difference of the two clocks to a few milliseconds.
 */
export class ServerClock {
  readonly #clock: Clock;
  /** The server's time is at least and at most this far ahead of `clock.elapsed`. */
  #minAheadMs = Number.NEGATIVE_INFINITY;
  #maxAheadMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call when a response arrives; `sentAtMs` is when its request was sent, by `clock.elapsed`. */
  learn(date: unknown, sentAtMs: number): void {
    const atMs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    if (!Number.isFinite(atMs)) return;
    const leastMs = atMs - this.#clock.elapsed();
    const mostMs = atMs + SECOND_MS - sentAtMs;
    // Somebody set the server's clock, or this machine was suspended: the old bounds are void.
    const isOutdated = leastMs > this.#maxAheadMs || mostMs < this.#minAheadMs;
    this.#minAheadMs = isOutdated ? leastMs : Math.max(this.#minAheadMs, leastMs);
    this.#maxAheadMs = isOutdated ? mostMs : Math.min(this.#maxAheadMs, mostMs);
  }

  now(): number {
    if (!Number.isFinite(this.#minAheadMs)) return this.#clock.now();
    return this.#clock.elapsed() + (this.#minAheadMs + this.#maxAheadMs) / 2;
  }

  /** Lower bound of the server's time; undefined before the first response. */
  earliest(): number | undefined {
    return Number.isFinite(this.#minAheadMs) ? this.#clock.elapsed() + this.#minAheadMs : undefined;
  }
}

/** Milliseconds of a `Retry-After` header in seconds (the API server never sends a date), or undefined. */
export function retryAfterMs(header: unknown): number | undefined {
  return typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : undefined;
}
