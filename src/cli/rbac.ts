import { parseArgs } from 'node:util';
import { loadPolicy } from '../config/load-policy.ts';
import { isDnsLabel, isDnsSubdomain } from '../core/container/names.ts';
import { REASONS } from '../core/errors.ts';
import { MORE_FACTS } from '../core/optional-rights.ts';
import { resolveCluster } from '../core/planning/resolve.ts';
import { defined } from '../lib/object.ts';
import { printYaml } from '../lib/yaml.ts';
import { planRbac, type RbacGrant, type RbacOptions, type RbacPlan } from './rbac-objects.ts';

/** `out` takes the YAML, `err` everything else, so that a pipe to kubectl gets only YAML. */
export interface Lines {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
}

const USAGE = `usage: rbac --policy FILE [--cluster NAME] [--namespace kdebug] [--service-account kdebug]
            [--user U… …] [--team T…] [--in NAMESPACE …] [--more-facts]
  --user   a possible requester, for a {userId} template; may be repeated
  --team   the Slack team, for a {teamId} template
  --in     a namespace that a rule's prefix ("shop-*") covers; may be repeated
  --more-facts  also the optional rights to read claims, Services, workloads and StorageClasses`;

/**
 * Prints the RBAC objects that a policy needs in a cluster. Works offline; the same policy and arguments always print
 * the same. Returns the exit code: 0 fine, 1 if a template yields more than the lists can hold, 2 wrong arguments or
 * policy.
 */
export function rbac(words: readonly string[], lines: Lines): number {
  const read = readWords(words);
  if (!read) {
    lines.err(USAGE);
    return 2;
  }
  const loaded = loadPolicy(read.path);
  if (loaded.kind === 'invalid') {
    for (const problem of loaded.problems) lines.err(problem);
    return 2;
  }
  const cluster = resolveCluster(read.cluster, loaded.policy);
  if (cluster.kind === 'deny') {
    lines.err(
      `${REASONS[cluster.code].title}: ${cluster.subject || `one of ${Object.keys(loaded.policy.clusters).join(', ')}`}`,
    );
    return 2;
  }
  const options = { ...read.options, cluster: cluster.cluster };
  const plan = planRbac(loaded.policy, options);
  const warnings = warningsOf(plan);
  for (const line of [...headOf(plan, options), ...warnings.flatMap(loud), ...plan.grants.flatMap(documentsOf)])
    lines.out(line);
  for (const warning of warnings) lines.err(warning);
  return warnings.length > 0 ? 1 : 0;
}

interface Words {
  readonly path: string;
  readonly cluster: string | undefined;
  readonly options: Omit<RbacOptions, 'cluster'>;
}

function readWords(words: readonly string[]): Words | undefined {
  const values = parsed(words);
  if (values?.policy === undefined) return undefined;
  const { policy: path, cluster, namespace = 'kdebug', team, user: people = [], in: namespaces = [] } = values;
  const serviceAccount = values['service-account'] ?? 'kdebug';
  const valid =
    [namespace, ...namespaces].every(isDnsLabel) &&
    isDnsSubdomain(serviceAccount) &&
    people.every((id) => /^[UW][A-Z0-9]{2,20}$/.test(id)) &&
    (team === undefined || /^[TE][A-Z0-9]{2,20}$/.test(team));
  const known = { people, ...defined({ teamId: team }) };
  const hasMoreFacts = values['more-facts'] === true;
  return valid
    ? { path, cluster, options: { ...known, namespace, serviceAccount, namespaces, hasMoreFacts } }
    : undefined;
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        policy: { type: 'string' },
        cluster: { type: 'string' },
        namespace: { type: 'string' },
        'service-account': { type: 'string' },
        user: { type: 'string', multiple: true },
        team: { type: 'string' },
        in: { type: 'string', multiple: true },
        'more-facts': { type: 'boolean' },
      },
    }).values;
  } catch {
    return undefined;
  }
}

const headOf = (
  { identities, prefixes }: RbacPlan,
  { cluster, namespace, serviceAccount, hasMoreFacts }: RbacOptions,
) => [
  `# The rights of kdebug (${namespace}/${serviceAccount}) in the cluster ${cluster}: all that its policy needs there, and no more.`,
  identities
    ? '# It acts as the requesters: it cannot do for them what they may not do themselves.'
    : '# It acts as its own account; only its policy distinguishes people.',
  ...(hasMoreFacts ? MORE_FACTS : []).map(
    ({ what, brings }) => `# Optional, ${what}: without it kdebug cannot say ${brings}.`,
  ),
  ...prefixes.map((prefix) => `# RBAC has no prefixes: of ${prefix}, only the namespaces given with --in are here.`),
];

const warningsOf = ({ identities }: RbacPlan): readonly string[] =>
  (identities?.unbounded ?? []).map(
    (template) =>
      `UNBOUNDED: "${template}" yields a name for everyone in Slack, and RBAC can only list names. Only the names listed here work. ` +
      (template.includes('{teamId}')
        ? 'Name the team with --team.'
        : 'Name the people with --user, or in identity.users of the policy.'),
  );

const loud = (warning: string): readonly string[] => ['#', `# !!! ${warning}`, '#'];

function documentsOf(grant: RbacGrant): readonly string[] {
  const { name, namespace, rules, subjects } = grant;
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  // The label of manifests/, so that everything can be found again and removed.
  const metadata = { name, ...defined({ namespace }), labels: { 'app.kubernetes.io/name': 'kdebug' } };
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name };
  return [
    { apiVersion, kind, metadata, rules },
    { apiVersion, kind: `${kind}Binding`, metadata, roleRef, subjects },
  ].flatMap((document) => ['---', printYaml(document).trimEnd()]);
}
