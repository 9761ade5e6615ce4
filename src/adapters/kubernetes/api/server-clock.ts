import type { Clock } from '../../../flow/ports.ts';

/** The `Date` header has whole seconds: on average the moment is half a second later. */
const HALF_A_SECOND_MS = 500;

/** The API server's clock, from the `Date` header of its newest answer (log stamps come from the cluster, not from us). */
export class ServerClock {
  readonly #clock: Clock;
  #aheadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  learn(date: unknown): void {
    const atMs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    if (Number.isFinite(atMs)) this.#aheadMs = atMs + HALF_A_SECOND_MS - this.#clock.now();
  }

  now(): number {
    return this.#clock.now() + this.#aheadMs;
  }
}

/** Milliseconds of a `Retry-After` header in seconds (the API server never sends a date), or undefined. */
export function retryAfterMs(header: unknown): number | undefined {
  return typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : undefined;
}
