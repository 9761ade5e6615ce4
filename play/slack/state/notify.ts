import { isJson } from '../api/args.ts';
import { renderBlocks, renderTopText } from '../read/render.ts';
import type { Notification, StoredFile, StoredMessage } from './message.ts';
import type { SlackChannel, Team } from './team.ts';

/** The part of the workspace that decides whom Slack notifies. */
interface Workspace {
  readonly team: Team;
  readonly files: ReadonlyMap<string, StoredFile>;
  message(channel: string, ts: string): StoredMessage | undefined;
  replies(channel: string, rootTs: string): StoredMessage[];
}

/** Whom a message names, by id. */
interface Named {
  readonly people: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly everyone: boolean;
}

/**
 * Who is notified of a new message. On the side of too few: only members of the channel, never its sender, never by a
 * name in `text` beside blocks, and a name in a thread's root makes nobody follow the thread.
 */
export function notificationsOf(slack: Workspace, message: StoredMessage): Notification[] {
  const channel = slack.team.channels[message.channel];
  if (channel === undefined) return [];
  const named = namedIn(message);
  const followers = followersOf(slack, message);
  const { channel: id, ts, threadTs } = message;
  const place = { channel: id, ts, ...(threadTs === undefined ? {} : { threadTs }) };
  const words = wordsOf(slack, message);
  return readersOf(slack, channel, message.user).flatMap((user): Notification[] => {
    const why = reason(slack, { user, channel, named, followers });
    return why === undefined ? [] : [{ user, ...place, why, ...words }];
  });
}

/** The people who are in the channel, without the sender. */
function readersOf(slack: Workspace, channel: SlackChannel, sender: string): string[] {
  return channel.members.filter((id) => {
    const user = slack.team.users[id];
    return id !== sender && user !== undefined && !user.is_bot && !user.deleted;
  });
}

interface Case {
  readonly user: string;
  readonly channel: SlackChannel;
  readonly named: Named;
  readonly followers: ReadonlySet<string>;
}

function reason(slack: Workspace, { user, channel, named, followers }: Case): Notification['why'] | undefined {
  if (channel.kind === 'im' || channel.kind === 'mpim') return 'direct';
  if (named.people.has(user) || named.everyone) return 'mention';
  const inGroup = [...named.groups].some((id) => {
    const group = slack.team.usergroups[id];
    return slack.team.plan !== 'free' && group?.disabled === false && group.users.includes(user);
  });
  if (inGroup) return 'group';
  return followers.has(user) ? 'thread' : undefined;
}

/** Who wrote the root, wrote in the thread, or was named in one of its earlier replies. */
function followersOf(slack: Workspace, { channel, ts, threadTs }: StoredMessage): ReadonlySet<string> {
  if (threadTs === undefined) return new Set();
  const earlier = slack.replies(channel, threadTs).filter((reply) => reply.ts !== ts);
  const root = slack.message(channel, threadTs);
  return new Set([
    ...(root === undefined ? [] : [root.user]),
    ...earlier.flatMap((reply) => [reply.user, ...namedIn(reply).people]),
  ]);
}

/** With blocks, Slack looks for names in these and not in `text`. Where markup is switched off, a name in `text` is letters. */
function namedIn({ text, blocks, mrkdwn }: StoredMessage): Named {
  const found: Found = { people: new Set(), groups: new Set(), everyone: false };
  if (blocks.length > 0) walk(blocks, found);
  else if (mrkdwn !== false) readMarks(text, found);
  return found;
}

interface Found {
  readonly people: Set<string>;
  readonly groups: Set<string>;
  everyone: boolean;
}

function walk(value: unknown, found: Found): void {
  if (Array.isArray(value)) {
    for (const one of value) walk(one, found);
    return;
  }
  if (!isJson(value)) return;
  if ((value.type === 'mrkdwn' || value.type === 'markdown') && typeof value.text === 'string')
    readMarks(value.text, found);
  if (value.type === 'user') found.people.add(String(value.user_id));
  if (value.type === 'usergroup') found.groups.add(String(value.usergroup_id));
  if (value.type === 'broadcast') found.everyone = true;
  for (const one of Object.values(value)) walk(one, found);
}

function readMarks(text: string, found: Found): void {
  for (const [, person, group, broadcast] of text.matchAll(
    /<(?:@([UW][A-Z0-9]+)|!subteam\^(S[A-Z0-9]+)|!(here|channel|everyone))(?:\|[^<>]*)?>/g,
  )) {
    if (person !== undefined) found.people.add(person);
    if (group !== undefined) found.groups.add(group);
    if (broadcast !== undefined) found.everyone = true;
  }
}

/** Blocks without words of their own in a notification. */
const WORDLESS: ReadonlySet<unknown> = new Set(['actions', 'divider']);

/**
 * Since 13 July 2026 a phone shows `text` and a desktop the words of the blocks (docs.slack.dev, changelog, "notification changes"). Where
 * there are no blocks, a desktop shows `text`, and without that both the attachments' fallbacks, or the names of the files.
 */
function wordsOf(slack: Workspace, message: StoredMessage): Pick<Notification, 'phone' | 'desktop'> {
  const { blocks, attachments = [], files } = message;
  const text = renderTopText(slack.team, message);
  const shown = renderBlocks(
    slack.team,
    blocks.filter(({ type }) => !WORDLESS.has(type)),
  ).join(' ');
  if (blocks.length > 0) return { phone: text, desktop: shown };
  const fallbacks = attachments.map(({ fallback }) => fallback).filter((one) => typeof one === 'string');
  const names = files.map((id) => slack.files.get(id)?.name ?? id).join(', ');
  const words = [text, fallbacks.join(' '), names].find((one) => one !== '') ?? '';
  return { phone: words, desktop: words };
}
