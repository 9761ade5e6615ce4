import { ChannelPace, MethodPace, type Pace } from './pace.ts';

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
