import type { Env } from '../config/env.ts';
import { checkAlerts } from './alert-checks.ts';
import { type Report, reportOf } from './check.ts';
import { checkCluster } from './cluster-checks.ts';
import type { ClusterProbe, MachineProbe, RedisProbe, SlackProbe } from './probes.ts';
import { checkRedis } from './redis-checks.ts';
import { checkPolicy, checkSetup, type Linted } from './setup-checks.ts';
import { checkSlack } from './slack-checks.ts';

export interface Probes {
  readonly slack: SlackProbe;
  /** Undefined without `REDIS_URL`. */
  readonly redis: RedisProbe | undefined;
  /** @throws KdebugError cluster_config_invalid */
  readonly cluster: (name: string) => ClusterProbe;
  readonly machine: MachineProbe;
}

export interface Examination {
  readonly env: Env;
  readonly policy: Linted;
  readonly probes: Probes;
  /** Slack ids of people to look up, and namespaces that only a prefix of the policy names. */
  readonly users: readonly string[];
  readonly namespaces: readonly string[];
  /** The command that prints the rights of the policy. */
  readonly rbac: string;
  /** The value of an environment variable. */
  readonly secretOf: (variable: string) => string | undefined;
}

/**
 * Looks at everything that an installation needs, and changes nothing. The areas are looked at side by side; each of
 * them ends by the time limits of its own calls. Never throws.
 */
export async function examine(parts: Examination): Promise<Report> {
  const { env, policy: linted, probes, users, namespaces, rbac, secretOf } = parts;
  const policy = linted.loaded.kind === 'ok' ? linted.loaded.policy : undefined;
  const slack = checkSlack({ env, policy, slack: probes.slack, machine: probes.machine });
  const setup = checkSetup({ env, machine: probes.machine });
  const redis = checkRedis(env, probes.redis);
  const { teamId } = await slack;
  const people = { teamId, users };
  const entries = Object.entries(policy?.clusters ?? {});
  const clusters = entries.map(([name, { inCluster }]) => {
    if (policy === undefined) return [];
    const isAlone = env.redis === undefined && (inCluster || entries.length === 1);
    return checkCluster({ name, policy, open: probes.cluster, people, namespaces, isAlone, rbac });
  });
  const checks = [
    ...(await setup),
    ...checkPolicy(linted),
    ...checkAlerts(env, policy, secretOf),
    ...(await slack).checks,
    ...(await redis),
    ...(await Promise.all(clusters)).flat(),
  ];
  return reportOf(checks, policy !== undefined);
}
