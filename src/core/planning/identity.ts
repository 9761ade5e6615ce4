import { own } from '../../lib/object.ts';
import { asUserId, type ChannelId, userOfAlerts } from '../ids.ts';
import { type Identity, keyOfChannel, type Policy, type Unmapped } from '../policy/policy.ts';
import type { Origin } from '../request/origin.ts';

/** The Kubernetes user that kdebug acts as for a person. */
export interface KubernetesIdentity {
  readonly user: string;
  readonly groups: readonly string[];
  readonly slackUser: string;
}

/** The fields that templates use. */
type Requester = Pick<Origin, 'requesterId' | 'teamId' | 'channelId'>;

/** Fills the identity templates for a person; undefined: the bot's own account acts. */
export function identityFor(identity: Identity, origin: Requester): KubernetesIdentity | undefined {
  if (identity.mode === 'serviceAccount') return undefined;
  const fill = (template: string): string =>
    template
      .replaceAll('{userId}', origin.requesterId)
      .replaceAll('{teamId}', origin.teamId)
      .replaceAll('{channelId}', keyOfChannel(origin.channelId));
  return {
    user: own(identity.users, origin.requesterId) ?? fill(identity.user),
    groups: identity.groups.map(fill),
    slackUser: origin.requesterId,
  };
}

/** The policy's answer to people whom `users` does not name. */
export const unmappedOf = ({ mode, users, unmapped }: Identity): Unmapped =>
  unmapped ?? (mode === 'serviceAccount' && Object.keys(users).length > 0 ? 'deny' : 'allow');

/** The policy refuses a person whom it does not map (`Unmapped`). */
export const isRefusedUnmapped = (identity: Identity, userId: string): boolean =>
  unmappedOf(identity) === 'deny' && own(identity.users, userId) === undefined;

/** The subject of a SubjectAccessReview when the bot acts with its own account; undefined: the person is not mapped. */
export function subjectFor(
  identity: Identity,
  userId: string,
): { user: string; groups: readonly string[] } | undefined {
  const user = identity.mode === 'serviceAccount' ? own(identity.users, userId) : undefined;
  return user === undefined ? undefined : { user, groups: [] };
}

/**
 * A Slack account belongs to the requester if it is the same account, or if the policy maps it to the same Kubernetes
 * user, by name or by template. So nobody can approve their own request with a second account.
 */
export function isSamePerson(identity: Identity, requester: Requester, userId: string): boolean {
  const name = ownUserOf(identity, requester);
  if (userId === requester.requesterId) return true;
  return name !== undefined && name === ownUserOf(identity, { ...requester, requesterId: asUserId(userId) });
}

/** The Kubernetes user that identifies this person; undefined: they share the bot's user, or everybody's. */
function ownUserOf(identity: Identity, requester: Requester): string | undefined {
  const mapped = own(identity.users, requester.requesterId);
  const isPersonal = identity.mode === 'impersonate' && identity.user.includes('{userId}');
  return mapped ?? (isPersonal ? identityFor(identity, requester)?.user : undefined);
}

/**
 * Missing rights as rules of a Kubernetes Role, one a line: `patch pods/ephemeralcontainers` becomes `{ apiGroups:
 * [""], resources: [pods/ephemeralcontainers], verbs: [patch] }`.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/role-v1/
 */
export const rulesFor = (missing: readonly string[]): readonly string[] =>
  missing.map((right) => {
    const [verb = '', resource = ''] = right.split(' ');
    return `{ apiGroups: [""], resources: [${resource}], verbs: [${verb}] }`;
  });

/** The caller's knowledge beyond the policy. */
export interface KnownPeople {
  /** Slack user ids of further requesters. */
  readonly people: readonly string[];
  readonly teamId?: string;
}

/** Every Kubernetes user and group that a policy can make kdebug act as, sorted, without repeats. */
export interface YieldedIdentities {
  readonly users: readonly string[];
  readonly groups: readonly string[];
  /** The values of `Impersonate-Extra-slack-user`; undefined: any. */
  readonly slackUsers: readonly string[] | undefined;
  /** The templates that can yield more than the lists here, because nothing lists their people or team. */
  readonly unbounded: readonly string[];
}

/** Everybody whom nothing names. */
const ANYONE = '';

/**
 * The users and groups that the identity templates yield for these channels. People come from `identity.users`, the
 * approvers and `known`. A `{userId}` template is bounded only if `identity.users` or `known` lists somebody (design,
 * section 3.2), or with `unmapped: deny`, which limits it to `identity.users`. Never includes Kubernetes' own names
 * (`system:`). Undefined: the bot's own account acts.
 */
export function yieldedIdentities(
  policy: Pick<Policy, 'identity' | 'approvers' | 'alerts'>,
  channels: readonly ChannelId[],
  known: KnownPeople,
): YieldedIdentities | undefined {
  const { identity, approvers, alerts = {} } = policy;
  if (identity.mode === 'serviceAccount') return undefined;
  const sources = Object.values(alerts).filter(({ channel }) => channels.includes(channel));
  const mapped = Object.keys(identity.users);
  const isClosed = unmappedOf(identity) === 'deny';
  const listed = [...mapped, ...known.people];
  const people = isClosed
    ? sorted(mapped)
    : sorted([
        ...listed,
        ...Object.values(approvers).flatMap(({ users }) => users),
        ...sources.map(({ name }) => userOfAlerts(name)),
      ]);
  const found = channels.flatMap((channelId) =>
    [...(isClosed ? [] : [ANYONE]), ...people].map((person) =>
      filled(identity, { person, channelId, teamId: known.teamId }),
    ),
  );
  // Mapped people never act by the template.
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

/** The names for this actor; a template with an unknown part yields none. */
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
