import type { Json, StoredMessage } from '../state/message.ts';
import type { SlackState } from '../state/state.ts';
import { isMember, visibleChannel, writableChannel } from './access.ts';
import { type Args, flag, optional, required } from './args.ts';
import { POST_TEXT_LIMIT, readContent, readMetadata, UPDATE_TEXT_LIMIT } from './content.ts';
import { filesNamed, showFiles } from './file-shares.ts';
import type { Call, Method } from './method.ts';
import { checkPosting } from './posting.ts';
import { shown, withBlockIds } from './shown.ts';
import { SlackError } from './slack-error.ts';

const TS = /^\d{10}\.\d{6}$/;

/**
 * The root of the thread that `thread_ts` names; a reply's own `ts` leads to its root. Undefined, too, for a message that is gone
 * (`lostThreads`). @throws SlackError invalid_thread_ts, thread_not_found
 */
export function threadRoot(slack: SlackState, channel: string, args: Args): string | undefined {
  const ts = optional(args, 'thread_ts');
  if (ts === undefined) return undefined;
  if (!TS.test(ts)) throw new SlackError('invalid_thread_ts');
  const parent = slack.message(channel, ts);
  if (parent === undefined && slack.habits.lostThreads === 'unthread') return undefined;
  if (parent === undefined) throw new SlackError('thread_not_found');
  return parent.threadTs ?? parent.ts;
}

type Appearance = Pick<StoredMessage, 'unfurlLinks' | 'unfurlMedia' | 'linkNames' | 'parse' | 'mrkdwn'>;

function appearance(args: Args): Appearance {
  const found = {
    unfurlLinks: flag(args, 'unfurl_links'),
    unfurlMedia: flag(args, 'unfurl_media'),
    linkNames: flag(args, 'link_names'),
    parse: optional(args, 'parse'),
    mrkdwn: flag(args, 'mrkdwn'),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** "The `as_user` parameter does not function with workspace apps": a bot is itself. @throws SlackError as_user_not_supported */
function refuseAsUser(args: Args): void {
  if (flag(args, 'as_user') !== undefined) throw new SlackError('as_user_not_supported');
}

/** A message of the bot, with a fresh `ts`; not yet posted. */
export function botMessage(slack: SlackState, channel: string, threadTs: string | undefined): StoredMessage {
  const { botUserId, botId, appId } = slack.app;
  const empty = { text: '', blocks: [], files: [], revisions: 0, reactions: [] };
  const place = { channel, ts: slack.nextTs(), ...(threadTs === undefined ? {} : { threadTs }) };
  return { ...place, user: botUserId, botId, appId, ...empty };
}

function postMessage({ slack, args, ...call }: Call): Json {
  const channel = writableChannel({ slack, args, ...call }, required(args, 'channel'));
  refuseAsUser(args);
  const content = readContent(args, POST_TEXT_LIMIT, slack.habits);
  const metadata = readMetadata(args);
  const root = threadRoot(slack, channel.id, args);
  checkPosting(slack, channel, root);
  const message = botMessage(slack, channel.id, root);
  Object.assign(message, appearance(args), {
    text: content.text ?? '',
    blocks: withBlockIds(slack, content.blocks ?? []),
  });
  if (content.attachments) message.attachments = content.attachments;
  if (metadata) message.metadata = metadata;
  slack.post(message);
  return { channel: channel.id, ts: message.ts, message: shown(slack, message, { metadata: true }) };
}

function ownMessage(call: Call, refusal: string): StoredMessage {
  const channel = visibleChannel(call, required(call.args, 'channel'));
  const message = call.slack.message(channel.id, required(call.args, 'ts'));
  if (message === undefined || message.tombstone) throw new SlackError('message_not_found');
  if (message.botId !== call.slack.app.botId) throw new SlackError(refusal);
  if (channel.is_archived) throw new SlackError('is_inactive');
  return message;
}

/** "Rich-text blocks cannot be replaced with non-rich-text blocks". Whose messages that is about is not said: here, everybody's. */
function losesRichText(before: readonly Json[], after: readonly Json[] = []): boolean {
  const isRich = ({ type }: Json): boolean => type === 'rich_text';
  return before.some(isRich) && after.length > 0 && !after.some(isRich);
}

function update(call: Call): Json {
  const { slack, args } = call;
  const message = ownMessage(call, 'cant_update_message');
  refuseAsUser(args);
  const content = readContent(args, UPDATE_TEXT_LIMIT, slack.habits);
  // "Can't broadcast an old reply and update the content at the same time."
  if (flag(args, 'reply_broadcast')) throw new SlackError('no_dual_broadcast_content_update');
  const metadata = readMetadata(args);
  const files = filesNamed(slack, args);
  if (losesRichText(message.blocks, content.blocks)) throw new SlackError('block_mismatch');
  // With blocks and no text the old text stays; with text and no blocks the old blocks go (chat.update, `text`).
  if (content.text !== undefined) message.text = content.text;
  if (content.text !== undefined || content.blocks !== undefined)
    message.blocks = withBlockIds(slack, content.blocks ?? []);
  if (content.attachments !== undefined) message.attachments = content.attachments;
  if (metadata === null) delete message.metadata;
  else if (metadata !== undefined) message.metadata = metadata;
  if (message.blocks.length === 0) message.edited = { user: slack.app.botUserId, ts: slack.nextTs() };
  // Both go back to their defaults when an update does not name them.
  delete message.parse;
  delete message.linkNames;
  Object.assign(message, appearance(args));
  message.revisions += 1;
  if (files !== undefined) showFiles(slack, message, files);
  slack.tell({ kind: 'updated', message });
  return {
    channel: message.channel,
    ts: message.ts,
    text: message.text,
    message: shown(slack, message, { metadata: true }),
  };
}

function postEphemeral(call: Call): Json {
  const { slack, args } = call;
  const channel = writableChannel(call, required(args, 'channel'));
  const user = required(args, 'user');
  // Who left the company is still in the lists of its channels.
  if (!channel.members.includes(user) || slack.team.users[user]?.deleted) throw new SlackError('user_not_in_channel');
  refuseAsUser(args);
  const content = readContent(args, POST_TEXT_LIMIT, slack.habits);
  const root = threadRoot(slack, channel.id, args);
  checkPosting(slack, channel, root);
  const message: StoredMessage = {
    ...botMessage(slack, channel.id, root),
    visibleTo: user,
  };
  Object.assign(message, appearance(args), {
    text: content.text ?? '',
    blocks: withBlockIds(slack, content.blocks ?? []),
  });
  // "Ephemeral messages in threads are only shown if there is already an active thread": else nobody sees it.
  const isInReach = message.threadTs === undefined || slack.replies(channel.id, message.threadTs).length > 0;
  // "Delivery is not guaranteed: the user must be currently active in Slack." The app is not told.
  if (isInReach && !slack.habits.away.has(user)) {
    slack.ephemerals.push(message);
    slack.tell({ kind: 'ephemeral', message });
  }
  return { message_ts: message.ts };
}

function remove(call: Call): Json {
  const message = ownMessage(call, 'cant_delete_message');
  call.slack.remove(message);
  return { channel: message.channel, ts: message.ts };
}

function permalink(call: Call): Json {
  const channel = visibleChannel(call, required(call.args, 'channel'));
  const ts = required(call.args, 'message_ts');
  const message = isMember(call, channel) ? call.slack.message(channel.id, ts) : undefined;
  if (message === undefined) throw new SlackError('message_not_found');
  const inThread = message.threadTs === undefined ? '' : `?thread_ts=${message.threadTs}&cid=${channel.id}`;
  const path = `archives/${channel.id}/p${ts.replace('.', '')}${inThread}`;
  return { channel: channel.id, permalink: `https://${call.slack.team.domain}.slack.com/${path}` };
}

function react(call: Call): Json {
  const { slack, args } = call;
  const channel = visibleChannel(call, required(args, 'channel'));
  const name = required(args, 'name');
  if (!/^[a-z0-9_+'-]{1,100}(::skin-tone-[2-6])?$/.test(name)) throw new SlackError('invalid_name');
  const message = slack.message(channel.id, required(args, 'timestamp'));
  if (message === undefined) throw new SlackError('message_not_found');
  if (channel.is_archived) throw new SlackError('is_archived');
  if (!isMember(call, channel)) throw new SlackError('not_in_channel');
  const known = message.reactions.find((reaction) => reaction.name === name);
  if (known?.users.includes(slack.app.botUserId)) throw new SlackError('already_reacted');
  if (known === undefined) message.reactions.push({ name, users: [slack.app.botUserId] });
  else known.users.push(slack.app.botUserId);
  slack.tell({ kind: 'reaction', message });
  return {};
}

const scopes = ['chat:write'];

/** docs.slack.dev: chat.*, reactions.add */
export const CHAT_METHODS: readonly Method[] = [
  { name: 'chat.postMessage', token: 'bot', scopes, tier: 'posting', run: postMessage },
  { name: 'chat.update', token: 'bot', scopes, tier: 'tier3', run: update },
  { name: 'chat.postEphemeral', token: 'bot', scopes, tier: 'tier4', run: postEphemeral },
  { name: 'chat.delete', token: 'bot', scopes, tier: 'tier3', run: remove },
  { name: 'chat.getPermalink', token: 'bot', scopes: [], tier: 'special', takes: 'form', run: permalink },
  { name: 'reactions.add', token: 'bot', scopes: ['reactions:write'], tier: 'tier3', run: react },
];
