import { z } from 'zod';
import { KdebugError } from '../../../core/errors.ts';
import type { ByFileName, Landed } from '../../../core/run/delivery.ts';
import type { Shared } from '../../../flow/ports/files.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import type { Destination, PostMeta, SearchLane, Sent } from '../../../flow/ports/slack.ts';
import type { Identity } from '../identity.ts';
import { EVENT_TYPE, type Speaker } from './messages.ts';

const PAGE = 200;
const MAX_PAGES = 5;
/** Allowed difference between Slack's clock and ours. */
const CLOCK_SLACK_MS = 5 * 60_000;

interface Page {
  readonly messages?: readonly unknown[];
  readonly has_more?: boolean;
  readonly response_metadata?: { readonly next_cursor?: string };
}

interface Where {
  readonly destination: Destination;
  readonly sinceMs: number;
  readonly lane?: SearchLane | undefined;
}

interface Searcher extends Speaker {
  readonly log?: Log;
}

interface Found extends Landed {
  readonly message: Posted;
}

export async function findMessage(
  searcher: Searcher,
  where: Where,
  wanted: (message: Posted) => boolean,
): Promise<Sent | undefined> {
  const found = await findPosted(searcher, where, wanted);
  if (!found) return undefined;
  const { message, ...landed } = found;
  return { channelId: where.destination.channelId, ts: message.ts, ...landed };
}

export async function findShared(
  searcher: Searcher,
  where: Where,
  filesOf: (message: Posted) => ByFileName | undefined,
): Promise<Shared | undefined> {
  const found = await findPosted(searcher, where, (message) => filesOf(message) !== undefined);
  if (!found) return undefined;
  const { message, ...landed } = found;
  const ref = { channelId: where.destination.channelId, ts: message.ts };
  return { ref, files: filesOf(message) ?? {}, refused: {}, ...landed };
}

/** Slack shows private answers only in a thread that has a reply. False if Slack refuses the look-up. */
export async function hasReply(searcher: Searcher, channelId: string, threadTs: string): Promise<boolean> {
  try {
    const { messages } = await searcher.poster.call(
      { method: 'conversations.replies', lane: 'final', repeatable: false },
      () => searcher.client.conversations.replies({ channel: channelId, ts: threadTs, limit: 2 }),
    );
    return messages?.some(({ ts }) => ts !== threadTs) ?? false;
  } catch (thrown) {
    if (thrown instanceof KdebugError) return false;
    throw thrown;
  }
}

/**
 * The first message that `wanted` accepts, among at most 5 pages of 200. Undefined also if Slack refuses the look-up (`missing_scope`,
 * `not_in_channel` …): posting twice is better than never. A reply to a thread that is gone stands in the channel (slack-go/slack#1571).
 */
async function findPosted(
  searcher: Searcher,
  where: Where,
  wanted: (message: Posted) => boolean,
): Promise<Found | undefined> {
  const { channelId, threadTs } = where.destination;
  try {
    const message = await findInPages(searcher, where, wanted);
    return message && { message };
  } catch (thrown) {
    if (!(thrown instanceof KdebugError)) throw thrown;
    if (thrown.code === 'slack_message_gone' && threadTs !== undefined) {
      const found = await findPosted(searcher, { ...where, destination: { channelId } }, wanted);
      return found && { ...found, threadGone: threadTs };
    }
    if (!REFUSALS.has(thrown.code)) throw thrown;
    searcher.log?.warn('Slack refused to search for our message', {
      channelId,
      detail: thrown.detail,
    });
    return undefined;
  }
}

const REFUSALS: ReadonlySet<string> = new Set(['slack_refused', 'slack_channel_closed']);

async function findInPages(
  searcher: Searcher,
  where: Where,
  wanted: (message: Posted) => boolean,
): Promise<Posted | undefined> {
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await readPage(searcher, where, cursor);
    for (const raw of answer.messages ?? []) {
      const message = Posted.safeParse(raw);
      if (message.success && wanted(message.data)) return message.data;
    }
    cursor = answer.response_metadata?.next_cursor;
    if (!cursor) return undefined;
  }
  return undefined;
}

/** Reading is repeatable: an unclear response is discarded and the page requested again. */
function readPage(
  { client, poster }: Speaker,
  { destination, sinceMs, lane = 'final' }: Where,
  cursor: string | undefined,
): Promise<Page> {
  const { channelId: channel, threadTs } = destination;
  const oldest = Math.max(0, (sinceMs - CLOCK_SLACK_MS) / 1000).toFixed(6);
  const query = {
    channel,
    oldest,
    inclusive: true,
    limit: PAGE,
    include_all_metadata: true,
    ...(cursor ? { cursor } : {}),
  };
  const how = { lane, repeatable: true } as const;
  return threadTs === undefined
    ? poster.call({ method: 'conversations.history', ...how }, () => client.conversations.history(query))
    : poster.call({ method: 'conversations.replies', ...how }, () =>
        client.conversations.replies({ ...query, ts: threadTs }),
      );
}

export const Posted = z.object({
  ts: z.string(),
  bot_id: z.string().optional().catch(undefined),
  user: z.string().optional().catch(undefined),
  metadata: z
    .object({ event_type: z.string(), event_payload: z.record(z.string(), z.unknown()) })
    .optional()
    .catch(undefined),
  blocks: z.array(z.unknown()).optional().catch(undefined),
  files: z
    .array(z.object({ id: z.string(), name: z.string().optional().catch(undefined) }))
    .optional()
    .catch(undefined),
});
export type Posted = z.infer<typeof Posted>;

/** Undefined before the start. */
export type Ourselves = Pick<Identity, 'botId' | 'botUserId'> | undefined;

/** A message that shares a file names our user, but not always our bot. No other app can post as either. */
const isByUs = ({ bot_id, user }: Posted, us: NonNullable<Ourselves>): boolean =>
  bot_id === us.botId || user === us.botUserId;

/**
 * Any app may write any metadata, so metadata alone proves nothing. Slack gives messages with files no metadata, and may hide it from an
 * app without `metadata:read`; then the small print identifies the run.
 */
export const isPostOf =
  (meta: Pick<PostMeta, 'run' | 'kind'>, us: Ourselves) =>
  (message: Posted): boolean => {
    const { metadata } = message;
    if (us !== undefined && !isByUs(message, us)) return false;
    if (metadata === undefined) return us !== undefined && isSignedFor(meta, message);
    const { run, kind } = metadata.event_payload;
    return metadata.event_type === EVENT_TYPE && run === meta.run && kind === meta.kind;
  };

export const sharesFile =
  (fileId: string) =>
  ({ files }: Posted): boolean =>
    files?.some((file) => file.id === fileId) ?? false;

/** Ids by name; undefined unless the message is ours and shares one of these files. */
export const ownFiles =
  (filenames: readonly string[], us: Ourselves) =>
  (message: Posted): ByFileName | undefined => {
    if (us !== undefined && !isByUs(message, us)) return undefined;
    const found = (message.files ?? []).flatMap(({ id, name }) =>
      name !== undefined && filenames.includes(name) ? [[name, id] as const] : [],
    );
    return found.length === 0 ? undefined : Object.fromEntries(found);
  };

/** The words with which the small print of each kind names its run. A test compares these with the messages. */
const SIGNATURES: Readonly<Record<PostMeta['kind'], readonly string[]>> = {
  anchor: ['run', 'batch'],
  approval: ['Approval of run', 'Approval of batch'],
  result: ['Run', 'Batch'],
  copy: ['run', 'batch', 'Copy of run'],
  reminder: ['Reminder of run'],
  resolved: ['Alert of run'],
};

const isSignedFor = ({ run, kind }: Pick<PostMeta, 'run' | 'kind'>, { blocks = [] }: Posted): boolean =>
  SIGNATURES[kind].some((word) => blocks.flatMap(smallPrintOf).includes(`${word} ${run}`));

const Context = z.object({
  type: z.literal('context'),
  elements: z.array(z.object({ type: z.string(), text: z.string().catch('') })),
});

/** Only what kdebug wrote: a person's command follows the name of the slash command, the only piece that begins with a slash. */
function smallPrintOf(block: unknown): readonly string[] {
  const context = Context.safeParse(block);
  if (!context.success) return [];
  const words = context.data.elements.map(({ type, text }) => (type === 'plain_text' ? text : '')).join('·');
  const pieces = words.split('·').map((piece) => piece.trim());
  const typed = pieces.findIndex((piece) => piece.startsWith('/'));
  return typed === -1 ? pieces : pieces.slice(0, typed);
}
