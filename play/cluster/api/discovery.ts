import { storedResources } from '../stored/kinds.ts';
import { openapiOf } from './openapi.ts';
import type { Route } from './route.ts';

const verbs = (...list: string[]) => list;

const CORE = [
  { name: 'events', singularName: 'event', namespaced: true, kind: 'Event', verbs: verbs('list'), shortNames: ['ev'] },
  {
    name: 'namespaces',
    singularName: 'namespace',
    namespaced: false,
    kind: 'Namespace',
    verbs: verbs('create', 'delete', 'get', 'list', 'patch'),
    shortNames: ['ns'],
  },
  {
    name: 'nodes',
    singularName: 'node',
    namespaced: false,
    kind: 'Node',
    verbs: verbs('get', 'list'),
    shortNames: ['no'],
  },
  {
    name: 'pods',
    singularName: 'pod',
    namespaced: true,
    kind: 'Pod',
    verbs: verbs('create', 'delete', 'get', 'list', 'patch', 'watch'),
    shortNames: ['po'],
    categories: ['all'],
  },
  { name: 'pods/ephemeralcontainers', singularName: '', namespaced: true, kind: 'Pod', verbs: verbs('get', 'patch') },
  { name: 'pods/log', singularName: '', namespaced: true, kind: 'Pod', verbs: verbs('get') },
  ...storedResources(''),
];

const REVIEWS = [
  {
    name: 'selfsubjectaccessreviews',
    singularName: 'selfsubjectaccessreview',
    namespaced: false,
    kind: 'SelfSubjectAccessReview',
    verbs: verbs('create'),
  },
  {
    name: 'subjectaccessreviews',
    singularName: 'subjectaccessreview',
    namespaced: false,
    kind: 'SubjectAccessReview',
    verbs: verbs('create'),
  },
];

const SELF = [
  {
    name: 'selfsubjectreviews',
    singularName: 'selfsubjectreview',
    namespaced: false,
    kind: 'SelfSubjectReview',
    verbs: verbs('create'),
  },
];

const rbac = (name: string, kind: string) => ({
  name,
  singularName: kind.toLowerCase(),
  namespaced: !kind.startsWith('Cluster'),
  kind,
  verbs: verbs('create', 'delete', 'get', 'list', 'patch', 'update'),
});

const RBAC = [
  rbac('clusterrolebindings', 'ClusterRoleBinding'),
  rbac('clusterroles', 'ClusterRole'),
  rbac('rolebindings', 'RoleBinding'),
  rbac('roles', 'Role'),
];

function group(name: string): object {
  const version = { groupVersion: `${name}/v1`, version: 'v1' };
  return { name, versions: [version], preferredVersion: version };
}

const groupItself = (name: string): object => ({ kind: 'APIGroup', apiVersion: 'v1', ...group(name) });

const resourceList = (name: string, resources: readonly object[]): object => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${name}/v1`,
  resources,
});

const AUTHENTICATION = 'authentication.k8s.io';
const AUTHORIZATION = 'authorization.k8s.io';
const RBAC_GROUP = 'rbac.authorization.k8s.io';
/** Groups of which objects are kept and shown, no more. */
const STORED_GROUPS = ['apps', 'batch', 'discovery.k8s.io', 'storage.k8s.io'];

/** The paths that name no object: version, health and discovery (the plain kind, which every client falls back to). */
const PATHS: Readonly<Record<string, object>> = {
  '/version': {
    major: '1',
    minor: '34',
    gitVersion: 'v1.34.4',
    gitCommit: 'kdebug-local-cluster',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'go1.24',
    compiler: 'gc',
    platform: 'linux/amd64',
  },
  '/api': { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] },
  '/api/v1': { kind: 'APIResourceList', groupVersion: 'v1', resources: CORE },
  '/apis': {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: [group(AUTHENTICATION), group(AUTHORIZATION), group(RBAC_GROUP), ...STORED_GROUPS.map(group)],
  },
  [`/apis/${AUTHENTICATION}`]: groupItself(AUTHENTICATION),
  [`/apis/${AUTHENTICATION}/v1`]: resourceList(AUTHENTICATION, SELF),
  [`/apis/${AUTHORIZATION}`]: groupItself(AUTHORIZATION),
  [`/apis/${AUTHORIZATION}/v1`]: resourceList(AUTHORIZATION, REVIEWS),
  [`/apis/${RBAC_GROUP}`]: groupItself(RBAC_GROUP),
  [`/apis/${RBAC_GROUP}/v1`]: resourceList(RBAC_GROUP, RBAC),
  ...Object.fromEntries(
    STORED_GROUPS.flatMap((name) => [
      [`/apis/${name}`, groupItself(name)],
      [`/apis/${name}/v1`, resourceList(name, storedResources(name))],
    ]),
  ),
};

/** Paths that clients probe for and do without: a plain 404 is the proper answer, not a gap. */
const PROBED = ['/openapi/'];

export const HEALTH = new Set(['/livez', '/readyz', '/healthz']);

export function discoveryOf(route: Route): object | undefined {
  return PATHS[route.path] ?? openapiOf(route.path);
}

export const isProbed = (route: Route): boolean => PROBED.some((path) => route.path.startsWith(path));
