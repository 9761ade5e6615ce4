import type { Clock } from '../../../lib/clock.ts';

/** The `Date` header has whole seconds. */
const SECOND_MS = 1_000;

/**
 * The API server's clock, from the `Date` headers of its answers (log stamps come from the cluster, not from us). Each answer says only
 * which second it was; many together narrow the difference between the two clocks down to a few milliseconds.
 */
export class ServerClock {
  readonly #clock: Clock;
  /** The server is ahead of us by at least and at most this. */
  #leastMs = Number.NEGATIVE_INFINITY;
  #mostMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An answer came just now to a request that was sent at `sentAtMs`, by our clock. */
  learn(date: unknown, sentAtMs: number): void {
    const atMs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    if (!Number.isFinite(atMs)) return;
    const leastMs = atMs - this.#clock.now();
    const mostMs = atMs + SECOND_MS - sentAtMs;
    // A clock was set: what was known is no longer so.
    const isOutdated = leastMs > this.#mostMs || mostMs < this.#leastMs;
    this.#leastMs = isOutdated ? leastMs : Math.max(this.#leastMs, leastMs);
    this.#mostMs = isOutdated ? mostMs : Math.min(this.#mostMs, mostMs);
  }

  now(): number {
    const isKnown = Number.isFinite(this.#leastMs);
    return this.#clock.now() + (isKnown ? (this.#leastMs + this.#mostMs) / 2 : 0);
  }

  /** The server's time now is not before this; undefined while nothing is known. */
  earliest(): number | undefined {
    return Number.isFinite(this.#leastMs) ? this.#clock.now() + this.#leastMs : undefined;
  }
}

/** Milliseconds of a `Retry-After` header in seconds (the API server never sends a date), or undefined. */
export function retryAfterMs(header: unknown): number | undefined {
  return typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : undefined;
}
