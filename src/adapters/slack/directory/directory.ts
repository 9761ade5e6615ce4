import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import { KdebugError, type ReasonCode } from '../../../core/errors.ts';
import type { Clock } from '../../../flow/ports/machine.ts';
import type { Directory, Person } from '../../../flow/ports/slack.ts';
import { asked } from '../asking.ts';
import type { Identity } from '../identity.ts';
import { Fresh } from './fresh.ts';
import { personOf, UserObject } from './person.ts';

export interface DirectoryOptions {
  readonly client: WebClient;
  readonly clock: Clock;
  /** Whose members are members; nobody is one before it is known. */
  readonly identity: () => Identity | undefined;
}

const USER_ID = /^[UW][A-Z0-9]{2,20}$/;
const USERGROUP_ID = /^S[A-Z0-9]{2,20}$/;

/**
 * The `Directory` port over users.info, usergroups.users.list and conversations.info. Every answer comes within 1.5 s or is an error; nothing is
 * asked twice at the same time.
 */
export function createDirectory(options: DirectoryOptions): Directory {
  const { clock } = options;
  const people = new Fresh<Person>({ clock, maxAgeMs: 60_000, maxEntries: 10_000 });
  const shared = new Fresh<boolean>({ clock, maxAgeMs: 60_000, maxEntries: 10_000 });
  const groups = new Fresh<ReadonlySet<string>>({ clock, maxAgeMs: 5_000, maxEntries: 500 });
  return {
    person: (userId, sinceMs) => people.get(userId, () => askPerson(options, userId), sinceMs),
    members: (usergroupId, sinceMs) => groups.get(usergroupId, () => askMembers(options, usergroupId), sinceMs),
    isShared: async (channelId) =>
      !channelId.startsWith('D') && shared.get(channelId, () => askSharing(options, channelId)),
  };
}

async function askPerson({ client, identity }: DirectoryOptions, userId: string): Promise<Person> {
  const us = identity();
  if (us === undefined) throw new KdebugError('slack_unreachable', { facts: { kind: 'not_started' } });
  if (!USER_ID.test(userId)) throw new KdebugError('person_unknown');
  const answer = await unless(UNKNOWN_PERSON, 'person_unknown', () => client.users.info({ user: userId }));
  const user = UserObject.safeParse(answer.user);
  if (!user.success || user.data.id !== userId) throw new KdebugError('person_unknown');
  return personOf(user.data, us);
}

/** A disabled group has no members (`include_disabled`). */
async function askMembers({ client }: DirectoryOptions, usergroupId: string): Promise<ReadonlySet<string>> {
  if (!USERGROUP_ID.test(usergroupId)) throw new KdebugError('usergroup_unknown');
  const { users } = await unless(UNKNOWN_GROUP, 'usergroup_unknown', () =>
    client.usergroups.users.list({ usergroup: usergroupId, include_disabled: false }),
  );
  return new Set(users ?? []);
}

/** What is read of a channel (Slack, "Conversation object"); what does not say that it is ours alone counts as refused. */
const ChannelObject = z.object({ id: z.string(), is_ext_shared: z.boolean(), is_pending_ext_shared: z.boolean() });

/** Asked of conversations.info, which needs channels:read, and groups:read for a private channel, where the bot must be a member. */
async function askSharing({ client }: DirectoryOptions, channelId: string): Promise<boolean> {
  const answer = await asked(() => client.conversations.info({ channel: channelId }));
  const channel = ChannelObject.safeParse(answer.channel);
  if (!channel.success || channel.data.id !== channelId) {
    throw new KdebugError('slack_refused', {
      detail: 'a channel without is_ext_shared',
      facts: { error: 'no_channel' },
    });
  }
  return channel.data.is_ext_shared || channel.data.is_pending_ext_shared;
}

/** Slack's error strings for somebody or something that is not there, or not for our eyes. */
const UNKNOWN_PERSON = new Set(['user_not_found', 'user_not_visible', 'users_not_found']);
const UNKNOWN_GROUP = new Set(['no_such_subteam', 'subteam_not_found', 'invalid_usergroup']);

async function unless<T>(errors: ReadonlySet<string>, code: ReasonCode, question: () => Promise<T>): Promise<T> {
  try {
    return await asked(question);
  } catch (thrown) {
    const isIt =
      thrown instanceof KdebugError && thrown.code === 'slack_refused' && errors.has(String(thrown.facts.error));
    throw isIt ? new KdebugError(code, { cause: thrown }) : thrown;
  }
}
