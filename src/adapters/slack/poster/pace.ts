const MINUTE_MS = 60_000;
/** A 429 halves the rate. Each minute it recovers by this share of its base. */
const RECOVERY_PER_MINUTE = 0.1;
const MIN_FACTOR = 1 / 16;

/**
 * The priority of a call. `final`: a result, or something that a person waits for. `opening`: the first post of a run; gives way to results
 * for a few seconds. `progress`: worthless after the next update. `background`: nobody waits for it.
 */
export type Lane = 'background' | 'progress' | 'opening' | 'final';

/** Callers pass in the time; nothing here waits. */
export interface Pace {
  waitMs(lane: Lane, nowMs: number): number;
  sent(lane: Lane, nowMs: number): void;
  /** Slack answered 429: wait `retryAfterMs`, then go slower. */
  limited(nowMs: number, retryAfterMs: number): void;
  isIdle(nowMs: number): boolean;
}

/** Additive increase, multiplicative decrease, plus the wait that Slack demands. */
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

  /** @returns whether the rate was halved */
  limited(nowMs: number, retryAfterMs: number): boolean {
    this.#untilMs = Math.max(this.#untilMs, nowMs + retryAfterMs);
    // Slack refuses calls in flight together: halve once for all of them.
    if (this.#sinceMs > nowMs) return false;
    this.#factor = Math.max(MIN_FACTOR, this.factor(nowMs) / 2);
    this.#sinceMs = this.#untilMs;
    return true;
  }
}

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

  /** Wait until one token can be spent and `reserve` tokens remain. */
  waitMs(nowMs: number, size: Size, reserve = 0): number {
    this.#fill(nowMs, size);
    const missing = 1 + reserve - this.#tokens;
    // Tolerates rounding errors of the fill.
    return missing <= 1e-9 ? 0 : Math.ceil((missing * MINUTE_MS) / size.perMinute);
  }

  spend(): void {
    this.#tokens = Math.max(0, this.#tokens - 1);
  }

  /** Leaves one token at `untilMs`; the bucket refills from then on. */
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
 * chat.update has 50 calls a minute in a workspace. Ten people can end twenty runs in one minute, with one update each, so twenty calls
 * stay free while running logs update.
 */
const PROGRESS_SHARE = 0.6;
const PROGRESS_BURST = 8;
/** Half of a method's calls stay free for a replica that takes over the runs of another. */
const BACKGROUND_SHARE = 0.5;

const SHARE: Readonly<Record<Lane, number>> = {
  background: BACKGROUND_SHARE,
  progress: PROGRESS_SHARE,
  opening: 1,
  final: 1,
};

/**
 * At most `perMinute` calls in any 60 s in the workspace (Slack, "Rate limits"). `progress` gets at most 60 % of them, evenly spread after
 * a burst of 8; `background` goes only while all lanes together used less than half.
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
    const perMinute = this.#perMinute * this.#backing.factor(nowMs) * SHARE[lane];
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
/** Ten first posts at once, plus five results. Slack documents no number ("short bursts"); PSSlack issue 52 measured 25. */
const POST_BURST = 15;
const RESERVED_FOR_RESULTS = 5;

/**
 * One post a second and a burst (Slack, "Rate limits"). A 429 first halves the burst, because Slack promises one a second. With no burst
 * left, it halves the rate too: several replicas share it without knowing of each other.
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
    // After a 429, leave no capacity idle for results that may not come.
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
 * Calls per minute by method. Slack, "Rate limits": Tier 3: 50, Tier 4: 100, chat.postMessage: one a second per channel and "several
 * hundred" per workspace. Where Slack only says "special", this is a guess; a 429 corrects it.
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

/** Methods that post into a channel and so count against its one post a second. */
const POSTS: ReadonlySet<Method> = new Set(['chat.postMessage', 'files.completeUploadExternal']);

export class Budgets {
  readonly #methods = new Map<Method, Pace>();
  readonly #channels = new Map<string, Pace>();

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
   * A 429 for a message slows only its channel (the documented limit): a workspace-wide limit returns one for each channel. Slack does not
   * document which limit a file met, so both paces slow down.
   */
  limited(method: Method, channelId: string | undefined, nowMs: number, retryAfterMs: number): void {
    const paces = this.of(method, channelId, nowMs);
    for (const pace of method === 'chat.postMessage' ? paces.slice(-1) : paces) pace.limited(nowMs, retryAfterMs);
  }

  #forgetIdle(nowMs: number, butFor: string): void {
    for (const [id, pace] of this.#channels) if (id !== butFor && pace.isIdle(nowMs)) this.#channels.delete(id);
  }
}
