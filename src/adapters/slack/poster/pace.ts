const MINUTE_MS = 60_000;
/** After a 429 the rate is halved and comes back by this share of its base a minute (additive increase). */
const RECOVERY_PER_MINUTE = 0.1;
const LEAST_FACTOR = 1 / 16;

/** `final` overtakes `progress` and keeps a reserve for itself. */
export type Lane = 'progress' | 'final';

/** When a call may go. Time is passed in; nothing here waits. */
export interface Pace {
  /** 0: now. */
  waitMs(lane: Lane, nowMs: number): number;
  sent(lane: Lane, nowMs: number): void;
  /** Slack answered 429: nothing before `retryAfterMs` has passed, then slower. */
  limited(nowMs: number, retryAfterMs: number): void;
  /** Whether forgetting this pace would change nothing. */
  isIdle(nowMs: number): boolean;
}

/** Additive increase, multiplicative decrease, plus the wait that Slack asked for. */
class Backing {
  #factor = 1;
  #sinceMs = 0;
  #untilMs = 0;

  factor(nowMs: number): number {
    return Math.min(1, this.#factor + ((nowMs - this.#sinceMs) / MINUTE_MS) * RECOVERY_PER_MINUTE);
  }

  waitMs(nowMs: number): number {
    return Math.max(0, this.#untilMs - nowMs);
  }

  limited(nowMs: number, retryAfterMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, nowMs + retryAfterMs);
    // Calls that were in flight together are refused together: one step down for all of them.
    if (this.#sinceMs > nowMs) return;
    this.#factor = Math.max(LEAST_FACTOR, this.factor(nowMs) / 2);
    this.#sinceMs = this.#untilMs;
  }
}

class TokenBucket {
  #tokens: number;
  #atMs: number | undefined;
  readonly #burst: number;

  constructor(burst: number) {
    this.#burst = burst;
    this.#tokens = burst;
  }

  #fill(nowMs: number, perMinute: number): void {
    const passedMs = this.#atMs === undefined ? 0 : Math.max(0, nowMs - this.#atMs);
    this.#tokens = Math.min(this.#burst, this.#tokens + (passedMs * perMinute) / MINUTE_MS);
    this.#atMs = nowMs;
  }

  waitMs(nowMs: number, perMinute: number): number {
    this.#fill(nowMs, perMinute);
    // The hair's breadth is for the rounding of the fill.
    return this.#tokens >= 1 - 1e-9 ? 0 : Math.ceil(((1 - this.#tokens) * MINUTE_MS) / perMinute);
  }

  take(): void {
    this.#tokens = Math.max(0, this.#tokens - 1);
  }

  isFull(nowMs: number, perMinute: number): boolean {
    this.#fill(nowMs, perMinute);
    return this.#tokens >= this.#burst;
  }
}

/** A share of the method's minute that `progress` never takes (performance-reliability, section 1.1). */
const PROGRESS_SHARE = 0.8;
const PROGRESS_BURST = 8;

/**
 * A method's budget for the workspace (Slack, "Rate limits": tiers a minute). Never more than `perMinute` calls in any
 * 60 s; `progress` takes at most 80 % of them, evenly spread after a burst of 8.
 */
export class MethodPace implements Pace {
  readonly #perMinute: number;
  readonly #backing = new Backing();
  readonly #progress = new TokenBucket(PROGRESS_BURST);
  #sentAtMs: number[] = [];

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  waitMs(lane: Lane, nowMs: number): number {
    const perMinute = this.#perMinute * this.#backing.factor(nowMs) * (lane === 'progress' ? PROGRESS_SHARE : 1);
    const spread = lane === 'progress' ? this.#progress.waitMs(nowMs, perMinute) : 0;
    return Math.max(this.#backing.waitMs(nowMs), this.#windowWaitMs(nowMs, Math.max(1, Math.floor(perMinute))), spread);
  }

  #windowWaitMs(nowMs: number, limit: number): number {
    this.#sentAtMs = this.#sentAtMs.filter((atMs) => atMs > nowMs - MINUTE_MS);
    const mustLeave = this.#sentAtMs[this.#sentAtMs.length - limit];
    return mustLeave === undefined ? 0 : mustLeave + MINUTE_MS - nowMs;
  }

  sent(lane: Lane, nowMs: number): void {
    this.#sentAtMs.push(nowMs);
    if (lane === 'progress') this.#progress.take();
  }

  limited(nowMs: number, retryAfterMs: number): void {
    this.#backing.limited(nowMs, retryAfterMs);
  }

  isIdle(): boolean {
    return false;
  }
}

const POSTS_PER_MINUTE = 60;
const POST_BURST = 3;

/** One channel's pace for chat.postMessage: one a second, short bursts (Slack, "Rate limits"). */
export class ChannelPace implements Pace {
  readonly #backing = new Backing();
  readonly #bucket = new TokenBucket(POST_BURST);

  #perMinute(nowMs: number): number {
    return POSTS_PER_MINUTE * this.#backing.factor(nowMs);
  }

  waitMs(_lane: Lane, nowMs: number): number {
    return Math.max(this.#backing.waitMs(nowMs), this.#bucket.waitMs(nowMs, this.#perMinute(nowMs)));
  }

  sent(): void {
    this.#bucket.take();
  }

  limited(nowMs: number, retryAfterMs: number): void {
    this.#backing.limited(nowMs, retryAfterMs);
  }

  isIdle(nowMs: number): boolean {
    return (
      this.#backing.waitMs(nowMs) === 0 &&
      this.#backing.factor(nowMs) === 1 &&
      this.#bucket.isFull(nowMs, POSTS_PER_MINUTE)
    );
  }
}
