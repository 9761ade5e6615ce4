import { own } from '../../lib/own-property.ts';
import type { RunRequest } from '../command/command.ts';
import { matchesNamespace } from './decide.ts';
import type { Policy, Rule } from './policy.ts';
import { type NotResolved, resolveCluster } from './resolve-image.ts';

export interface ResolvedNamespace {
  readonly kind: 'ok';
  readonly cluster: string;
  readonly namespace: string;
}

/**
 * Where a request means to go. Without `-n` it is the first namespace that the channel's rules for that cluster name in full,
 * else `default`. A channel or namespace that no rule names is denied here, before the cluster is asked anything, so that
 * nobody learns from an answer which pods exist.
 */
export function resolveNamespace(
  request: Pick<RunRequest, 'cluster' | 'namespace'>,
  channelId: string,
  policy: Policy,
): ResolvedNamespace | NotResolved {
  const rules = own(policy.channels, channelId)?.rules;
  if (!rules) return { kind: 'deny', code: 'channel_unknown', subject: channelId };
  const resolved = resolveCluster(request.cluster, policy);
  if (resolved.kind === 'deny') return resolved;
  const { cluster } = resolved;
  const here = rules.filter((rule) => rule.clusters.includes(cluster));
  if (here.length === 0) return { kind: 'deny', code: 'cluster_not_allowed', subject: cluster };
  const namespace = request.namespace ?? defaultNamespace(here);
  const named = here.some((rule) => rule.namespaces.some((pattern) => matchesNamespace(pattern, namespace)));
  return named
    ? { kind: 'ok', cluster, namespace }
    : { kind: 'deny', code: 'namespace_not_allowed', subject: namespace };
}

const defaultNamespace = (rules: readonly Rule[]): string =>
  rules.flatMap(({ namespaces }) => namespaces).find((pattern) => !pattern.endsWith('*')) ?? 'default';
