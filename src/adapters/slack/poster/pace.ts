const MINUTE_MS = 60_000;
/** After a 429 the rate is halved and comes back by this share of its base a minute (additive increase). */
const RECOVERY_PER_MINUTE = 0.1;
const MIN_FACTOR = 1 / 16;

/**
 * What a call is about. `final`: a result, or what somebody waits for. `opening`: the first word about a run, which gives way to
 * results for a few seconds. `progress`: what the next update makes worthless.
 */
export type Lane = 'progress' | 'opening' | 'final';

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

  get untilMs(): number {
    return this.#untilMs;
  }

  /** @returns whether that was a step down */
  limited(nowMs: number, retryAfterMs: number): boolean {
    this.#untilMs = Math.max(this.#untilMs, nowMs + retryAfterMs);
    // Calls that were in flight together are refused together: one step down for all of them.
    if (this.#sinceMs > nowMs) return false;
    this.#factor = Math.max(MIN_FACTOR, this.factor(nowMs) / 2);
    this.#sinceMs = this.#untilMs;
    return true;
  }
}

/** How large a bucket is now, and how fast it fills. */
interface Size {
  readonly burst: number;
  readonly perMinute: number;
}

class TokenBucket {
  #tokens: number;
  #atMs: number | undefined;

  constructor(tokens: number) {
    this.#tokens = tokens;
  }

  #fill(nowMs: number, { burst, perMinute }: Size): void {
    const passedMs = this.#atMs === undefined ? 0 : Math.max(0, nowMs - this.#atMs);
    this.#tokens = Math.min(burst, this.#tokens + (passedMs * perMinute) / MINUTE_MS);
    this.#atMs = Math.max(this.#atMs ?? nowMs, nowMs);
  }

  /** Until one may be taken that leaves `reserve`. */
  waitMs(nowMs: number, size: Size, reserve = 0): number {
    this.#fill(nowMs, size);
    const missing = 1 + reserve - this.#tokens;
    // The hair's breadth is for the rounding of the fill.
    return missing <= 1e-9 ? 0 : Math.ceil((missing * MINUTE_MS) / size.perMinute);
  }

  spend(): void {
    this.#tokens = Math.max(0, this.#tokens - 1);
  }

  /** Nothing is left but one at that moment; it fills from then on. */
  empty(untilMs: number): void {
    this.#tokens = 1;
    this.#atMs = untilMs;
  }

  isFull(nowMs: number, size: Size): boolean {
    this.#fill(nowMs, size);
    return this.#tokens >= size.burst;
  }
}

/**
 * What `progress` may take of a method's minute. chat.update has 50 a workspace: ten people at once end ten runs in one minute, and
 * the same ten soon after; each end is one update, so twenty stay free for ends whatever the tails of running logs do.
 */
const PROGRESS_SHARE = 0.6;
const PROGRESS_BURST = 8;

/**
 * A method's budget for the workspace (Slack, "Rate limits": tiers a minute). Never more than `perMinute` calls in any
 * 60 s; `progress` takes at most 60 % of them, evenly spread after a burst of 8.
 */
class MethodPace implements Pace {
  readonly #perMinute: number;
  readonly #backing = new Backing();
  readonly #progress = new TokenBucket(PROGRESS_BURST);
  #sentAtMs: number[] = [];

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  waitMs(lane: Lane, nowMs: number): number {
    const perMinute = this.#perMinute * this.#backing.factor(nowMs) * (lane === 'progress' ? PROGRESS_SHARE : 1);
    const spread = lane === 'progress' ? this.#progress.waitMs(nowMs, { burst: PROGRESS_BURST, perMinute }) : 0;
    return Math.max(this.#backing.waitMs(nowMs), this.#windowWaitMs(nowMs, Math.max(1, Math.floor(perMinute))), spread);
  }

  #windowWaitMs(nowMs: number, limit: number): number {
    this.#sentAtMs = this.#sentAtMs.filter((atMs) => atMs > nowMs - MINUTE_MS);
    const mustLeave = this.#sentAtMs[this.#sentAtMs.length - limit];
    return mustLeave === undefined ? 0 : mustLeave + MINUTE_MS - nowMs;
  }

  sent(lane: Lane, nowMs: number): void {
    this.#sentAtMs.push(nowMs);
    if (lane === 'progress') this.#progress.spend();
  }

  limited(nowMs: number, retryAfterMs: number): void {
    this.#backing.limited(nowMs, retryAfterMs);
  }

  isIdle(): boolean {
    return false;
  }
}

const POSTS_PER_MINUTE = 60;
/** Ten first words at once, and five results more. Slack names no number ("short bursts"); somebody measured 25 (PSSlack issue 52). */
const POST_BURST = 15;
const RESERVED_FOR_RESULTS = 5;

/**
 * One channel's pace for posts: one a second and a burst (Slack, "Rate limits"). A 429 halves the burst, since one a second is what
 * Slack promises; where no burst is left it halves the rate as well, which several replicas share without knowing of each other.
 */
class ChannelPace implements Pace {
  readonly #burst = new Backing();
  readonly #rate = new Backing();
  readonly #bucket = new TokenBucket(POST_BURST);

  #size(nowMs: number): Size {
    return {
      burst: Math.max(1, Math.floor(POST_BURST * this.#burst.factor(nowMs))),
      perMinute: POSTS_PER_MINUTE * this.#rate.factor(nowMs),
    };
  }

  waitMs(lane: Lane, nowMs: number): number {
    // Once Slack has said how little it takes, nothing lies idle for results that may not come.
    const reserve = lane === 'final' || this.#burst.factor(nowMs) < 1 ? 0 : RESERVED_FOR_RESULTS;
    return Math.max(this.#burst.waitMs(nowMs), this.#bucket.waitMs(nowMs, this.#size(nowMs), reserve));
  }

  sent(): void {
    this.#bucket.spend();
  }

  limited(nowMs: number, retryAfterMs: number): void {
    const hadBurst = this.#size(nowMs).burst > 1;
    const isStep = this.#burst.limited(nowMs, retryAfterMs);
    if (isStep && !hadBurst) this.#rate.limited(nowMs, retryAfterMs);
    this.#bucket.empty(this.#burst.untilMs);
  }

  isIdle(nowMs: number): boolean {
    const isAtBest = this.#burst.factor(nowMs) === 1 && this.#rate.factor(nowMs) === 1;
    return isAtBest && this.#burst.waitMs(nowMs) === 0 && this.#bucket.isFull(nowMs, this.#size(nowMs));
  }
}

/**
 * Calls a minute for each method we use: Slack, "Rate limits" (Tier 3: 50, Tier 4: 100, chat.postMessage: one a second a
 * channel and "several hundred" a workspace). What Slack says only "special" of is a guess; a 429 corrects us.
 */
const PER_MINUTE = {
  'chat.postMessage': 240,
  'chat.update': 50,
  'chat.postEphemeral': 100,
  'chat.getPermalink': 100,
  'conversations.history': 50,
  'conversations.replies': 50,
  'conversations.open': 50,
  'files.getUploadURLExternal': 100,
  'files.completeUploadExternal': 100,
  'files.info': 100,
} as const;

export type Method = keyof typeof PER_MINUTE;

const MAX_CHANNELS = 500;

/** What puts a message into a channel, and so counts against the channel's one a second. */
const POSTS: ReadonlySet<Method> = new Set(['chat.postMessage', 'files.completeUploadExternal']);

/** All paces: one a method, and one a channel for posts. */
export class Budgets {
  readonly #methods = new Map<Method, Pace>();
  readonly #channels = new Map<string, Pace>();

  /** The paces that a call must satisfy. */
  of(method: Method, channelId: string | undefined, nowMs: number): readonly Pace[] {
    const methodPace = this.#methods.get(method) ?? new MethodPace(PER_MINUTE[method]);
    this.#methods.set(method, methodPace);
    if (!POSTS.has(method) || channelId === undefined) return [methodPace];
    const channelPace = this.#channels.get(channelId) ?? new ChannelPace();
    this.#channels.set(channelId, channelPace);
    if (this.#channels.size > MAX_CHANNELS) this.#forgetIdle(nowMs, channelId);
    return [methodPace, channelPace];
  }

  /**
   * Slack answered 429. A message's is its channel's (the documented limit), so the other channels go on; a workspace-wide one comes
   * back from each of them. Which of its limits a file met is not documented: both paces slow down.
   */
  limited(method: Method, channelId: string | undefined, nowMs: number, retryAfterMs: number): void {
    const paces = this.of(method, channelId, nowMs);
    for (const pace of method === 'chat.postMessage' ? paces.slice(-1) : paces) pace.limited(nowMs, retryAfterMs);
  }

  #forgetIdle(nowMs: number, butFor: string): void {
    for (const [id, pace] of this.#channels) if (id !== butFor && pace.isIdle(nowMs)) this.#channels.delete(id);
  }
}
