import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/**
 * Writes the JSON schemas of the kinds that manifests/ and charts/ use, as the API server that `KUBECONFIG` names has them, one line a
 * kind under the name by which kubeconform asks for it. Unknown fields are errors there, as kubectl has them.
 *
 * Usage: KUBECONFIG=… tsx scripts/record-schemas.ts
 */
const FILE = 'test/fixtures/kubernetes-schemas.ndjson';
const KINDS = new Map([
  ['ClusterRole', 'rbac.authorization.k8s.io'],
  ['ClusterRoleBinding', 'rbac.authorization.k8s.io'],
  ['ConfigMap', ''],
  ['Deployment', 'apps'],
  ['Ingress', 'networking.k8s.io'],
  ['Job', 'batch'],
  ['Namespace', ''],
  ['NetworkPolicy', 'networking.k8s.io'],
  ['Pod', ''],
  ['PodDisruptionBudget', 'policy'],
  ['PriorityClass', 'scheduling.k8s.io'],
  ['Role', 'rbac.authorization.k8s.io'],
  ['RoleBinding', 'rbac.authorization.k8s.io'],
  ['Secret', ''],
  ['Service', ''],
  ['ServiceAccount', ''],
]);

interface Definition {
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
}

const raw = execFileSync('kubectl', ['get', '--raw', '/openapi/v2'], { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
const { definitions } = JSON.parse(raw) as { definitions: Readonly<Record<string, Definition>> };

/** Without descriptions; closed to unknown fields; whole numbers or text where Kubernetes takes both. */
function strict(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strict);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(
    ([key, part]) => !key.startsWith('x-kubernetes') && !(key === 'description' && typeof part === 'string'),
  );
  const one: Record<string, unknown> = Object.fromEntries(kept.map(([key, part]) => [key, strict(part)]));
  if ('properties' in one && !('additionalProperties' in one)) one.additionalProperties = false;
  if (one.format === 'int-or-string') return { oneOf: [{ type: 'string' }, { type: 'integer' }] };
  return one;
}

function reachable(name: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const [, next] of JSON.stringify(definitions[name]).matchAll(/"#\/definitions\/([^"]+)"/g))
    reachable(next ?? '', seen);
  return seen;
}

const lines = [...KINDS].map(([kind, group]) => {
  const found = Object.entries(definitions).find(([, { 'x-kubernetes-group-version-kind': named = [] }]) =>
    named.some((one) => one.kind === kind && one.group === group && one.version === 'v1'),
  );
  if (!found) throw new Error(`the cluster has no v1 ${kind} of the group "${group}"`);
  const parts = [...reachable(found[0])].toSorted().map((name) => [name, strict(definitions[name])] as const);
  const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
  const own = Object.fromEntries(
    parts.map(([name, part]) => [name, name === quantity ? { type: ['string', 'number'] } : part]),
  );
  const [first] = group.split('.');
  const name = [kind.toLowerCase(), ...(first ? [first] : []), 'v1'].join('-');
  return JSON.stringify({ name, schema: { $ref: `#/definitions/${found[0]}`, definitions: own } });
});
writeFileSync(FILE, `${lines.join('\n')}\n`);
console.log(`wrote ${FILE}: ${lines.length} kinds`);
