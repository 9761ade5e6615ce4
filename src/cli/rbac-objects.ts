import { asChannelId, type ChannelId } from '../core/ids.ts';
import { MORE_FACTS, type RightsRule } from '../core/optional-rights.ts';
import { type KnownPeople, type YieldedIdentities, yieldedIdentities } from '../core/planning/identity.ts';
import { matchesNamespace } from '../core/planning/resolve.ts';
import type { Policy } from '../core/policy/policy.ts';

export interface RbacOptions extends KnownPeople {
  /** Its name in the policy. */
  readonly cluster: string;
  /** The bot's service account and its namespace. */
  readonly serviceAccount: string;
  readonly namespace: string;
  /** Further namespaces, for rules that name only a prefix. */
  readonly namespaces: readonly string[];
  /** Also the optional rights on claims, Services and workloads (`MORE_FACTS`), for the bot. */
  readonly hasMoreFacts?: boolean;
}

interface PolicyRule extends RightsRule {
  readonly resourceNames?: readonly string[];
}

/** A grant of rights: these rules for these subjects, in a namespace or (without one) in the whole cluster. */
export interface RbacGrant {
  readonly name: string;
  readonly namespace?: string;
  readonly rules: readonly PolicyRule[];
  readonly subjects: readonly object[];
}

export interface RbacPlan {
  readonly grants: readonly RbacGrant[];
  /** Prefixes (`shop-*`) in the rules, which RBAC cannot express. */
  readonly prefixes: readonly string[];
  /** Undefined: the bot's own account acts. */
  readonly identities: YieldedIdentities | undefined;
}

const core = (resource: string, ...verbs: string[]): PolicyRule => ({ apiGroups: [''], resources: [resource], verbs });
const READS = [core('pods', 'get', 'list', 'watch'), core('events', 'list'), core('namespaces', 'get')];
const ACTS = [core('pods/log', 'get'), core('pods/ephemeralcontainers', 'patch')];
const moreFacts = (ofCluster: boolean): readonly PolicyRule[] =>
  MORE_FACTS.filter(({ isOfCluster }) => isOfCluster === ofCluster).flatMap(({ rules }) => rules);
/**
 * Every account may review its own access, on most clusters. Only a shared account with mapped people must review
 * others'.
 */
const reviewsOf = ({ identity }: Policy): PolicyRule => {
  const asksOfOthers = identity.mode === 'serviceAccount' && Object.keys(identity.users).length > 0;
  const resources = ['selfsubjectaccessreviews', ...(asksOfOthers ? ['subjectaccessreviews'] : [])];
  return { apiGroups: ['authorization.k8s.io'], resources, verbs: ['create'] };
};

/**
 * The rights that a policy needs in one of its clusters, and no more. With impersonation the bot itself may only read
 * and impersonate the named people; the people have the rights to change anything, in their channels' namespaces.
 */
export function planRbac(policy: Policy, options: RbacOptions): RbacPlan {
  const channels = channelsOfCluster(policy, options.cluster);
  const identities = yieldedIdentities(policy, [...channels.keys()], options);
  const patterns = sorted([...channels.values()].flat());
  const namespaces = namespacesOf(patterns, options.namespaces);
  const { namespace, serviceAccount: name } = options;
  const bot = { kind: 'ServiceAccount', name, namespace };
  const people = (channelId: ChannelId) => subjectsOf(policy, channelId, options);
  const everyone = unique([...channels.keys()].flatMap(people));
  return {
    identities,
    prefixes: patterns.filter((pattern) => pattern.endsWith('*')),
    grants: [
      ...(identities ? impersonation(`${name}-policy-impersonation`, identities, bot) : []),
      {
        name: `${name}-policy-reviews`,
        rules: [reviewsOf(policy)],
        subjects: [bot, ...everyone],
      },
      ...(options.hasMoreFacts ? [{ name: `${name}-policy-more-facts`, rules: moreFacts(true), subjects: [bot] }] : []),
      ...namespaces.flatMap((each) => {
        const reads = options.hasMoreFacts ? [...READS, ...moreFacts(false)] : READS;
        const rights = identities ? reads : [...reads, ...ACTS];
        const subjects = unique([...channels].filter(([, named]) => covers(named, each)).flatMap(([id]) => people(id)));
        const theirs = {
          name: `${name}-policy-people`,
          namespace: each,
          rules: [core('pods', 'get'), ...ACTS],
          subjects,
        };
        return [
          { name: `${name}-policy`, namespace: each, rules: rights, subjects: [bot] },
          ...(subjects.length > 0 ? [theirs] : []),
        ];
      }),
    ],
  };
}

/** The channels that may reach the cluster, sorted, each with its rules' namespaces. */
function channelsOfCluster(policy: Policy, cluster: string): ReadonlyMap<ChannelId, readonly string[]> {
  const ids = Object.keys(policy.channels).toSorted().map(asChannelId);
  return new Map(
    ids.flatMap((id) => {
      const rules = (policy.channels[id]?.rules ?? []).filter(({ clusters }) => clusters.includes(cluster));
      return rules.length === 0 ? [] : [[id, rules.flatMap(({ namespaces }) => namespaces)] as const];
    }),
  );
}

const covers = (patterns: readonly string[], namespace: string): boolean =>
  patterns.some((pattern) => matchesNamespace(pattern, namespace));

const namespacesOf = (patterns: readonly string[], more: readonly string[]): readonly string[] =>
  sorted([
    ...patterns.filter((pattern) => !pattern.endsWith('*')),
    ...more.filter((namespace) => covers(patterns, namespace)),
  ]);

function impersonation(name: string, identities: YieldedIdentities, bot: object): readonly RbacGrant[] {
  const { users, groups, slackUsers } = identities;
  const named = (resource: string, resourceNames: readonly string[], group = ''): readonly PolicyRule[] =>
    resourceNames.length === 0
      ? []
      : [{ apiGroups: [group], resources: [resource], resourceNames, verbs: ['impersonate'] }];
  const extra = 'userextras/slack-user';
  const rules = [
    ...named('users', users),
    ...named('groups', groups),
    ...(slackUsers
      ? named(extra, slackUsers, 'authentication.k8s.io')
      : [{ apiGroups: ['authentication.k8s.io'], resources: [extra], verbs: ['impersonate'] }]),
  ];
  return users.length === 0 ? [] : [{ name, rules, subjects: [bot] }];
}

/** A channel's people as subjects: the groups that name the channel, else all groups, else each person. */
function subjectsOf(policy: Policy, channelId: ChannelId, known: KnownPeople): readonly object[] {
  const { identity } = policy;
  if (identity.mode === 'serviceAccount') return [];
  const own = identity.groups.filter((group) => group.includes('{channelId}'));
  const narrowed = { ...identity, groups: own.length > 0 ? own : identity.groups };
  const yielded = yieldedIdentities({ ...policy, identity: narrowed }, [channelId], known);
  const subject = (kind: string) => (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });
  const groups = yielded?.groups ?? [];
  return groups.length > 0 ? groups.map(subject('Group')) : (yielded?.users ?? []).map(subject('User'));
}

const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].toSorted();

const unique = (subjects: readonly object[]): readonly object[] => [
  ...new Map(subjects.map((subject) => [JSON.stringify(subject), subject])).values(),
];
