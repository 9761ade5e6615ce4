import type { Args } from '../api/args.ts';
import { optional } from '../api/args.ts';
import type { Method, Tier } from '../api/method.ts';
import type { Clock } from '../state/state.ts';

/** Slack's documented rates (docs.slack.dev, "Rate limits"); `off` lets everything pass. */
export interface RateOptions {
  readonly off?: boolean;
  /** Posts that a quiet channel takes at once before 1 a second holds; Slack says "short bursts", somebody measured 25. Default 20. */
  readonly postBurst?: number;
  /** Posts a minute in all channels together; Slack says "a workspace-wide limit", elsewhere "several hundred". Default 300. */
  readonly postsPerMinute?: number;
  /** Added to every tier's calls a minute; Slack promises "20+", "50+", "100+". Default 0: only the promise. */
  readonly extraPerMinute?: number;
}

const PER_MINUTE: Record<Exclude<Tier, 'posting'>, number> = { tier2: 20, tier3: 50, tier4: 100, special: 600 };
const MINUTE_MS = 60_000;

/**
 * `chat.postMessage`: a bucket per channel that refills by one a second, and a limit for the whole workspace. A message with files takes from
 * the same bucket, which is documented nowhere: the stricter reading. Everything else: at most the tier's number
 * of calls of that method in any 60 seconds. A refused call does not count.
 */
export class Rates {
  private readonly buckets = new Map<string, { tokens: number; atMs: number }>();
  private readonly windows = new Map<string, number[]>();
  private readonly options: RateOptions;
  private readonly now: Clock;

  constructor(options: RateOptions, now: Clock) {
    this.options = options;
    this.now = now;
  }

  /** Counts the call. @returns the seconds to wait (`Retry-After`, at least 1) when it is unexpected */
  take(method: Method, args: Args): number | undefined {
    if (this.options.off) return undefined;
    const { extraPerMinute = 0, postsPerMinute = 300 } = this.options;
    if (method.tier === 'posting')
      return this.fromBucket(optional(args, 'channel') ?? '') ?? this.fromWindow(method.name, postsPerMinute);
    // What it shows is a post, too; without a channel it shows nothing.
    const channel = method.name === 'files.completeUploadExternal' ? optional(args, 'channel_id') : undefined;
    const wait = channel === undefined ? undefined : this.fromBucket(channel);
    return wait ?? this.fromWindow(method.name, PER_MINUTE[method.tier] + extraPerMinute);
  }

  private fromBucket(channel: string): number | undefined {
    const size = this.options.postBurst ?? 20;
    const now = this.now();
    const bucket = this.buckets.get(channel) ?? { tokens: size, atMs: now };
    bucket.tokens = Math.min(size, bucket.tokens + (now - bucket.atMs) / 1000);
    bucket.atMs = now;
    this.buckets.set(channel, bucket);
    if (bucket.tokens < 1) return Math.max(1, Math.ceil(1 - bucket.tokens));
    bucket.tokens -= 1;
    return undefined;
  }

  private fromWindow(name: string, perMinute: number): number | undefined {
    const now = this.now();
    const window = (this.windows.get(name) ?? []).filter((at) => at > now - MINUTE_MS);
    this.windows.set(name, window);
    const oldest = window[0];
    if (oldest !== undefined && window.length >= perMinute) {
      return Math.max(1, Math.ceil((oldest + MINUTE_MS - now) / 1000));
    }
    window.push(now);
    return undefined;
  }
}
