import type { KdebugError } from '../../core/errors.ts';
import type { RunState } from '../../core/run/run-state.ts';
import { type BackOff, delayOf } from '../../lib/backoff.ts';

/**
 * The time for which a stage may fail with transient errors while a person waits; other clocks bound the other stages.
 */
const STAGE_PATIENCE_MS: Readonly<Partial<Record<RunState, number>>> = {
  received: 8_000,
  approved: 60_000,
  launching: 60_000,
};
/** In every stage: without the store this replica drops the run, for whichever replica reaches the store again. */
const STORE_PATIENCE_MS = 60_000;
const BACK_OFF: BackOff = { firstMs: 400, maxMs: 5_000 };
const PASSING: ReadonlySet<string> = new Set(['cluster_unreachable', 'cluster_busy', 'store_unreachable']);

/** Back-off of one run's stages: how long to wait before entering a stage again. */
export class Patience {
  readonly #random: (() => number) | undefined;
  #sinceMs: number | undefined;
  #times = 0;

  constructor(random: (() => number) | undefined) {
    this.#random = random;
  }

  /** Call when a stage succeeds. */
  reset(): void {
    this.#sinceMs = undefined;
    this.#times = 0;
  }

  /** Undefined: the error is not transient, or has lasted too long. */
  waitMs({ code, facts }: KdebugError, state: RunState, nowMs: number): number | undefined {
    if (!PASSING.has(code) && facts.mayPass !== true) return undefined;
    this.#sinceMs ??= nowMs;
    const { retryAfterMs } = facts;
    const backOffMs = delayOf(BACK_OFF, this.#times, this.#random);
    this.#times += 1;
    // A server that allows an immediate retry gets our back-off all the same.
    const waitMs = typeof retryAfterMs === 'number' && retryAfterMs > 0 ? retryAfterMs : backOffMs;
    const patienceMs = code === 'store_unreachable' ? STORE_PATIENCE_MS : (STAGE_PATIENCE_MS[state] ?? 0);
    return nowMs + waitMs - this.#sinceMs > patienceMs ? undefined : waitMs;
  }
}
