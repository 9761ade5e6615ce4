import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import { KdebugError, type ReasonCode } from '../../core/errors.ts';
import type { ChannelFacts, Directory, Person } from '../../flow/ports/directory.ts';
import { Cached } from '../../lib/cached.ts';
import type { Clock } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import { callSlack } from './errors.ts';
import type { Identity } from './identity.ts';
import { cleanLine, shorten } from './views/plain.ts';

export interface DirectoryOptions {
  readonly client: WebClient;
  readonly clock: Clock;
  /** While our team is unknown, nobody is a member. */
  readonly identity: () => Identity | undefined;
}

/** Slack expects our answer to a request within 3 s. */
const ANSWER_MS = 1_500;
const DIRECT: ChannelFacts = { isShared: false, isMember: true, isPrivate: true };
/** Short, so that an invitation of the bot takes effect soon. */
const NOT_IN_FOR_MS = 2_000;
/** conversations.members: "a limit value under 1000"; anything else is `invalid_limit`. */
const MEMBERS_PER_PAGE = 999;
const MAX_MEMBERS = 2_000;
/** Slack may return short pages before the last one. */
const MAX_PAGES = 10;

const USER_ID = /^[UW][A-Z0-9]{2,20}$/;
const USERGROUP_ID = /^S[A-Z0-9]{2,20}$/;

/** Answers or fails within 1.5 s. Concurrent identical questions share one call. */
export function createDirectory(options: DirectoryOptions): Directory {
  const { clock } = options;
  const deadline = { ms: ANSWER_MS, onLate: tooSlow };
  const people = new Cached<Person>({ clock, freshMs: () => 60_000, maxEntries: 10_000, deadline });
  const freshMs = ({ isMember }: ChannelFacts) => (isMember ? 60_000 : NOT_IN_FOR_MS);
  const channels = new Cached<ChannelFacts>({ clock, freshMs, maxEntries: 10_000, deadline });
  const memberLists = { clock, freshMs: () => 5_000, maxEntries: 500, deadline };
  const inChannels = new Cached<ReadonlySet<string>>(memberLists);
  const groups = new Cached<ReadonlySet<string>>(memberLists);
  const channelLists = new Cached<ReadonlyMap<string, string>>(memberLists);
  return {
    person: (userId, sinceMs) => people.get(userId, () => fetchPerson(options, userId), sinceMs),
    members: (usergroupId, sinceMs) => groups.get(usergroupId, () => fetchMembers(options, usergroupId), sinceMs),
    channel: async (channelId) =>
      channelId.startsWith('D') ? DIRECT : channels.get(channelId, () => fetchChannel(options, channelId)),
    // Slack tells no app who else is in its direct message: nobody.
    channelMembers: async (channelId, sinceMs) =>
      channelId.startsWith('D')
        ? new Set<string>()
        : inChannels.get(channelId, () => fetchChannelMembers(options, channelId), sinceMs),
    channelsOf: (userId) => channelLists.get(userId, () => fetchChannelsOf(options, userId)),
  };
}

function tooSlow(): never {
  throw new KdebugError('slack_unreachable', { facts: { kind: 'slow' } });
}

async function fetchPerson({ client, identity }: DirectoryOptions, userId: string): Promise<Person> {
  const us = identity();
  if (us === undefined) throw new KdebugError('slack_unreachable', { facts: { kind: 'not_started' } });
  if (!USER_ID.test(userId)) throw new KdebugError('person_unknown');
  const answer = await unless(UNKNOWN_PERSON, 'person_unknown', () => client.users.info({ user: userId }));
  const user = UserObject.safeParse(answer.user);
  if (!user.success || user.data.id !== userId) throw new KdebugError('person_unknown');
  return personOf(user.data, us);
}

/** A disabled group has no members (`include_disabled`). In an Enterprise organisation, `team_id` selects our workspace. */
async function fetchMembers({ client, identity }: DirectoryOptions, usergroupId: string): Promise<ReadonlySet<string>> {
  if (!USERGROUP_ID.test(usergroupId)) throw new KdebugError('usergroup_unknown');
  const us = identity();
  const ofTeam = us?.enterpriseId === undefined ? {} : { team_id: us.teamId };
  const { users } = await unless(UNKNOWN_GROUP, 'usergroup_unknown', () =>
    client.usergroups.users.list({ usergroup: usergroupId, include_disabled: false, ...ofTeam }),
  );
  return new Set(users ?? []);
}

/** The fields of a channel that we read (Slack, "Conversation object"). Without both sharing flags, the channel counts as refused. */
const ChannelObject = z.object({
  id: z.string(),
  is_ext_shared: z.boolean(),
  is_pending_ext_shared: z.boolean(),
  is_member: z.boolean().default(false),
  is_private: z.boolean().default(true),
});

/** conversations.info needs channels:read; for a private channel groups:read, and the bot must be a member. */
async function fetchChannel({ client }: DirectoryOptions, channelId: string): Promise<ChannelFacts> {
  const answer = await callSlack(() => client.conversations.info({ channel: channelId }));
  const channel = ChannelObject.safeParse(answer.channel);
  if (!channel.success || channel.data.id !== channelId) {
    throw new KdebugError('slack_refused', {
      detail: 'no such channel, or without sharing flags',
      facts: { error: 'no_channel' },
    });
  }
  const { is_ext_shared, is_pending_ext_shared, is_member, is_private } = channel.data;
  return { isShared: is_ext_shared || is_pending_ext_shared, isMember: is_member, isPrivate: is_private };
}

async function fetchChannelMembers({ client }: DirectoryOptions, channelId: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  let cursor = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { members, response_metadata } = await callSlack(() =>
      client.conversations.members({
        channel: channelId,
        limit: MEMBERS_PER_PAGE,
        ...defined({ cursor: cursor !== '' ? cursor : undefined }),
      }),
    );
    for (const userId of members ?? []) found.add(userId);
    if (found.size > MAX_MEMBERS) break;
    cursor = response_metadata?.next_cursor ?? '';
    if (cursor === '') return found;
  }
  throw new KdebugError('slack_refused', { facts: { error: 'too_many_members' } });
}

/** users.conversations, for a person: their channels that the bot is in, too. Slack filters after it cuts a page, so pages may be empty. */
async function fetchChannelsOf({ client }: DirectoryOptions, user: string): Promise<ReadonlyMap<string, string>> {
  if (!USER_ID.test(user)) throw new KdebugError('person_unknown');
  const found = new Map<string, string>();
  let cursor = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { channels, response_metadata } = await callSlack(() =>
      client.users.conversations({
        user,
        types: 'public_channel,private_channel',
        exclude_archived: true,
        limit: MEMBERS_PER_PAGE,
        ...defined({ cursor: cursor !== '' ? cursor : undefined }),
      }),
    );
    for (const { id, name } of channels ?? []) if (id) found.set(id, cleanLine(name ?? id));
    cursor = response_metadata?.next_cursor ?? '';
    if (cursor === '') break;
  }
  return found;
}

/** Slack's errors for people and groups that do not exist or are hidden from us. */
const UNKNOWN_PERSON = new Set(['user_not_found', 'user_not_visible', 'users_not_found']);
const UNKNOWN_GROUP = new Set(['no_such_subteam', 'subteam_not_found', 'invalid_usergroup']);

async function unless<T>(errors: ReadonlySet<string>, code: ReasonCode, question: () => Promise<T>): Promise<T> {
  try {
    return await callSlack(question);
  } catch (thrown) {
    const isIt = thrown instanceof KdebugError && errors.has(String(thrown.facts.error));
    throw isIt ? new KdebugError(code, { cause: thrown }) : thrown;
  }
}

const MAX_NAME = 80;
/** Slack's own bot has `is_bot: false`. */
const SLACKBOT = 'USLACKBOT';

/** The fields of a user that we read (Slack, "User object"). A missing flag counts against the person. */
const UserObject = z.object({
  id: z.string(),
  team_id: z.string().optional(),
  deleted: z.boolean().default(false),
  is_bot: z.boolean().optional(),
  is_workflow_bot: z.boolean().default(false),
  is_restricted: z.boolean().optional(),
  is_ultra_restricted: z.boolean().optional(),
  is_stranger: z.boolean().default(false),
  name: z.string().optional(),
  real_name: z.string().optional(),
  profile: z.object({ display_name: z.string().optional() }).optional(),
  /** In an Enterprise organisation: the person's workspaces. */
  enterprise_user: z
    .object({ enterprise_id: z.string().optional(), teams: z.array(z.string()).default([]) })
    .optional(),
});
type UserObject = z.infer<typeof UserObject>;

/** `member` only if Slack clearly says: a full member of our own team. Pure. */
const personOf = (user: UserObject, us: Identity): Person => ({
  userId: user.id,
  teamId: user.team_id ?? '',
  kind: kindOf(user, us),
  name: nameOf(user),
});

function kindOf(user: UserObject, us: Identity): Person['kind'] {
  if (user.deleted) return 'deactivated';
  if (user.is_bot !== false || user.is_workflow_bot || user.id === SLACKBOT) return 'bot';
  if (user.is_stranger) return 'outsider';
  if (!isOfTeam(user, us.teamId)) return isOfOrganisation(user, us) ? 'sibling' : 'outsider';
  return user.is_restricted === false && user.is_ultra_restricted === false ? 'member' : 'guest';
}

const isOfTeam = ({ team_id, enterprise_user }: UserObject, teamId: string): boolean =>
  team_id === teamId || (enterprise_user?.teams.includes(teamId) ?? false);

const isOfOrganisation = ({ enterprise_user }: UserObject, { enterpriseId }: Identity): boolean =>
  enterpriseId !== undefined && enterprise_user?.enterprise_id === enterpriseId;

function nameOf({ id, name, real_name, profile }: UserObject): string {
  const shown = [profile?.display_name, real_name, name].map((one) => cleanLine(one ?? '')).find((one) => one !== '');
  return shorten(shown ?? id, { weight: Number.POSITIVE_INFINITY, length: MAX_NAME });
}
