import { canonicalJson, sha256 } from '../../../core/hash.ts';
import { asChannelId, asUserId } from '../../../core/ids.ts';
import type { Message } from '../../../core/report/message.ts';
import type { Origin } from '../../../core/run/run.ts';
import type { PrivatePlace } from '../../../flow/ports.ts';
import { MentionPayload } from '../payloads.ts';
import { answerOf, type ListenerContext } from './answer.ts';
import { reasonToRefuse } from './sender.ts';

/**
 * `@kdebug …`: the same command, answered in the thread that the mention stands in, or else in one under the mention.
 * When this resolves the event may be acknowledged: it was stored, or the writer is being told that it was not.
 */
export async function onMention(context: ListenerContext, body: unknown): Promise<void> {
  const payload = MentionPayload.safeParse(body);
  if (!payload.success) {
    context.log.warn('a mention was not understood and is left out');
    return;
  }
  const { event } = payload.data;
  const { identity, inbox, clock } = context;
  const isPerson = event.user !== undefined && event.bot_id === undefined && event.user !== identity.botUserId;
  if (!isPerson || event.user === undefined || reasonToRefuse(senderOf(payload.data), identity)) return;
  const origin = originOf(payload.data, event.user, clock.now());
  const { message } = await answerOf(context, () =>
    inbox.command(origin, wordsAfterMention(event.text, identity.botUserId)),
  );
  if (message) context.inBackground(tellOrLog(context, placeOf(origin), message));
}

const senderOf = ({ team_id, enterprise_id, api_app_id, event }: MentionPayload) => ({
  teamIds: [team_id, event.user_team, event.team],
  enterpriseId: enterprise_id,
  appId: api_app_id,
});

/** `<@U0BOT>` or `<@U0BOT|name>`; the words before it are talk. */
function wordsAfterMention(text: string, botUserId: string): string {
  const mention = new RegExp(`<@${botUserId}(?:\\|[^>]*)?>`).exec(text);
  return mention ? text.slice(mention.index + mention[0].length).trim() : text;
}

/** A message's `ts` is unique in its channel and the same in every delivery. */
function originOf({ team_id, event }: MentionPayload, userId: string, nowMs: number): Origin {
  return {
    source: 'mention',
    dedupeKey: sha256(canonicalJson([team_id, event.channel, userId, 'mention', event.ts])),
    teamId: team_id,
    channelId: asChannelId(event.channel),
    ...(event.thread_ts === undefined ? {} : { threadTs: event.thread_ts }),
    requesterId: asUserId(userId),
    receivedAtMs: nowMs,
  };
}

const placeOf = ({ channelId, requesterId, threadTs }: Origin): PrivatePlace => ({
  channelId,
  userId: requesterId,
  ...(threadTs === undefined ? {} : { threadTs }),
});

/** Tells a person; a loss is logged, because nobody waits for this any more. */
export async function tellOrLog(
  { thread, log }: ListenerContext,
  place: PrivatePlace,
  message: Message,
): Promise<void> {
  try {
    await thread.tell(place, message);
  } catch (thrown) {
    log.warn('a private answer was lost', { channelId: place.channelId, error: thrown });
  }
}
