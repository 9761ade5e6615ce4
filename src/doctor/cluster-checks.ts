import { admits, type Profile } from '../core/container/profiles.ts';
import { toKdebugError } from '../core/errors.ts';
import type { ChannelId } from '../core/ids.ts';
import { matchesNamespace } from '../core/planning/resolve.ts';
import type { Policy } from '../core/policy/policy.ts';
import { type Area, areaOf, type Check } from './check.ts';
import { checkImages } from './image-checks.ts';
import { checkMoreFacts } from './more-facts-checks.ts';
import type { ClusterProbe } from './probes.ts';
import { checkAlone, checkBot, checkNodes, checkPeopleOf, type People } from './rights-checks.ts';

/** Ephemeral containers are stable since 1.25. */
const OLDEST_MINOR = 25;
/** A run needs a few calls, and Slack's 3 s begin with the first. */
const SLOW_MS = 500;

export interface ClusterParts {
  readonly name: string;
  readonly policy: Policy;
  /** @throws KdebugError cluster_config_invalid */
  readonly open: (name: string) => ClusterProbe;
  /** For `{userId}` and `{teamId}` templates, and namespaces that only a prefix names. */
  readonly people: People;
  readonly namespaces: readonly string[];
  /** kdebug runs in this cluster with its runs in memory. */
  readonly isAlone: boolean;
  /** The command that prints the rights of the policy. */
  readonly rbac: string;
}

/** One cluster of the policy: is it there, does it serve ephemeral containers, and who may do what in each namespace. */
export async function checkCluster(parts: ClusterParts): Promise<readonly Check[]> {
  const cluster = areaOf(`cluster ${parts.name}`);
  let probe: ClusterProbe;
  try {
    probe = parts.open(parts.name);
  } catch (thrown) {
    return [cluster.broken('kubeconfig', thrown)];
  }
  try {
    return await checkOpened(parts, probe, cluster);
  } finally {
    await probe.close();
  }
}

async function checkOpened(parts: ClusterParts, probe: ClusterProbe, cluster: Area): Promise<readonly Check[]> {
  let host: string | undefined;
  try {
    host = await probe.server();
    const found = await probe.version();
    return [
      checkVersion(found.version, host, cluster),
      checkLatency(found.tookMs, cluster),
      ...(await checkServed(parts, probe, cluster)),
    ];
  } catch (thrown) {
    return [cluster.broken('API server', thrown, host)];
  }
}

function checkVersion(version: string, host: string, cluster: Area): Check {
  const [, major = 0, minor = 0] = (/^v?(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  return major > 1 || minor >= OLDEST_MINOR
    ? cluster.ok('API server', `${host} runs ${version}`)
    : cluster.fail(
        'API server',
        `${host} runs ${version}`,
        `upgrade it to 1.${OLDEST_MINOR} or newer: older ones have no stable ephemeral containers`,
      );
}

function checkLatency(tookMs: readonly number[], cluster: Area): Check {
  const median = tookMs.toSorted((a, b) => a - b)[Math.floor(tookMs.length / 2)] ?? 0;
  const words = `${Math.round(median)} ms a call (median of ${tookMs.length})`;
  return median > SLOW_MS
    ? cluster.warn('latency', words, 'run kdebug nearer to this API server')
    : cluster.ok('latency', words);
}

async function checkServed(parts: ClusterParts, probe: ClusterProbe, cluster: Area): Promise<readonly Check[]> {
  const { policy, name } = parts;
  const account = await probe.account();
  const served = await attempt('ephemeral containers', cluster, async () =>
    (await probe.hasEphemeralContainers())
      ? cluster.ok('ephemeral containers', 'the API server has patch pods/ephemeralcontainers')
      : cluster.fail(
          'ephemeral containers',
          'the API server has no pods/ephemeralcontainers',
          'switch the feature gate EphemeralContainers on, or upgrade the cluster',
        ),
  );
  const rules = rulesOf(policy, name);
  const { namespaces, checks } = await namespacesOf(rules, parts, probe, cluster);
  const bot = { policy, account, cluster, rbac: parts.rbac };
  const perNamespace = [];
  for (const namespace of namespaces) {
    perNamespace.push(...(await checkBot(bot, namespace, probe)));
    perNamespace.push(
      ...(await checkPeopleOf(
        { ...bot, people: parts.people, channels: channelsIn(rules, namespace) },
        namespace,
        probe,
      )),
    );
    perNamespace.push(...(await checkPodSecurity(namespace, rules, probe, cluster)));
  }
  return [
    cluster.ok(
      'account',
      account === undefined ? 'accepted; this API server does not say its name' : `acts as ${account}`,
    ),
    served,
    ...(parts.isAlone ? await checkAlone(account, cluster, probe) : []),
    ...checks,
    ...perNamespace,
    ...(await checkNodes(bot, probe)),
    ...(await checkMoreFacts(bot, namespaces, probe)),
    ...(await checkImages(policy, namespaces, probe, cluster)),
  ];
}

/** One check; an error is its result. */
async function attempt(what: string, cluster: Area, check: () => Promise<Check>): Promise<Check> {
  try {
    return await check();
  } catch (thrown) {
    return cluster.broken(what, thrown);
  }
}

interface ChannelRule {
  readonly channelId: ChannelId;
  readonly namespaces: readonly string[];
  readonly profiles: readonly Profile[];
}

const rulesOf = ({ channels }: Policy, cluster: string): readonly ChannelRule[] =>
  Object.entries(channels).flatMap(([id, { rules }]) =>
    rules
      .filter(({ clusters }) => clusters.includes(cluster))
      .map(({ namespaces, profiles }) => ({ channelId: id as ChannelId, namespaces, profiles })),
  );

const inNamespace = (rules: readonly ChannelRule[], namespace: string): readonly ChannelRule[] =>
  rules.filter(({ namespaces }) => namespaces.some((pattern) => matchesNamespace(pattern, namespace)));

const channelsIn = (rules: readonly ChannelRule[], namespace: string): readonly ChannelId[] => [
  ...new Set(inNamespace(rules, namespace).map(({ channelId }) => channelId)),
];

/** Names in full, and those that a prefix covers: as listed by the cluster, or as given. */
async function namespacesOf(
  rules: readonly ChannelRule[],
  { namespaces: given }: ClusterParts,
  probe: ClusterProbe,
  cluster: Area,
): Promise<{ readonly namespaces: readonly string[]; readonly checks: readonly Check[] }> {
  const patterns = [...new Set(rules.flatMap(({ namespaces }) => namespaces))];
  const named = patterns.filter((pattern) => !pattern.endsWith('*'));
  const prefixes = patterns.filter((pattern) => pattern.endsWith('*'));
  const listed = prefixes.length === 0 ? [] : await probe.namespaces();
  // The names come from the cluster and go into commands to copy, so only valid ones are kept.
  const covered = [...(listed ?? []), ...given].filter(
    (one) => /^[a-z0-9-]{1,63}$/.test(one) && prefixes.some((prefix) => matchesNamespace(prefix, one)),
  );
  const bare = prefixes.filter((prefix) => !covered.some((one) => matchesNamespace(prefix, one)));
  const namespaces = [...new Set([...named, ...covered])].toSorted();
  const checks = bare.map((prefix) =>
    cluster.warn(
      `namespaces ${prefix}`,
      listed === undefined ? 'not checked: kdebug may not list namespaces' : 'none is there',
      `doctor --in NAMESPACE   # one that ${prefix} covers`,
    ),
  );
  return { namespaces, checks };
}

/** The profiles of the rules that the namespace's Pod Security level refuses. */
async function checkPodSecurity(
  namespace: string,
  rules: readonly ChannelRule[],
  probe: ClusterProbe,
  cluster: Area,
): Promise<readonly Check[]> {
  const what = `Pod Security of ${namespace}`;
  try {
    const level = await probe.podSecurity(namespace);
    const profiles = [...new Set(inNamespace(rules, namespace).flatMap((rule) => rule.profiles))];
    const refused = profiles.filter((profile) => !admits(level, profile));
    if (profiles.length > 0 && refused.length === profiles.length) {
      return [
        cluster.fail(
          what,
          `${level} refuses every profile of the rules (${refused.join(', ')}), so nothing can run there`,
          'allow the profile restricted in a rule of the policy',
        ),
      ];
    }
    return [cluster.ok(what, refused.length === 0 ? level : `${level}; refuses ${refused.join(', ')}`)];
  } catch (thrown) {
    const { code } = toKdebugError(thrown);
    // Without the right, the check of rights says so.
    if (code === 'cluster_forbidden') return [];
    if (code !== 'namespace_not_found') return [cluster.broken(what, thrown)];
    return [
      cluster.fail(
        `namespace ${namespace}`,
        'does not exist',
        `kubectl create namespace ${namespace}`,
        'or correct its name in the policy',
      ),
    ];
  }
}
