import { KdebugError } from '../../../core/errors.ts';
import type { PostRef } from '../../../core/run/run.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import type { Place, Shared } from '../../../flow/ports/slack.ts';
import type { Speaker } from './messages.ts';
import { Posted } from './own-post.ts';

export { sharesFile } from './own-post.ts';

const PAGE = 200;
const MAX_PAGES = 5;
/** Slack's clock and ours may differ. */
const CLOCK_SLACK_MS = 5 * 60_000;

interface Page {
  readonly messages?: readonly unknown[];
  readonly has_more?: boolean;
  readonly response_metadata?: { readonly next_cursor?: string };
}

interface Where {
  readonly place: Place;
  readonly sinceMs: number;
}

/** Hears of a look that Slack refuses. */
interface Looker extends Speaker {
  readonly log?: Log;
}

export async function findMessage(
  looker: Looker,
  where: Where,
  wanted: (message: Posted) => boolean,
): Promise<PostRef | undefined> {
  const found = await findPosted(looker, where, wanted);
  return found && { channelId: where.place.channelId, ts: found.ts };
}

/** The message in which `filesOf` finds files: their ids, and where it stands. */
export async function findShared(
  looker: Looker,
  where: Where,
  filesOf: (message: Posted) => readonly string[] | undefined,
): Promise<Shared | undefined> {
  const found = await findPosted(looker, where, (message) => filesOf(message) !== undefined);
  return found && { ref: { channelId: where.place.channelId, ts: found.ts }, fileIds: filesOf(found) ?? [] };
}

/** Whether a thread has a reply: Slack shows private answers only in one that has. What cannot be seen has none. */
export async function hasReply(looker: Looker, channelId: string, threadTs: string): Promise<boolean> {
  try {
    const { messages } = await looker.poster.call(
      { method: 'conversations.replies', lane: 'final', repeatable: false },
      () => looker.client.conversations.replies({ channel: channelId, ts: threadTs, limit: 2 }),
    );
    return messages?.some(({ ts }) => ts !== threadTs) ?? false;
  } catch (thrown) {
    if (thrown instanceof KdebugError) return false;
    throw thrown;
  }
}

/**
 * The first message that `wanted` accepts, in a thread or among a channel's messages since then: at most 5 pages of 200. A look that
 * Slack refuses (`missing_scope`, `not_in_channel` …) finds nothing: to say a thing twice is better than never.
 */
async function findPosted(
  looker: Looker,
  where: Where,
  wanted: (message: Posted) => boolean,
): Promise<Posted | undefined> {
  try {
    return await findInPages(looker, where, wanted);
  } catch (thrown) {
    if (!(thrown instanceof KdebugError) || !REFUSALS.has(thrown.code)) throw thrown;
    const { channelId } = where.place;
    looker.log?.warn('Slack does not let the app look whether a message is there', {
      channelId,
      detail: thrown.detail,
    });
    return undefined;
  }
}

const REFUSALS: ReadonlySet<string> = new Set(['slack_refused', 'slack_channel_closed']);

async function findInPages(
  looker: Looker,
  where: Where,
  wanted: (message: Posted) => boolean,
): Promise<Posted | undefined> {
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await readPage(looker, where, cursor);
    for (const raw of answer.messages ?? []) {
      const message = Posted.safeParse(raw);
      if (message.success && wanted(message.data)) return message.data;
    }
    cursor = answer.response_metadata?.next_cursor;
    if (!cursor) return undefined;
  }
  return undefined;
}

/** A whole read: its answer is used or asked for again, never half of it. */
function readPage({ client, poster }: Speaker, { place, sinceMs }: Where, cursor: string | undefined): Promise<Page> {
  const { channelId: channel, threadTs } = place;
  const oldest = Math.max(0, (sinceMs - CLOCK_SLACK_MS) / 1000).toFixed(6);
  const query = {
    channel,
    oldest,
    inclusive: true,
    limit: PAGE,
    include_all_metadata: true,
    ...(cursor ? { cursor } : {}),
  };
  const how = { lane: 'final', repeatable: true } as const;
  return threadTs === undefined
    ? poster.call({ method: 'conversations.history', ...how }, () => client.conversations.history(query))
    : poster.call({ method: 'conversations.replies', ...how }, () =>
        client.conversations.replies({ ...query, ts: threadTs }),
      );
}
