import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1ClusterRole, V1ClusterRoleBinding, V1Role, V1RoleBinding } from '@kubernetes/client-node';
import { kubectl, STATE } from './commands.ts';

const ACCOUNT = 'system:serviceaccount:kdebug:kdebug';
/** What every account may ask and every client asks: which versions and resources there are. */
const DISCOVERY = /^nonresource/;

interface AuditEntry {
  readonly requestReceivedTimestamp: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string; readonly extra?: Record<string, readonly string[]> };
  readonly objectRef?: { readonly apiGroup?: string; readonly resource?: string; readonly subresource?: string };
  readonly responseStatus?: { readonly code?: number };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What the bot's account asked the API server since a moment: "resource verb", and what it was not allowed. */
export interface Used {
  readonly verbs: ReadonlySet<string>;
  readonly refused: ReadonlySet<string>;
}

/** Reads the API server's own audit log. */
export function usedSince(ms: number): Used {
  const [verbs, refused] = [new Set<string>(), new Set<string>()];
  for (const line of readFileSync(join(STATE, 'audit.log'), 'utf8').split('\n')) {
    if (!line.includes(ACCOUNT)) continue;
    const entry = JSON.parse(line) as AuditEntry;
    if (entry.user.username !== ACCOUNT || Date.parse(entry.requestReceivedTimestamp) < ms) continue;
    for (const right of rightsFor(entry)) {
      if (DISCOVERY.test(right)) continue;
      verbs.add(right);
      if (entry.responseStatus?.code === 403 && !isStarting(entry)) refused.add(right);
    }
  }
  return { verbs, refused };
}

/** An API server that has just started refuses what it does not know yet: its bindings name roles that it has not read. */
function isStarting({ annotations }: AuditEntry): boolean {
  return /^RBAC: .*"kdebug" not found/.test(annotations?.['authorization.k8s.io/reason'] ?? '');
}

function rightsFor({ verb, objectRef, impersonatedUser }: AuditEntry): readonly string[] {
  if (impersonatedUser) {
    const extras = Object.keys(impersonatedUser.extra ?? {}).map((key) => `authentication.k8s.io/userextras/${key}`);
    return ['users', ...extras].map((resource) => `${resource} impersonate`);
  }
  if (!objectRef?.resource) return [`nonresource ${verb}`];
  const { apiGroup, resource, subresource } = objectRef;
  return [`${[apiGroup, resource, subresource].filter(Boolean).join('/')} ${verb}`];
}

type Binding = V1RoleBinding | V1ClusterRoleBinding;

/** All that bindings in the cluster give, as "resource verb": to the bot's account by name, and to every account. */
export async function granted(): Promise<{
  readonly ours: ReadonlySet<string>;
  readonly everybodys: ReadonlySet<string>;
}> {
  const [bindings, roles] = await Promise.all([
    list<Binding>('rolebindings,clusterrolebindings'),
    list<V1Role | V1ClusterRole>('roles,clusterroles'),
  ]);
  const isOurs = ({ subjects }: Binding): boolean =>
    (subjects ?? []).some(
      (one) => one.kind === 'ServiceAccount' && one.name === 'kdebug' && one.namespace === 'kdebug',
    );
  const isEverybodys = ({ subjects }: Binding): boolean =>
    (subjects ?? []).some((one) => one.kind === 'Group' && one.name === 'system:authenticated');
  const rightsOf = ({ roleRef, metadata }: Binding): readonly string[] => {
    const isOf = ({ kind, metadata: own }: V1Role | V1ClusterRole): boolean =>
      kind === roleRef.kind &&
      own?.name === roleRef.name &&
      (kind === 'ClusterRole' || own?.namespace === metadata?.namespace);
    return (roles.find(isOf)?.rules ?? []).flatMap(({ apiGroups, resources, verbs }) =>
      (apiGroups ?? []).flatMap((group) =>
        (resources ?? []).flatMap((resource) =>
          verbs.map((verb) => `${[group, resource].filter(Boolean).join('/')} ${verb}`),
        ),
      ),
    );
  };
  return {
    ours: new Set(bindings.filter(isOurs).flatMap(rightsOf)),
    everybodys: new Set(bindings.filter(isEverybodys).flatMap(rightsOf)),
  };
}

async function list<T>(kinds: string): Promise<readonly T[]> {
  const { items } = JSON.parse(await kubectl(['get', kinds, '-A', '-o', 'json'])) as { items: readonly T[] };
  return items;
}
