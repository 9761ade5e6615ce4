import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../cluster/index.ts';
import { Client } from './client.ts';

const PODS = '/api/v1/namespaces/default/pods';
const REVIEWS = '/apis/authorization.k8s.io/v1';
const BOT = 'system:serviceaccount:kdebug:bot';

let cluster: LocalCluster;
let client: Client;

beforeAll(async () => {
  cluster = await startLocalCluster({ kubeletDelayMs: 0 });
  client = new Client(cluster);
  cluster.addPod({ name: 'a' });
  const impersonate = (apiGroups: string[], resources: string[], resourceNames: string[]) => ({
    apiGroups,
    resources,
    verbs: ['impersonate'],
    resourceNames,
  });
  cluster.apply(
    {
      kind: 'ClusterRole',
      metadata: { name: 'kdebug-impersonate' },
      rules: [
        impersonate([''], ['users'], ['slack:U1']),
        impersonate([''], ['groups'], ['kdebug:C1']),
        impersonate(['authentication.k8s.io'], ['userextras/slack-user'], ['U1']),
        impersonate([''], ['userextras/wrong-group'], ['U1']),
      ],
    },
    {
      kind: 'ClusterRoleBinding',
      metadata: { name: 'kdebug-impersonate' },
      roleRef: { kind: 'ClusterRole', name: 'kdebug-impersonate' },
      subjects: [{ kind: 'ServiceAccount', name: 'bot', namespace: 'kdebug' }],
    },
    {
      kind: 'RoleBinding',
      metadata: { name: 'view', namespace: 'default' },
      roleRef: { kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'Group', name: 'kdebug:C1' }],
    },
  );
  const kubeconfig = cluster.kubeconfigForServiceAccount('kdebug', 'bot');
  client.as(/token: "(\w+)"/.exec(kubeconfig)?.[1] ?? '');
});

beforeEach(() => cluster.requests.clear());

afterAll(async () => {
  await client.close();
  await cluster.stop();
});

const review = async (spec: object, headers = {}, kind = 'selfsubjectaccessreviews') =>
  (await client.call('POST', `${REVIEWS}/${kind}`, { spec }, { 'content-type': 'application/json', ...headers })).json;

describe('to act as somebody', () => {
  it('needs every name, and is then that person and nobody else', async () => {
    const person = {
      'impersonate-user': 'slack:U1',
      'impersonate-group': ['kdebug:C1'],
      'impersonate-extra-slack-user': 'U1',
    };
    const allowed = await client.get(`${PODS}/a`, person);
    const { 'impersonate-group': _, ...alone } = person;
    const refused = await client.get(`${PODS}/a`, alone);
    expect([allowed.status, refused.json.message]).toEqual([
      200,
      'pods "a" is forbidden: User "slack:U1" cannot get resource "pods" in API group "" in the namespace "default"',
    ]);
    expect(cluster.requests.find({ user: 'slack:U1', status: 200 })).toMatchObject([
      {
        impersonatedBy: BOT,
        groups: ['kdebug:C1', 'system:authenticated'],
        extra: { 'slack-user': ['U1'] },
      },
    ]);
  });

  it.each([
    ['another user', { 'impersonate-user': 'slack:U2' }, 'users "slack:U2"', 'users', '""', 'at the cluster scope'],
    [
      'the admin group',
      { 'impersonate-group': 'system:masters' },
      'groups "system:masters"',
      'groups',
      '""',
      'at the cluster scope',
    ],
    [
      'an extra of another value',
      { 'impersonate-extra-slack-user': 'U2' },
      'userextras.authentication.k8s.io "U2"',
      'userextras/slack-user',
      '"authentication.k8s.io"',
      'at the cluster scope',
    ],
    [
      'an extra granted in the wrong API group',
      { 'impersonate-extra-wrong-group': 'U1' },
      'userextras.authentication.k8s.io "U1"',
      'userextras/wrong-group',
      '"authentication.k8s.io"',
      'at the cluster scope',
    ],
    [
      'a uid',
      { 'impersonate-uid': '1' },
      'uids.authentication.k8s.io "1"',
      'uids',
      '"authentication.k8s.io"',
      'at the cluster scope',
    ],
    [
      'a service account',
      { 'impersonate-user': 'system:serviceaccount:shop:x' },
      'serviceaccounts "x"',
      'serviceaccounts',
      '""',
      'in the namespace "shop"',
    ],
  ])('is refused for %s, in the real words', async (_what, headers, what, resource, group, scope) => {
    const { status, json } = await client.get('/version', { 'impersonate-user': 'slack:U1', ...headers });
    expect([status, json.reason]).toEqual([403, 'Forbidden']);
    expect(json.message).toBe(
      `${what} is forbidden: User "${BOT}" cannot impersonate resource "${resource}" in API group ${group} ${scope}`,
    );
    expect(cluster.requests.find({ status: 403 })).toMatchObject([{ user: BOT, impersonatedBy: '' }]);
  });

  it('takes a user: groups alone are an error of the server’s filter, in plain text', async () => {
    const { status, text } = await client.get(PODS, { 'impersonate-group': ['g'] });
    expect(status).toBe(500);
    expect(text).toBe(`Internal Server Error: "${PODS}": requested [{Group  g    }] without impersonating a user\n`);
  });

  it.each([
    ['roy', undefined, ['system:authenticated']],
    ['roy', ['a,b', 'c'], ['a,b', 'c', 'system:authenticated']],
    ['roy', ['system:unauthenticated'], ['system:unauthenticated']],
    ['system:anonymous', undefined, ['system:unauthenticated']],
    [
      'system:serviceaccount:n:s',
      undefined,
      ['system:serviceaccounts', 'system:serviceaccounts:n', 'system:authenticated'],
    ],
    ['system:serviceaccount:n:s', ['q'], ['q', 'system:authenticated']],
  ])('makes %s of groups %j a member of %j', async (user, groups, expected) => {
    const admin = new Client(cluster);
    await admin.get('/version', { 'impersonate-user': user, ...(groups ? { 'impersonate-group': groups } : {}) });
    await admin.close();
    expect(cluster.requests.find({ user })[0]?.groups).toEqual(expected);
  });
});

describe('access reviews', () => {
  const resourceAttributes = { namespace: 'default', verb: 'get', resource: 'pods' };
  const person = { 'impersonate-user': 'slack:U1', 'impersonate-group': 'kdebug:C1' };

  it('answer for oneself and for the impersonated, with the grant that made it', async () => {
    expect((await review({ resourceAttributes })).status).toEqual({ allowed: false });
    const told = await review({ resourceAttributes }, person);
    expect(told).toMatchObject({
      spec: { resourceAttributes },
      status: {
        allowed: true,
        reason: 'RBAC: allowed by RoleBinding "view/default" of ClusterRole "view" to Group "kdebug:C1"',
      },
    });
  });

  it('answer for others to those who may ask', async () => {
    const spec = { user: 'slack:U9', groups: ['kdebug:C1'], resourceAttributes };
    const refused = await review(spec, {}, 'subjectaccessreviews');
    expect(refused.message).toContain(`User "${BOT}" cannot create resource "subjectaccessreviews"`);
    const admin = new Client(cluster);
    const headers = { 'content-type': 'application/json' };
    const { json } = await admin.call('POST', `${REVIEWS}/subjectaccessreviews`, { spec }, headers);
    const masters = { ...spec, groups: ['system:masters'] };
    const { json: plain } = await admin.call('POST', `${REVIEWS}/subjectaccessreviews`, { spec: masters }, headers);
    await admin.close();
    expect([json.status.allowed, plain.status]).toEqual([true, { allowed: true }]);
  });

  it('agree with what the request then gets', async () => {
    for (const verb of ['get', 'delete']) {
      const { status } = await review({ resourceAttributes: { ...resourceAttributes, verb, name: 'a' } }, person);
      const method = verb === 'get' ? 'GET' : 'DELETE';
      const reply = await client.call(method, `${PODS}/a?dryRun=All`, undefined, person);
      expect(reply.status).toBe(status.allowed ? 200 : 403);
    }
  });

  it('tell of a path, and refuse a question that is none or two', async () => {
    const path = { path: '/metrics', verb: 'get' };
    expect((await review({ nonResourceAttributes: path })).status).toEqual({ allowed: false });
    expect((await review({})).message).toBe(
      '.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    );
    expect((await review({ resourceAttributes, nonResourceAttributes: path })).details.causes[0]).toMatchObject({
      reason: 'FieldValueInvalid',
      field: 'spec.nonResourceAttributes',
    });
  });

  it('are not for the anonymous', async () => {
    const nobody = new Client(cluster).as('');
    const { status } = await nobody.call('POST', `${REVIEWS}/selfsubjectaccessreviews`, {
      spec: { resourceAttributes },
    });
    await nobody.close();
    expect(status).toBe(403);
  });
});
