import { asUserId, type ChannelId } from '../ids.ts';
import { identityFor, unmappedOf } from './identity.ts';
import type { Identity, Policy } from './policy.ts';

/** What is known beside the policy. */
export interface KnownPeople {
  /** Slack user ids of further people, who may ask. */
  readonly people: readonly string[];
  readonly teamId?: string;
}

/** Every Kubernetes user and group that a policy can make kdebug act as, in order and without repeats. */
export interface YieldedIdentities {
  readonly users: readonly string[];
  readonly groups: readonly string[];
  /** The Slack users that `Impersonate-Extra-slack-user` can name; undefined: anyone. */
  readonly slackUsers: readonly string[] | undefined;
  /** The templates that yield more than is listed here, because nothing lists the people, or the team, that they stand for. */
  readonly unbounded: readonly string[];
}

/** Stands for everybody whom nothing names. */
const ANYONE = '';

/**
 * The users and groups that the identity templates yield for these channels. People are those that `identity.users`, the
 * approvers and `known` name; a `{userId}` template is bounded only when the first or the last of these lists somebody
 * (design, section 3.2), or with `unmapped: deny`, when only those of `identity.users` act at all. Kubernetes' own (`system:`) are never among them. Undefined: the bot's own account acts.
 */
export function yieldedIdentities(
  policy: Pick<Policy, 'identity' | 'approvers'>,
  channels: readonly ChannelId[],
  known: KnownPeople,
): YieldedIdentities | undefined {
  const { identity, approvers } = policy;
  if (identity.mode === 'serviceAccount') return undefined;
  const mapped = Object.keys(identity.users);
  const isClosed = unmappedOf(identity) === 'deny';
  const listed = [...mapped, ...known.people];
  const people = isClosed
    ? sorted(mapped)
    : sorted([...listed, ...Object.values(approvers).flatMap(({ users }) => users)]);
  const found = channels.flatMap((channelId) =>
    [...(isClosed ? [] : [ANYONE]), ...people].map((person) =>
      filled(identity, { person, channelId, teamId: known.teamId }),
    ),
  );
  // Who is mapped never acts by the template.
  const templates = isClosed ? identity.groups : [identity.user, ...identity.groups];
  const isBounded = (template: string) =>
    !(template.includes('{userId}') && listed.length === 0 && !isClosed) &&
    !(template.includes('{teamId}') && known.teamId === undefined);
  return {
    users: sorted(found.flatMap(({ users }) => users)),
    groups: sorted(found.flatMap(({ groups }) => groups)),
    slackUsers: isClosed || identity.user.includes('{userId}') ? people : undefined,
    unbounded: sorted(templates.filter((template) => !isBounded(template))),
  };
}

interface Actor {
  readonly person: string;
  readonly channelId: ChannelId;
  readonly teamId: string | undefined;
}

/** The names that are known for this actor; templates with something unknown in them yield none. */
function filled(identity: Extract<Identity, { mode: 'impersonate' }>, actor: Actor) {
  const { person, channelId, teamId } = actor;
  const { user, groups } = identityFor(identity, {
    requesterId: asUserId(person),
    teamId: teamId ?? '',
    channelId,
  }) ?? {
    user: '',
    groups: [],
  };
  const isKnown = (template: string | undefined) =>
    template !== undefined &&
    !(template.includes('{userId}') && person === ANYONE) &&
    !(template.includes('{teamId}') && teamId === undefined);
  const isMapped = Object.hasOwn(identity.users, person);
  return {
    users: isMapped || isKnown(identity.user) ? [user] : [],
    groups: groups.filter((_, index) => isKnown(identity.groups[index])),
  };
}

const sorted = (names: readonly string[]): readonly string[] =>
  [...new Set(names)].filter((name) => !/^system:/i.test(name)).toSorted();
