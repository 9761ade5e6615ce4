import { canonicalJson, sha256 } from '../../../core/hash.ts';
import { asChannelId, asUserId } from '../../../core/ids.ts';
import type { Origin } from '../../../core/request/origin.ts';
import type { PrivateDestination } from '../../../flow/ports/slack.ts';
import { defined } from '../../../lib/object.ts';
import { DirectPayload, MentionPayload } from '../payloads.ts';
import { admit, answerLater, type Delivered } from './gate.ts';
import { ifInTime, type Written } from './lateness.ts';
import { respond } from './respond.ts';

/**
 * `@kdebug …`: the same command, answered in the mention's thread or in a new one under the mention. Outside threads a private answer goes
 * to the channel, because Slack shows none in a thread without replies. Resolves when the event may be acknowledged: the request is stored,
 * or its refusal is under way. Ignores a bot's mention, because two bots would talk for ever, and one that stands in a forwarded message or a
 * preview, because the words are then meant for somebody else. An edit of the message is the same request
 * again, as long as it comes in time.
 */
export async function onMention({ context, handler, body }: Delivered): Promise<void> {
  const payload = MentionPayload.safeParse(body);
  if (!payload.success) {
    context.log.warn('malformed mention ignored');
    return;
  }
  const { event } = payload.data;
  const { identity, inbox, clock } = context;
  if (event.user === undefined || event.bot_id !== undefined || event.user === identity.botUserId) return;
  const words = wordsAfterMention(event.text, identity.botUserId);
  if (words === undefined) return context.log.info('mention outside the words of a message, ignored');
  const origin = mentionOrigin(payload.data, event.user, clock.now());
  const written = writtenOf(origin, payload.data.event_time, event);
  const call = () => ifInTime(context, written, (edit) => inbox.command({ ...origin, ...edit }, words));
  const admission = await admit(
    { context, handler },
    { sender: senderOf(payload.data, event.user), call, whenLate: answerLater },
  );
  // Post nothing into another team's or app's channel.
  if (admission.kind === 'refused' && admission.error.code === 'slack_not_our_team') return;
  respond(context, { destination: destinationOf(origin) }, admission);
}

/**
 * A message to the bot in its direct message with a person (`message.im`): the same as a mention, but the answer stands beside it, not in a
 * thread below it. Ignores bots, and files without words. Resolves when the event may be acknowledged.
 */
export async function onDirect({ context, handler, body }: Delivered): Promise<void> {
  const payload = DirectPayload.safeParse(body);
  if (!payload.success) {
    context.log.warn('malformed direct message ignored');
    return;
  }
  const event = writtenIn(payload.data.event);
  if (event === undefined) return;
  const { identity, inbox, clock } = context;
  const { event: _event, ...envelope } = payload.data;
  const { user: userId, channel: channelId, ts, thread_ts: threadTs } = event;
  if (event.channel_type !== 'im' || !isTyped(event) || userId === undefined || userId === identity.botUserId) return;
  const origin: Origin = {
    source: 'mention',
    dedupeKey: sha256(canonicalJson([envelope.team_id, channelId, userId, 'direct', ts])),
    teamId: envelope.team_id,
    channelId: asChannelId(channelId),
    ...defined({ threadTs }),
    requesterId: asUserId(userId),
    receivedAtMs: clock.now(),
  };
  const words = wordsAfterMention(event.text, identity.botUserId) ?? event.text;
  const written = writtenOf(origin, envelope.event_time, event);
  const call = () => ifInTime(context, written, (edit) => inbox.command({ ...origin, ...edit }, words));
  const admission = await admit(
    { context, handler },
    { sender: senderOf({ ...envelope, event }, userId), call, whenLate: answerLater },
  );
  if (admission.kind === 'refused' && admission.error.code === 'slack_not_our_team') return;
  respond(context, { destination: destinationOf(origin) }, admission);
}

const writtenOf = (
  { dedupeKey: key }: Origin,
  eventTime: number | undefined,
  { ts, edited }: Pick<Written, 'ts'> & { readonly edited?: unknown },
): Written => ({ key, eventTime, ts, edited });

/**
 * The message that somebody wrote: the event itself, or for an edit the message as it is now. Undefined if only the
 * message's looks changed, as when Slack shows a preview of a link.
 */
function writtenIn({ message, previous_message: before, ...event }: DirectPayload['event']) {
  if (event.subtype !== 'message_changed') return event;
  const isEdited = message?.edited !== undefined && message.edited !== null && message.text !== before?.text;
  return isEdited ? { ...event, ...message, subtype: message.subtype, bot_id: message.bot_id } : undefined;
}

/** Words of a person; Slack marks those that came with a file, and those of a thread that were sent to its channel, too. */
const isTyped = ({ subtype, bot_id, text }: Pick<DirectPayload['event'], 'subtype' | 'bot_id' | 'text'>): boolean =>
  bot_id === undefined && (subtype === undefined || (TYPED.has(subtype) && text.trim() !== ''));
const TYPED: ReadonlySet<string> = new Set(['file_share', 'thread_broadcast']);

type Envelope = Pick<MentionPayload, 'team_id' | 'enterprise_id' | 'api_app_id'> & {
  readonly event: Pick<MentionPayload['event'], 'channel' | 'team'> & { readonly user_team?: string | undefined };
};

const senderOf = ({ team_id, enterprise_id, api_app_id, event }: Envelope, userId: string) => ({
  userId,
  channelId: event.channel,
  teamIds: [team_id, event.user_team, event.team],
  enterpriseId: enterprise_id,
  appId: api_app_id,
});

/** People address others with one. A colon before a letter may begin an emoji. */
const COMMA = /^\s*[,:](?=\s)/;
/** Bold, italics and strikethrough. */
const MARKS = '*_~';

/**
 * The text after `<@U0BOT>` or `<@U0BOT|name>`; any text before it is talk. Undefined without a mention. Drops the closing twin of a mark right before the mention: a
 * message in bold is `*<@U0BOT> pod-1*`. Slack escapes `<` in names. Linear.
 */
export function wordsAfterMention(text: string, botUserId: string): string | undefined {
  const mention = new RegExp(`<@${botUserId}(?:\\|[^<>]*)?>`).exec(text);
  if (!mention) return undefined;
  const words = text.slice(mention.index + mention[0].length).replace(COMMA, '');
  const mark = text.charAt(mention.index - 1);
  if (mark === '' || !MARKS.includes(mark)) return words.trim();
  const bold = words.indexOf(mark);
  const isMarked = bold === 0 || bold === words.trimEnd().length - 1;
  return (isMarked ? words.slice(0, bold) + words.slice(bold + 1) : words).trim();
}

/** A message's `ts` is unique in its channel and the same in every delivery. */
function mentionOrigin({ team_id, event }: MentionPayload, userId: string, nowMs: number): Origin {
  return {
    source: 'mention',
    dedupeKey: sha256(canonicalJson([team_id, event.channel, userId, 'mention', event.ts])),
    teamId: team_id,
    channelId: asChannelId(event.channel),
    ...threadOf(event),
    requesterId: asUserId(userId),
    receivedAtMs: nowMs,
  };
}

const threadOf = ({ ts, thread_ts }: MentionPayload['event']) =>
  thread_ts === undefined || thread_ts === ts ? { threadTs: ts, beginsThread: true as const } : { threadTs: thread_ts };

const destinationOf = ({ channelId, requesterId, threadTs, beginsThread }: Origin): PrivateDestination => ({
  channelId,
  userId: requesterId,
  ...(threadTs === undefined || beginsThread ? {} : { threadTs }),
});
