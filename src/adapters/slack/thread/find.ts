import { z } from 'zod';
import type { PostRef } from '../../../core/run/run.ts';
import type { Place, PostMeta, Shared } from '../../../flow/ports/slack.ts';
import { EVENT_TYPE, type Speaker } from './messages.ts';

const PAGE = 200;
const MAX_PAGES = 5;
/** Slack's clock and ours may differ. */
const CLOCK_SLACK_MS = 5 * 60_000;

/** The fields of a message that looking for our own needs. */
const Posted = z.object({
  ts: z.string(),
  bot_id: z.string().optional(),
  user: z.string().optional(),
  metadata: z
    .object({ event_type: z.string(), event_payload: z.record(z.string(), z.unknown()) })
    .optional()
    .catch(undefined),
  files: z
    .array(z.object({ id: z.string(), name: z.string().optional().catch(undefined) }))
    .optional()
    .catch(undefined),
});
export type Posted = z.infer<typeof Posted>;

/** Whether a message is one of ours for this run. Metadata alone proves nothing: any app may write any. */
export const isPostOf =
  (meta: Pick<PostMeta, 'run' | 'kind'>, botId: string | undefined) =>
  ({ bot_id, metadata }: Posted): boolean =>
    metadata?.event_type === EVENT_TYPE &&
    metadata.event_payload.run === meta.run &&
    metadata.event_payload.kind === meta.kind &&
    (botId === undefined || bot_id === botId);

export const sharesFile =
  (fileId: string) =>
  ({ files }: Posted): boolean =>
    files?.some((file) => file.id === fileId) ?? false;

interface Page {
  readonly messages?: readonly unknown[];
  readonly has_more?: boolean;
  readonly response_metadata?: { readonly next_cursor?: string };
}

interface Where {
  readonly place: Place;
  readonly sinceMs: number;
}

export async function findMessage(
  speaker: Speaker,
  where: Where,
  wanted: (message: Posted) => boolean,
): Promise<PostRef | undefined> {
  const found = await findPosted(speaker, where, wanted);
  return found && { channelId: where.place.channelId, ts: found.ts };
}

/** A message that we shared ourselves, with files of all these names. */
export async function findShared(
  speaker: Speaker,
  where: Where,
  { filenames, botId }: { readonly filenames: readonly string[]; readonly botId: string | undefined },
): Promise<Shared | undefined> {
  const idsIn = ({ files }: Posted) =>
    filenames.flatMap((filename) => files?.find(({ name }) => name === filename)?.id ?? []);
  const found = await findPosted(
    speaker,
    where,
    (message) => idsIn(message).length === filenames.length && (botId === undefined || message.bot_id === botId),
  );
  return found && { ref: { channelId: where.place.channelId, ts: found.ts }, fileIds: idsIn(found) };
}

/** The first message that `wanted` accepts, in a thread or among a channel's messages since then: at most 5 pages of 200. */
async function findPosted(
  speaker: Speaker,
  where: Where,
  wanted: (message: Posted) => boolean,
): Promise<Posted | undefined> {
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await readPage(speaker, where, cursor);
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
