import { createHash } from 'node:crypto';
import { richTextOf } from '../compose/rich-text.ts';
import type { Json, StoredFile, StoredMessage } from '../state/message.ts';
import type { SlackState } from '../state/state.ts';
import { blocksGivenBack, textGivenBack } from './given-back.ts';

/** Slack gives every block an id of its own when the sender gave none. */
export function withBlockIds(slack: SlackState, blocks: readonly Json[]): Json[] {
  return blocks.map((block) => (block.block_id === undefined ? { ...block, block_id: slack.nextId('b') } : block));
}

function threadFields(slack: SlackState, message: StoredMessage): Json {
  if (message.threadTs !== undefined) return { thread_ts: message.threadTs };
  if (message.visibleTo !== undefined) return {};
  const replies = slack.replies(message.channel, message.ts);
  const latest = replies.at(-1);
  if (latest === undefined) return {};
  return { thread_ts: message.ts, reply_count: replies.length, latest_reply: latest.ts };
}

/** What a person typed has a `rich_text` block and the client's own id beside `text`; a bot's or an app's has what it sent. */
function blocksOf(slack: SlackState, { channel, ts, user, text, blocks }: StoredMessage): Json {
  if (blocks.length > 0) return { blocks: blocksGivenBack(blocks) };
  const isTyped = slack.team.users[user]?.is_bot === false && text !== '';
  return isTyped ? typedFields({ channel, ts, text }) : {};
}

/** The same for one message, however often it is shown. */
export function typedFields({ channel, ts, text }: Pick<StoredMessage, 'channel' | 'ts' | 'text'>): Json {
  const digits = createHash('sha256').update(`${channel} ${ts}`).digest('hex');
  const id = [8, 12, 16, 20, 32].map((end, index) => digits.slice([0, 8, 12, 16, 20][index], end)).join('-');
  return { client_msg_id: id, blocks: [richTextOf(text, digits.slice(0, 5))] };
}

/** A message as the Web API and payloads show it. Metadata only when asked for (`include_all_metadata`). */
export function shown(slack: SlackState, message: StoredMessage, include: { metadata: boolean }): Json {
  const files = message.files.flatMap((id) => slack.files.get(id) ?? []).map((file) => shownFile(slack, file));
  return {
    type: 'message',
    ...(message.tombstone ? { subtype: 'tombstone', hidden: true } : {}),
    ...(message.subtype === undefined ? {} : { subtype: message.subtype, display_as_bot: false }),
    user: message.user,
    ts: message.ts,
    text: textGivenBack(message.text),
    team: slack.team.id,
    // An app's file message is shown as its bot user's: captures of it do not all have a `bot_id`.
    ...(message.botId === undefined || message.subtype === 'file_share'
      ? {}
      : { bot_id: message.botId, app_id: message.appId }),
    ...blocksOf(slack, message),
    ...(message.attachments === undefined ? {} : { attachments: message.attachments }),
    ...(include.metadata && message.metadata !== undefined ? { metadata: message.metadata } : {}),
    ...(files.length === 0 ? {} : { files, upload: true }),
    ...(message.edited === undefined ? {} : { edited: message.edited }),
    ...(message.reactions.length === 0
      ? {}
      : { reactions: message.reactions.map((one) => ({ ...one, count: one.users.length })) }),
    ...threadFields(slack, message),
  };
}

export function shownFile(slack: SlackState, file: StoredFile): Json {
  if (file.hidden) return { id: file.id, mode: 'hidden_by_limit' };
  const shares: Record<string, Record<string, Json[]>> = {};
  for (const { channel, ts, threadTs } of file.shares) {
    const kind = slack.team.channels[channel]?.kind === 'public' ? 'public' : 'private';
    const share = { ts, ...(threadTs === undefined ? {} : { thread_ts: threadTs }) };
    shares[kind] = { ...shares[kind], [channel]: [...(shares[kind]?.[channel] ?? []), share] };
  }
  return {
    id: file.id,
    created: Math.floor(file.createdAtMs / 1000),
    name: file.name,
    title: file.title,
    mode: file.snippetType === undefined ? 'hosted' : 'snippet',
    filetype: file.snippetType ?? file.name.split('.').at(-1) ?? 'binary',
    size: file.size,
    user: file.user ?? slack.app.botUserId,
    ...(file.urlPrivate === undefined ? {} : { url_private: file.urlPrivate }),
    channels: file.shares.map((share) => share.channel),
    shares,
  };
}
