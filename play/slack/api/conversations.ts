import type { Json, StoredMessage } from '../state/message.ts';
import { conversationScopes, isMember, requireRight, requireScope, visibleChannel } from './access.ts';
import { type Args, flag, optional, required, wholeNumber } from './args.ts';
import type { Call, Method } from './method.ts';
import { shown } from './shown.ts';
import { SlackError } from './slack-error.ts';

function info(call: Call): Json {
  const channel = visibleChannel(call, required(call.args, 'channel'));
  requireRight(call, channel, 'read');
  const { id, name, kind, is_archived, is_ext_shared, is_pending_ext_shared = false, user } = channel;
  const sharing = { is_shared: is_ext_shared, is_ext_shared, is_pending_ext_shared, is_org_shared: false };
  const common = { id, is_archived, is_im: kind === 'im', ...sharing, context_team_id: call.slack.team.id };
  if (kind === 'im') return { channel: { ...common, user } };
  const isPrivate = kind !== 'public';
  const flags = { is_channel: !isPrivate, is_group: isPrivate, is_private: isPrivate, is_mpim: kind === 'mpim' };
  return { channel: { ...common, ...flags, name, name_normalized: name, is_member: isMember(call, channel) } };
}

interface Page {
  readonly messages: Json[];
  readonly has_more: boolean;
  readonly response_metadata?: { next_cursor: string };
}

function timestamp(args: Args, name: 'oldest' | 'latest', absent: number): number {
  const given = optional(args, name);
  if (given === undefined) return absent;
  const value = Number(given);
  if (!Number.isFinite(value)) throw new SlackError(`invalid_ts_${name}`);
  return value;
}

/** Keeps the messages between `oldest` and `latest` (both left out unless `inclusive`). */
function within(args: Args, messages: readonly StoredMessage[]): StoredMessage[] {
  const oldest = timestamp(args, 'oldest', 0);
  const latest = timestamp(args, 'latest', Number.POSITIVE_INFINITY);
  const inclusive = flag(args, 'inclusive') ?? false;
  return messages.filter(({ ts }) => {
    const at = Number(ts);
    return inclusive ? at >= oldest && at <= latest : at > oldest && at < latest;
  });
}

function pageOf(call: Call, messages: readonly StoredMessage[], usual: number): Page {
  const limit = Math.min(Math.max(wholeNumber(call.args, 'limit') ?? usual, 1), 999);
  const start = readCursor(optional(call.args, 'cursor'));
  const next = start + limit;
  const metadata = flag(call.args, 'include_all_metadata') ?? false;
  const shownMessages = messages.slice(start, next).map((message) => shown(call.slack, message, { metadata }));
  if (next >= messages.length) return { messages: shownMessages, has_more: false };
  return { messages: shownMessages, has_more: true, response_metadata: { next_cursor: cursorAt(next) } };
}

const cursorAt = (start: number): string => Buffer.from(`next:${start}`).toString('base64');

function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const found = /^next:(\d+)$/.exec(Buffer.from(cursor, 'base64').toString());
  if (found === null) throw new SlackError('invalid_cursor');
  return Number(found[1]);
}

function history(call: Call): Json {
  const channel = visibleChannel(call, required(call.args, 'channel'));
  requireRight(call, channel, 'history');
  if (!isMember(call, channel)) throw new SlackError('not_in_channel');
  const all = [...call.slack.channelMessages(channel.id).values()].filter((message) => message.threadTs === undefined);
  return { ...pageOf(call, within(call.args, all).reverse(), 100), pin_count: 0 };
}

function replies(call: Call): Json {
  const channel = visibleChannel(call, required(call.args, 'channel'));
  requireRight(call, channel, 'history');
  const message = isMember(call, channel) ? call.slack.message(channel.id, required(call.args, 'ts')) : undefined;
  if (message === undefined) throw new SlackError('thread_not_found');
  const rootTs = message.threadTs ?? message.ts;
  const root = call.slack.message(channel.id, rootTs);
  // The root always comes first, whatever `oldest` says; the limits are for its replies.
  const found = within(call.args, call.slack.replies(channel.id, rootTs));
  return { ...pageOf(call, root === undefined ? found : [root, ...found], 999) };
}

/** "Needs at most 8 users to open." */
const MAX_TOGETHER = 8;

/** @throws SlackError user_not_found, user_disabled, cannot_dm_bot */
function checkReachable({ slack }: Call, id: string): void {
  const user = slack.team.users[id];
  if (user === undefined) throw new SlackError('user_not_found');
  if (user.deleted) throw new SlackError('user_disabled');
  if (user.is_bot) throw new SlackError('cannot_dm_bot');
}

function open(call: Call): Json {
  const users = optional(call.args, 'users')?.split(',') ?? [];
  const [id] = users;
  if (id === undefined) throw new SlackError('users_list_not_supplied');
  if (users.length > MAX_TOGETHER) throw new SlackError('too_many_users');
  requireScope(call, users.length > 1 ? 'mpim:write' : 'im:write');
  for (const one of users) checkReachable(call, one);
  if (users.length > 1) return { channel: { id: call.slack.together(users).id } };
  const channel = call.slack.direct(id);
  return { channel: flag(call.args, 'return_im') ? { id: channel.id, is_im: true, user: id } : { id: channel.id } };
}

/** "Fewer than the requested number of items may be returned, even if the end of the users list hasn't been reached." */
const MAX_MEMBERS_A_PAGE = 400;

function members(call: Call): Json {
  const channel = visibleChannel(call, required(call.args, 'channel'));
  requireRight(call, channel, 'read');
  const limit = wholeNumber(call.args, 'limit') ?? 100;
  // "Specify a limit value under 1000."
  if (limit < 1 || limit >= 1_000) throw new SlackError('invalid_limit');
  const start = readCursor(optional(call.args, 'cursor'));
  const next = start + Math.min(limit, MAX_MEMBERS_A_PAGE);
  const next_cursor = next < channel.members.length ? cursorAt(next) : '';
  return { members: channel.members.slice(start, next), response_metadata: { next_cursor } };
}

const read = conversationScopes('read');
const readHistory = conversationScopes('history');

/** docs.slack.dev: conversations.* (an internal app's rates) */
export const CONVERSATION_METHODS: readonly Method[] = [
  { name: 'conversations.info', token: 'bot', scopes: read, tier: 'tier3', takes: 'form', run: info },
  { name: 'conversations.history', token: 'bot', scopes: readHistory, tier: 'tier3', run: history },
  { name: 'conversations.replies', token: 'bot', scopes: readHistory, tier: 'tier3', takes: 'form', run: replies },
  { name: 'conversations.open', token: 'bot', scopes: ['im:write', 'mpim:write'], tier: 'tier3', run: open },
  { name: 'conversations.members', token: 'bot', scopes: read, tier: 'tier4', takes: 'form', run: members },
];
