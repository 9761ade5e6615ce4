import type { WebClient } from '@slack/web-api';
import { KdebugError } from '../../../core/errors.ts';
import type { PostRef } from '../../../core/run/run-state.ts';
import type { Message } from '../../../core/say/message/message.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import type { Destination, Thread } from '../../../flow/ports/slack.ts';
import { Cached } from '../../../lib/cached.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Egress } from '../egress.ts';
import { Poster } from '../poster/poster.ts';
import { findMessage, findShared, isPostOf, type Ourselves, ownFiles } from './find.ts';
import { announce, post, update } from './messages.ts';
import { share } from './share.ts';
import { tell } from './tell.ts';

export interface ThreadOptions {
  readonly client: WebClient;
  readonly apiUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The route to Slack for calls outside the Web API. */
  readonly through: Egress['through'];
  /** Undefined before the start. Once known, searches find only our own posts. */
  readonly ourselves: () => Ourselves;
  /** An upload may be silent this long. Default 30 s; tests shorten it. */
  readonly silenceMs?: number;
}

const SILENCE_MS = 30_000;

interface Speaking {
  readonly thread: Thread;
  /** @throws as `Thread` */
  announce(channelId: string, message: Message): Promise<void>;
  /** Calls that wait for their turn. */
  waiting(): number;
  /** Fails what is still queued. */
  close(): void;
}

/** The `Thread` port over Slack's Web API, and posts that belong to no run. */
export function createThread(options: ThreadOptions): Speaking {
  const poster = new Poster(options.clock, options.log);
  const speaker = { silenceMs: SILENCE_MS, ...options, poster };
  const openDirect = directMessages(options, poster);
  const thread: Thread = {
    post: (destination, message, meta, sure) => post(speaker, destination, message, { meta, sure }),
    update: (ref, message, meta, lane) => update(speaker, { ref, message, meta, lane }),
    find: (destination, meta, sinceMs, lane) =>
      findMessage(speaker, { destination, sinceMs, lane }, isPostOf(meta, options.ourselves())),
    findShared: (destination, filenames, sinceMs, lane) =>
      findShared(speaker, { destination, sinceMs, lane }, ownFiles(filenames, options.ourselves())),
    share: (destination, messageOf, files, sure) => share(speaker, destination, { messageOf, files, sure }),
    tell: (person, message) => tell({ ...speaker, openDirect }, person, message),
    permalink: permalinks(options.client, poster),
    openDirect,
  };
  return {
    thread,
    announce: (channelId, message) => announce(speaker, channelId, message),
    waiting: () => poster.waiting,
    close: () => poster.close(),
  };
}

/** A message's link never changes. */
const MAX_LINKS = 2_000;

/** Looks up each link once, as far as the newest 2,000 are concerned: a list needs ten at a time. */
function permalinks(client: WebClient, poster: Poster): Thread['permalink'] {
  const known = new Map<string, string>();
  return async (ref) => {
    const key = `${ref.channelId} ${ref.ts}`;
    const found = known.get(key) ?? (await permalink(client, poster, ref));
    if (found === undefined) return undefined;
    known.set(key, found);
    const [oldest] = known.keys();
    if (known.size > MAX_LINKS && oldest !== undefined) known.delete(oldest);
    return found;
  };
}

/** Undefined if Slack does not know the message. */
async function permalink(client: WebClient, poster: Poster, ref: PostRef): Promise<string | undefined> {
  const call = { method: 'chat.getPermalink', lane: 'final', repeatable: true } as const;
  try {
    const request = { channel: ref.channelId, message_ts: ref.ts };
    return (await poster.call(call, () => client.chat.getPermalink(request))).permalink;
  } catch (thrown) {
    if (thrown instanceof KdebugError && thrown.code === 'slack_message_gone') return undefined;
    throw thrown;
  }
}

const MAX_PEOPLE = 10_000;
/** A reinstalled app gets new direct messages. */
const MAX_AGE_MS = 10 * 60_000;

/**
 * Caches direct messages, because Slack has exactly one for each person: repeated approval requests must not use up the workspace's
 * conversations.open calls, which private results need too. Does not cache failures; the poster bounds the waiting. The returned function
 * throws as `Thread`.
 */
function directMessages(
  { client, clock }: { readonly client: WebClient; readonly clock: Clock },
  poster: Poster,
): (userId: string) => Promise<Destination> {
  const known = new Cached<Destination>({ clock, freshMs: () => MAX_AGE_MS, maxEntries: MAX_PEOPLE });
  const ask = async (userId: string): Promise<Destination> => {
    const call = { method: 'conversations.open', lane: 'final', repeatable: true } as const;
    const { channel } = await poster.call(call, () => client.conversations.open({ users: userId }));
    if (!channel?.id) throw new KdebugError('slack_unanswered', { facts: { kind: 'no_channel' } });
    return { channelId: channel.id };
  };
  return (userId) => known.get(userId, () => ask(userId));
}
