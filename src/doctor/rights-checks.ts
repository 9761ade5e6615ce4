import { KdebugError, toKdebugError } from '../core/errors.ts';
import { asUserId, type ChannelId } from '../core/ids.ts';
import { identityFor, subjectFor } from '../core/planning/identity.ts';
import type { Policy } from '../core/policy/policy.ts';
import { formatCount } from '../lib/duration.ts';
import type { Area, Check } from './check.ts';
import type { ClusterProbe, Right, Who } from './probes.ts';

/** The people to look up besides those whom the policy names. */
export interface People {
  readonly teamId: string;
  readonly users: readonly string[];
}

export interface Rights {
  readonly policy: Policy;
  /** The bot's own account; undefined: unknown. */
  readonly account: string | undefined;
  readonly cluster: Area;
  /** The command that prints the rights of the policy. */
  readonly rbac: string;
}

const READS: readonly Right[] = [
  { verb: 'get', resource: 'pods' },
  { verb: 'list', resource: 'pods' },
  { verb: 'watch', resource: 'pods' },
  { verb: 'list', resource: 'events' },
  { verb: 'get', resource: 'namespaces' },
];
/** With impersonation these are the people's. */
const ACTS: readonly Right[] = [
  { verb: 'get', resource: 'pods', subresource: 'log' },
  { verb: 'patch', resource: 'pods', subresource: 'ephemeralcontainers' },
];

const textOf = ({ verb, resource, subresource }: Right): string =>
  `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;

/** Checks the rights of the bot's own account in a namespace. */
export async function checkBot(
  { policy, account, cluster, rbac }: Rights,
  namespace: string,
  probe: ClusterProbe,
): Promise<readonly Check[]> {
  const what = `rights in ${namespace}`;
  const needed = policy.identity.mode === 'impersonate' ? READS : [...READS, ...ACTS];
  try {
    const answers = await Promise.all(needed.map((right) => probe.may({ ...right, namespace })));
    const missing = needed.filter((_, index) => answers[index] === false);
    if (missing.length === 0) return [cluster.ok(what, `all ${needed.length}`)];
    const words = `${account ?? 'kdebug'} may not ${missing.map(textOf).join(', ')}`;
    return [
      cluster.fail(
        what,
        words,
        missing.length < needed.length ? `${rbac} | kubectl apply -f -` : bindingFor(account, namespace, rbac),
      ),
    ];
  } catch (thrown) {
    return [cluster.broken(what, thrown)];
  }
}

/** Checks that kdebug, with its runs in memory, would see a second replica beside it. */
export async function checkAlone(
  account: string | undefined,
  cluster: Area,
  probe: ClusterProbe,
): Promise<readonly Check[]> {
  const [, namespace] = /^system:serviceaccount:([a-z0-9-]+):/.exec(account ?? '') ?? [];
  if (namespace === undefined) return [];
  const what = 'one replica';
  try {
    return (await probe.may({ verb: 'list', resource: 'pods', namespace }))
      ? [cluster.ok(what, 'the runs are in memory; kdebug sees whether another replica runs')]
      : [
          cluster.warn(
            what,
            `the runs are in memory, and kdebug may not list pods in ${namespace}: it would not see a second replica`,
            'kubectl apply -k manifests/installations/ours   # brings the Role kdebug-peers',
          ),
        ];
  } catch (thrown) {
    return [cluster.broken(what, thrown)];
  }
}

/** One command gives a service account all rights of a namespace. */
function bindingFor(account: string | undefined, namespace: string, rbac: string): string {
  const [, home, name] = /^system:serviceaccount:([a-z0-9-]+):([a-z0-9.-]+)$/.exec(account ?? '') ?? [];
  return name === undefined
    ? `${rbac} | kubectl apply -f -`
    : `kubectl -n ${namespace} create rolebinding kdebug --clusterrole=kdebug --serviceaccount=${home}:${name}`;
}

/** Nodes are read for one line of a verdict. */
export async function checkNodes({ account, cluster }: Rights, probe: ClusterProbe): Promise<readonly Check[]> {
  try {
    if (await probe.may({ verb: 'get', resource: 'nodes' }))
      return [cluster.ok('nodes', 'may be read: results name the troubles of a node')];
    return [
      cluster.ok(
        'nodes',
        `${account ?? 'kdebug'} may not read them (optional): results say "node: could not be seen"; manifests/components/nodes gives it`,
      ),
    ];
  } catch (thrown) {
    return [cluster.broken('nodes', thrown)];
  }
}

/** Reviews of so many people take some seconds; further ones are named as a number. */
const MAX_PEOPLE = 50;

interface Person {
  readonly user: string;
  readonly who: Who;
}

/** Checks the rights of the people of the channels in a namespace, as their own Kubernetes users. */
export async function checkPeopleOf(
  rights: Rights & { readonly people: People; readonly channels: readonly ChannelId[] },
  namespace: string,
  probe: ClusterProbe,
): Promise<readonly Check[]> {
  const { policy, cluster, rbac } = rights;
  const what = `people in ${namespace}`;
  const all = peopleOf(rights);
  if (all === undefined) {
    return [
      cluster.warn(
        what,
        'not checked: people act as themselves, and the policy names nobody',
        'doctor --user U…   # the Slack id of somebody who uses kdebug',
      ),
    ];
  }
  if (all.length === 0) return [];
  const shown = all.slice(0, MAX_PEOPLE);
  const lacking: string[] = [];
  for (const { user, who } of shown) {
    try {
      const missing = await probe.missingFor(who, namespace);
      if (missing.length > 0) lacking.push(`${user} (${missing.join(', ')})`);
    } catch (thrown) {
      return [brokenReview(what, thrown, { cluster, rbac, isImpersonation: policy.identity.mode === 'impersonate' })];
    }
  }
  const more = all.length > shown.length ? `; ${formatCount(all.length - shown.length, 'more')} not checked` : '';
  if (lacking.length === 0) return [cluster.ok(what, `all ${shown.length} may debug${more}`)];
  return [
    cluster.warn(
      what,
      `${lacking.length} of ${shown.length} may not debug there: ${lacking.slice(0, 5).join('; ')}${more}`,
      `${rbac} | kubectl apply -f -   # if they should`,
    ),
  ];
}

/** A refused review names the rule that the bot itself lacks. */
function brokenReview(
  what: string,
  thrown: unknown,
  {
    cluster,
    rbac,
    isImpersonation,
  }: { readonly cluster: Area; readonly rbac: string; readonly isImpersonation: boolean },
): Check {
  const error = toKdebugError(thrown);
  if (!(thrown instanceof KdebugError) || error.code !== 'cluster_forbidden') return cluster.broken(what, thrown);
  const fix = isImpersonation ? `${rbac} | kubectl apply -f -` : 'kubectl apply -k manifests/components/mapped-people';
  return cluster.fail(isImpersonation ? 'impersonation' : what, error.detail, fix);
}

/** The people whom the policy maps, and those given; undefined: they act as themselves, and nobody is known. */
function peopleOf({
  policy: { identity },
  people: { teamId, users },
  channels,
}: {
  readonly policy: Policy;
  readonly people: People;
  readonly channels: readonly ChannelId[];
}): readonly Person[] | undefined {
  const ids = [...new Set([...Object.keys(identity.users), ...users])];
  if (identity.mode === 'serviceAccount') {
    return ids.flatMap((id) => {
      const subject = subjectFor(identity, id);
      return subject === undefined ? [] : [{ user: subject.user, who: { subject } }];
    });
  }
  if (ids.length === 0) return undefined;
  const all = channels.flatMap((channelId) =>
    ids.flatMap((id) => {
      const actingAs = identityFor(identity, { requesterId: asUserId(id), teamId, channelId });
      return actingAs === undefined ? [] : [{ user: actingAs.user, who: { actingAs } }];
    }),
  );
  return [...new Map(all.map((person) => [JSON.stringify(person), person])).values()];
}
