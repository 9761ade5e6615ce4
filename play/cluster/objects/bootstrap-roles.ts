import type { PolicyRule, Subject } from './rbac.ts';
import { type BindingObject, RBAC_GROUP, RBAC_VERSION, type RbacObject, type RoleObject } from './rbac.ts';

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const HEALTH = ['/healthz', '/livez', '/readyz', '/version', '/version/'];

const core = (resources: readonly string[], verbs: readonly string[]): PolicyRule => ({
  apiGroups: [''],
  resources,
  verbs,
});

const VIEW = [core(['pods', 'pods/log', 'pods/status', 'events', 'namespaces', 'namespaces/status'], READ)];
/** Neither `edit` nor `admin` may touch `pods/ephemeralcontainers`: so it is on a real cluster (Kubernetes 1.34). */
const EDIT = [core(['pods', 'events'], WRITE), core(['serviceaccounts'], ['impersonate']), ...VIEW];
const ADMIN = [...EDIT, { apiGroups: [RBAC_GROUP], resources: ['rolebindings', 'roles'], verbs: [...READ, ...WRITE] }];

/** What every cluster is born with, as far as this one has the resources (kube-apiserver's bootstrap policy). */
const ROLES: Readonly<Record<string, readonly PolicyRule[]>> = {
  'cluster-admin': [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  ],
  admin: ADMIN,
  edit: EDIT,
  view: VIEW,
  'system:basic-user': [
    {
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      verbs: ['create'],
    },
    { apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] },
  ],
  'system:discovery': [
    { nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*', ...HEALTH], verbs: ['get'] },
  ],
  'system:public-info-viewer': [{ nonResourceURLs: HEALTH, verbs: ['get'] }],
};

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'cluster-admin': ['system:masters'],
  'system:basic-user': ['system:authenticated'],
  'system:discovery': ['system:authenticated'],
  'system:public-info-viewer': ['system:authenticated', 'system:unauthenticated'],
};

/** `newUid` gives each object an identity of its own. */
export function bootstrapRoles(now: string, newUid: () => string): readonly RbacObject[] {
  const metadata = (name: string) => ({
    name,
    uid: newUid(),
    creationTimestamp: now,
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
  });
  const roles = Object.entries(ROLES).map(
    ([name, rules]): RoleObject => ({ kind: 'ClusterRole', apiVersion: RBAC_VERSION, metadata: metadata(name), rules }),
  );
  const bindings = Object.entries(GROUPS).map(
    ([name, groups]): BindingObject => ({
      kind: 'ClusterRoleBinding',
      apiVersion: RBAC_VERSION,
      metadata: metadata(name),
      subjects: groups.map((group): Subject => ({ apiGroup: RBAC_GROUP, kind: 'Group', name: group })),
      roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name },
    }),
  );
  return [...roles, ...bindings];
}
