import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import { KdebugError, type ReasonCode } from '../../core/errors.ts';
import type { ChannelFacts, Directory, Person } from '../../flow/ports/directory.ts';
import { Cached } from '../../lib/cached.ts';
import type { Clock } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import { callSlack } from './errors.ts';
import type { Identity } from './identity.ts';
import { CallBudget } from './members/call-budget.ts';
import { type AskSlack, MemberLists, type People, TOO_MANY } from './members/member-lists.ts';
import { cleanLine, shorten } from './views/plain.ts';

export interface DirectoryOptions {
  readonly client: WebClient;
  readonly clock: Clock;
  /** While our team is unknown, nobody is a member. */
  readonly identity: () => Identity | undefined;
}

/** Slack expects our answer to a request within 3 s. */
const ANSWER_MS = 1_500;
const DIRECT: ChannelFacts = { name: '', isShared: false, isMember: true, isPrivate: true };
/** Short, so that an invitation of the bot takes effect soon. */
const NOT_IN_FOR_MS = 2_000;
/** conversations.members: "a limit value under 1000"; anything else is `invalid_limit`. */
const MEMBERS_PER_PAGE = 999;
const MAX_MEMBERS = 2_000;
/** Only to tell which channels a person is in: nobody waits for the last page of them to decide something. */
const MAX_SHOWN_MEMBERS = 10_000;
const MAX_PEOPLE = 10_000;
/** Slack may return short pages before the last one. */
const MAX_PAGES = 25;

/** Slack, usergroups.users.list: Tier 2. */
const GROUPS_PER_MINUTE = 20;
/** Slack, conversations.members: Tier 4. */
const MEMBER_PAGES_PER_MINUTE = 100;

const USER_ID = /^[UW][A-Z0-9]{2,20}$/;
const USERGROUP_ID = /^S[A-Z0-9]{2,20}$/;

/** The directory, what Slack's events change of it, and the names that messages say. */
export interface SlackDirectory extends Directory {
  /** A user group has other members now. */
  groupChanged(usergroupId: string): void;
  /** The name of a person whom this process has looked up before, however long ago. Asks nobody. */
  knownName(userId: string): string | undefined;
}

/** Answers or fails within 1.5 s. Concurrent identical questions share one call. */
export function createDirectory(options: DirectoryOptions): SlackDirectory {
  const { clock, identity } = options;
  const deadline = { ms: ANSWER_MS, onLate: tooSlow };
  const people = new Cached<Person>({ clock, freshMs: () => 60_000, maxEntries: MAX_PEOPLE, deadline });
  const names = new Map<string, string>();
  const freshMs = ({ isMember }: ChannelFacts) => (isMember ? 60_000 : NOT_IN_FOR_MS);
  const channels = new Cached<ChannelFacts>({ clock, freshMs, maxEntries: 10_000, deadline });
  const lists = (budget: CallBudget, read: (id: string, ask: AskSlack) => Promise<People>, isOnlyShown = false) =>
    new MemberLists({ clock, budget, read, deadline, isOnlyShown });
  const groups = lists(new CallBudget(clock, GROUPS_PER_MINUTE), (id, ask) => fetchMembers(options, id, ask));
  const pages = new CallBudget(clock, MEMBER_PAGES_PER_MINUTE);
  const readChannel = (most: number, isOnlyShown: boolean) =>
    lists(pages, (channelId, ask) => fetchChannelMembers(options, { channelId, most }, ask), isOnlyShown);
  const inChannels = readChannel(MAX_MEMBERS, false);
  const inAnyChannel = readChannel(MAX_SHOWN_MEMBERS, true);
  return {
    async person(userId, sinceMs) {
      const person = await people.get(userId, () => fetchPerson(options, userId), sinceMs);
      names.delete(userId);
      names.set(userId, person.name);
      const [oldest] = names.keys();
      if (names.size > MAX_PEOPLE && oldest !== undefined) names.delete(oldest);
      return person;
    },
    knownName: (userId) => names.get(userId) || undefined,
    members: (usergroupId, howFresh) => groups.get(usergroupId, howFresh),
    channel: async (channelId) =>
      channelId.startsWith('D') ? DIRECT : channels.get(channelId, () => fetchChannel(options, channelId)),
    // Slack tells no app who else is in its direct message: nobody.
    channelMembers: async (channelId, howFresh) =>
      channelId.startsWith('D') ? new Set<string>() : inChannels.get(channelId, howFresh),
    async areTogetherIn(channelId, userId, howFresh) {
      const botUserId = identity()?.botUserId;
      try {
        const members = await inAnyChannel.get(channelId, howFresh);
        return botUserId !== undefined && members.has(botUserId) && members.has(userId);
      } catch (thrown) {
        if (thrown instanceof KdebugError && thrown.code === 'slack_channel_closed') return false;
        throw thrown;
      }
    },
    groupChanged: (usergroupId) => groups.forget(usergroupId),
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
async function fetchMembers(
  { client, identity }: DirectoryOptions,
  usergroupId: string,
  ask: AskSlack,
): Promise<People> {
  if (!USERGROUP_ID.test(usergroupId)) throw new KdebugError('usergroup_unknown');
  const us = identity();
  const ofTeam = us?.enterpriseId === undefined ? {} : { team_id: us.teamId };
  const { users } = await unless(UNKNOWN_GROUP, 'usergroup_unknown', () =>
    ask(() => client.usergroups.users.list({ usergroup: usergroupId, include_disabled: false, ...ofTeam })),
  );
  return new Set(users ?? []);
}

/** The fields of a channel that we read (Slack, "Conversation object"). Without both sharing flags, the channel counts as refused. */
const ChannelObject = z.object({
  id: z.string(),
  name: z.string().default(''),
  is_ext_shared: z.boolean(),
  is_pending_ext_shared: z.boolean(),
  is_member: z.boolean().default(false),
  is_archived: z.boolean().default(false),
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
  const { name, is_ext_shared, is_pending_ext_shared, is_member, is_archived, is_private } = channel.data;
  return {
    name: cleanLine(name),
    isShared: is_ext_shared || is_pending_ext_shared,
    isMember: is_member && !is_archived,
    isPrivate: is_private,
  };
}

interface WhichMembers {
  readonly channelId: string;
  readonly most: number;
}

async function fetchChannelMembers(
  { client }: DirectoryOptions,
  { channelId, most }: WhichMembers,
  ask: AskSlack,
): Promise<People> {
  const found = new Set<string>();
  let cursor = '';
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const which = { channel: channelId, limit: MEMBERS_PER_PAGE, ...defined({ cursor: cursor || undefined }) };
    const { members, response_metadata } = await callSlack(() => ask(() => client.conversations.members(which)));
    for (const userId of members ?? []) found.add(userId);
    if (found.size > most) break;
    cursor = response_metadata?.next_cursor ?? '';
    if (cursor === '') return found;
  }
  throw new KdebugError('slack_refused', { facts: { error: TOO_MANY } });
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
