import { canonicalJson, sha256 } from '../../../core/hash.ts';
import { asChannelId, asUserId } from '../../../core/ids.ts';
import type { Origin } from '../../../core/run/run.ts';
import type { PrivateDestination } from '../../../flow/ports/slack.ts';
import { MentionPayload } from '../payloads.ts';
import { answerOf, type Delivered } from './gate.ts';
import { reply } from './respond.ts';

/**
 * `@kdebug …`: the same command, answered in the thread that the mention stands in, or else in one under the mention. A private
 * answer to a mention outside threads stands beside it: Slack shows none in a thread that nobody has said anything in.
 * When this resolves the event may be acknowledged: it was stored, or the writer is being told that it was not.
 * What no person wrote gets no answer: two bots would talk for ever.
 */
export async function onMention({ context, handler, body }: Delivered): Promise<void> {
  const payload = MentionPayload.safeParse(body);
  if (!payload.success) {
    context.log.warn('a mention was not understood and is left out');
    return;
  }
  const { event } = payload.data;
  const { identity, inbox, clock } = context;
  if (event.user === undefined || event.bot_id !== undefined || event.user === identity.botUserId) return;
  const origin = originOf(payload.data, event.user, clock.now());
  const words = wordsAfterMention(event.text, identity.botUserId);
  const outcome = await answerOf(
    { context, handler },
    { sender: senderOf(payload.data, event.user), ask: () => inbox.command(origin, words) },
  );
  // Another team's or app's channel is none of ours to speak in.
  if (outcome.kind === 'refused' && outcome.error.code === 'slack_not_our_team') return;
  reply(context, { place: placeOf(origin) }, outcome);
}

const senderOf = ({ team_id, enterprise_id, api_app_id, event }: MentionPayload, userId: string) => ({
  userId,
  channelId: event.channel,
  teamIds: [team_id, event.user_team, event.team],
  enterpriseId: enterprise_id,
  appId: api_app_id,
});

/** Bold, italics, struck out. */
const MARKS = '*_~';

/**
 * `<@U0BOT>` or `<@U0BOT|name>`; the words before it are talk. A mark that stands before it is left out where it ends: a whole message
 * in bold letters is `*<@U0BOT> pod-1*`. A name has no `<`: Slack escapes it. Linear.
 */
export function wordsAfterMention(text: string, botUserId: string): string {
  const mention = new RegExp(`<@${botUserId}(?:\\|[^<>]*)?>`).exec(text);
  if (!mention) return text;
  const words = text.slice(mention.index + mention[0].length);
  const mark = text.charAt(mention.index - 1);
  if (mark === '' || !MARKS.includes(mark)) return words.trim();
  const bold = words.indexOf(mark);
  const isMarked = bold === 0 || bold === words.trimEnd().length - 1;
  return (isMarked ? words.slice(0, bold) + words.slice(bold + 1) : words).trim();
}

/** A message's `ts` is unique in its channel and the same in every delivery. */
function originOf({ team_id, event }: MentionPayload, userId: string, nowMs: number): Origin {
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

const placeOf = ({ channelId, requesterId, threadTs, beginsThread }: Origin): PrivateDestination => ({
  channelId,
  userId: requesterId,
  ...(threadTs === undefined || beginsThread ? {} : { threadTs }),
});
