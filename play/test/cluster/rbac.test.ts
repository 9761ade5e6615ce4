import { KubeConfig, RbacAuthorizationV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../cluster/index.ts';
import { Client, type Reply } from './client.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const PODS = '/api/v1/namespaces/shop/pods';
const JSON_TYPE = { 'content-type': 'application/json' };

let cluster: LocalCluster;
let client: Client;

const user = (name: string) => ({ kind: 'User', name });
const role = (name: string, rules: readonly object[], namespace = 'shop') => ({
  kind: 'Role',
  metadata: { name, namespace },
  rules,
});
const clusterRole = (name: string, rules: readonly object[]) => ({ kind: 'ClusterRole', metadata: { name }, rules });
const binding = (name: string, roleRef: object, ...subjects: object[]) => ({
  kind: 'RoleBinding',
  metadata: { name, namespace: 'shop' },
  roleRef,
  subjects,
});
const pods = (verbs: readonly string[], more: object = {}) => ({
  apiGroups: [''],
  resources: ['pods'],
  verbs,
  ...more,
});

beforeAll(async () => {
  cluster = await startLocalCluster({ kubeletDelayMs: 0 });
  client = new Client(cluster);
  for (const name of ['a', 'b']) cluster.addPod({ name, namespace: 'shop' });
  cluster.addNamespace('other');
  cluster.apply(
    role('look', [pods(['get', 'list'], { resourceNames: ['a'] })]),
    binding('look', { kind: 'Role', name: 'look' }, user('roy'), { kind: 'ServiceAccount', name: 'bot' }),
    clusterRole('debug', [{ apiGroups: [''], resources: ['*/ephemeralcontainers'], verbs: ['*'] }]),
    binding('debug', { kind: 'ClusterRole', name: 'debug' }, { kind: 'Group', name: 'oncall' }),
    binding('lost', { kind: 'ClusterRole', name: 'gone' }, user('ginger')),
    role('spaces', [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get'] }]),
    binding('spaces', { kind: 'Role', name: 'spaces' }, user('spacer')),
    clusterRole('metrics', [{ nonResourceURLs: ['/metrics*'], verbs: ['get'] }]),
    {
      kind: 'ClusterRoleBinding',
      metadata: { name: 'metrics' },
      roleRef: { kind: 'ClusterRole', name: 'metrics' },
      subjects: [user('prometheus')],
    },
  );
});

afterAll(async () => {
  await client.close();
  await cluster.stop();
});

const as = (name: string, ...groups: string[]) => ({ 'impersonate-user': name, 'impersonate-group': groups });
const post = (path: string, body: object, headers = {}): Promise<Reply> =>
  client.call('POST', `${RBAC}${path}`, body, { ...JSON_TYPE, ...headers });

describe('what somebody may', () => {
  it.each([
    ['a named pod', 'roy', `${PODS}/a`, 200],
    ['another name', 'roy', `${PODS}/b`, 403],
    ['a list, where names are given', 'roy', PODS, 403],
    ['a list of that one name', 'roy', `${PODS}?fieldSelector=metadata.name%3Da`, 200],
    ['a subresource of what is granted', 'roy', `${PODS}/a/log`, 403],
    ['the same in another namespace', 'roy', '/api/v1/namespaces/other/pods/a', 403],
    ['nobody without a binding', 'thurston', `${PODS}/a`, 403],
    ['a service account, by its name in the namespace', 'system:serviceaccount:shop:bot', `${PODS}/a`, 200],
    ['a service account of the same name elsewhere', 'system:serviceaccount:other:bot', `${PODS}/a`, 403],
    ['a namespace by a role in it', 'spacer', '/api/v1/namespaces/shop', 200],
    ['another namespace by that role', 'spacer', '/api/v1/namespaces/other', 403],
    ['discovery, for everybody who is known', 'thurston', '/apis', 200],
    ['discovery, for the anonymous', 'system:anonymous', '/apis', 403],
    ['the version, for the anonymous', 'system:anonymous', '/version', 200],
    ['a path by a prefix', 'prometheus', '/metrics/x', 404],
    ['a path without a grant', 'roy', '/metrics', 403],
  ])('%s', async (_what, name, path, status) => {
    expect((await client.get(path, as(name))).status).toBe(status);
  });

  it('covers a subresource of any resource by */NAME, in the binding’s namespace', async () => {
    const patch = (namespace: string) =>
      client.call('PATCH', `/api/v1/namespaces/${namespace}/pods/a/ephemeralcontainers?dryRun=All`, '{}', {
        'content-type': 'application/merge-patch+json',
        ...as('roy', 'oncall'),
      });
    expect([(await patch('shop')).status, (await patch('other')).status]).toEqual([200, 403]);
    expect((await client.get(`${PODS}/b`, as('jo', 'oncall'))).status).toBe(403);
  });

  it('changes with the very next request', async () => {
    expect((await client.get(PODS, as('jo'))).status).toBe(403);
    await post('/clusterroles', clusterRole('any', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]));
    await post('/namespaces/shop/rolebindings', binding('any', { kind: 'ClusterRole', name: 'any' }, user('jo')));
    expect((await client.get(PODS, as('jo'))).status).toBe(200);
    await client.call('DELETE', `${RBAC}/namespaces/shop/rolebindings/any`);
    expect((await client.get(PODS, as('jo'))).status).toBe(403);
  });
});

describe('a refusal, word for word', () => {
  it.each([
    [
      `${PODS}/x/log`,
      'pods "x" is forbidden: User "jo" cannot get resource "pods/log" in API group "" in the namespace "shop"',
      { name: 'x', kind: 'pods' },
    ],
    [
      '/api/v1/pods',
      'pods is forbidden: User "jo" cannot list resource "pods" in API group "" at the cluster scope',
      { kind: 'pods' },
    ],
    [
      `${RBAC}/clusterroles`,
      'clusterroles.rbac.authorization.k8s.io is forbidden: User "jo" cannot list resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope',
      { group: 'rbac.authorization.k8s.io', kind: 'clusterroles' },
    ],
    ['/metrics', 'forbidden: User "jo" cannot get path "/metrics"', {}],
  ])('%s', async (path, message, details) => {
    const { status, json } = await client.get(path, as('jo'));
    expect([status, json.reason, json.message, json.details]).toEqual([403, 'Forbidden', message, details]);
  });

  it('of a patch names the subresource', async () => {
    const path = `${PODS}/x/ephemeralcontainers`;
    const { json } = await client.call('PATCH', path, '{}', { ...as('roy'), 'content-type': 'application/json' });
    expect(json.message).toBe(
      'pods "x" is forbidden: User "roy" cannot patch resource "pods/ephemeralcontainers" in API group "" in the namespace "shop"',
    );
  });

  it('tells of a role that is missing', async () => {
    const { json } = await client.get(PODS, as('ginger'));
    expect(json.message).toMatch(
      /in the namespace "shop": RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found$/,
    );
  });
});

describe('roles and bindings as objects', () => {
  it('work with the official client', async () => {
    const config = new KubeConfig();
    config.loadFromString(cluster.kubeconfig);
    const api = config.makeApiClient(RbacAuthorizationV1Api);
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
    const body = { metadata: { name: 'official', labels: { by: 'client' } }, rules };
    const made = await api.createNamespacedRole({ namespace: 'other', body });
    expect(made).toMatchObject({ kind: 'Role', metadata: { name: 'official', namespace: 'other' }, rules });
    const listed = await api.listNamespacedRole({ namespace: 'other', labelSelector: 'by=client' });
    expect(listed.items.map(({ metadata }) => metadata?.uid)).toEqual([made.metadata?.uid]);
    const replaced = await api.replaceNamespacedRole({
      namespace: 'other',
      name: 'official',
      body: { ...made, rules: [] },
    });
    expect(replaced.metadata?.uid).toBe(made.metadata?.uid);
    expect((await api.deleteNamespacedRole({ namespace: 'other', name: 'official' })).status).toBe('Success');
    await expect(api.readNamespacedRole({ namespace: 'other', name: 'official' })).rejects.toMatchObject({ code: 404 });
  });

  it.each([
    [
      '/namespaces/shop/roles',
      role('r', [pods([])]),
      'rules[0].verbs: Required value: verbs must contain at least one value',
    ],
    [
      '/namespaces/shop/roles',
      role('r', [{ verbs: ['get'] }]),
      '[rules[0].apiGroups: Required value: resource rules must supply at least one api group, rules[0].resources: Required value: resource rules must supply at least one resource]',
    ],
    [
      '/namespaces/shop/roles',
      role('r', [{ verbs: ['get'], nonResourceURLs: ['/x'] }]),
      'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
    ],
    ['/namespaces/shop/roles', role('a/b', []), 'metadata.name: Invalid value: "a/b": may not contain \'/\''],
    [
      '/namespaces/shop/rolebindings',
      binding('b', { kind: 'Foo', name: 'r' }, { kind: 'User' }),
      '[roleRef.kind: Unsupported value: "Foo": supported values: "Role", "ClusterRole", subjects[0].name: Required value]',
    ],
    [
      '/clusterrolebindings',
      {
        metadata: { name: 'b' },
        roleRef: { kind: 'ClusterRole', name: 'r' },
        subjects: [{ kind: 'ServiceAccount', name: 's' }],
      },
      'subjects[0].namespace: Required value',
    ],
  ])('are validated: %s %#', async (path, body, told) => {
    const { status, json } = await post(path, { ...body, kind: undefined });
    expect(status).toBe(422);
    expect(json.message.split(' is invalid: ')[1]).toBe(told);
    expect(json.details.group).toBe('rbac.authorization.k8s.io');
  });

  it('keep the role that they are bound to', async () => {
    const patch = await client.call(
      'PATCH',
      `${RBAC}/namespaces/shop/rolebindings/look`,
      { roleRef: { name: 'q' } },
      {
        'content-type': 'application/merge-patch+json',
      },
    );
    expect(patch.json.message).toBe(
      'RoleBinding.rbac.authorization.k8s.io "look" is invalid: roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"q"}: cannot change roleRef',
    );
  });

  it('exist once, in a namespace that exists, and an outdated write is a conflict', async () => {
    const again = await post('/namespaces/shop/roles', role('look', []));
    const nowhere = await post('/namespaces/nowhere/roles', { metadata: { name: 'r' } });
    const stale = { metadata: { resourceVersion: '1' } };
    const late = await client.call('PATCH', `${RBAC}/namespaces/shop/roles/look`, stale, {
      'content-type': 'application/merge-patch+json',
    });
    expect([again.json.reason, nowhere.json.message, late.json.reason]).toEqual([
      'AlreadyExists',
      'namespaces "nowhere" not found',
      'Conflict',
    ]);
  });

  it('are not made and not removed by a dry run', async () => {
    expect((await post('/clusterroles?dryRun=All', clusterRole('dry', []))).status).toBe(201);
    expect((await client.get(`${RBAC}/clusterroles/dry`)).status).toBe(404);
    expect((await client.call('DELETE', `${RBAC}/clusterroles/debug`, { dryRun: ['All'] }, JSON_TYPE)).status).toBe(
      200,
    );
    expect((await client.get(`${RBAC}/clusterroles/debug`)).status).toBe(200);
  });

  it('go with their namespace', async () => {
    cluster.addNamespace('short');
    cluster.apply(role('r', [], 'short'));
    await client.call('DELETE', '/api/v1/namespaces/short');
    cluster.addNamespace('short');
    expect((await client.get(`${RBAC}/namespaces/short/roles`)).json.items).toEqual([]);
  });

  it('that are wrong cannot be applied by a test either', () => {
    expect(() => cluster.apply(role('r', [{ verbs: ['get'], resource: ['pods'] }]))).toThrow('unknown field');
    expect(() => cluster.apply({ kind: 'Pod' })).toThrow('only roles and bindings');
  });
});
