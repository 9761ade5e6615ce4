import { expect, it } from 'vitest';
import { aPod } from '../../support/builders.ts';
import { oneCluster } from './support/one-cluster.ts';
import { json, refusal } from './support/scripted-api-server.ts';

const now = oneCluster();
const OWN = /\/replicasets\/web-2$/;
const LIST = /\/replicasets$/;

const POD = aPod({
  metadata: {
    namespace: 'shop',
    name: 'web-2-abcde',
    ownerReferences: [{ kind: 'ReplicaSet', name: 'web-2', controller: true }],
  },
});

interface Parts {
  readonly uid?: string;
  readonly kind?: string;
  readonly revision?: string | undefined;
  readonly containers?: readonly object[];
  readonly initContainers?: readonly object[];
}

const aSet = ({
  uid = 'uid-deployment',
  kind = 'Deployment',
  revision = '42',
  containers,
  initContainers,
}: Parts = {}) => ({
  metadata: {
    uid: 'uid-set',
    annotations: { 'deployment.kubernetes.io/revision': revision },
    ownerReferences: [
      { kind: 'Other', name: 'nobody', uid: 'u' },
      { kind, name: 'web', uid, controller: true },
    ],
  },
  spec: {
    selector: { matchLabels: { app: 'web', tier: 'front', 'pod-template-hash': '2' } },
    template: { spec: { containers: containers ?? [{ name: 'app', image: `shop:${revision}` }], initContainers } },
  },
});

const found = () => now().cluster.revisions(POD, 'app');

it('reads the image that each revision of the pod’s Deployment gives a container', async () => {
  const { server } = now();
  server.once(OWN, json(200, aSet()));
  const items = [
    aSet(),
    aSet({
      revision: '41',
      containers: [
        { name: 'proxy', image: 'proxy:1' },
        { name: 'app', image: 'shop@sha256:1' },
      ],
    }),
    aSet({ revision: '40', containers: [{ name: 'web', image: 'shop:1' }] }),
    aSet({ revision: '39', containers: [], initContainers: [{ name: 'app', image: 'shop:0' }] }),
  ];
  server.once(LIST, json(200, { items }));
  expect(await found()).toEqual({
    kind: 'revisions',
    deployment: 'web',
    own: 42,
    all: [
      { number: 42, image: 'shop:42' },
      { number: 41, image: 'shop@sha256:1' },
      { number: 40, image: undefined },
      { number: 39, image: 'shop:0' },
    ],
  });
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/apis/apps/v1/namespaces/shop/replicasets/web-2',
    '/apis/apps/v1/namespaces/shop/replicasets',
  ]);
  expect(server.requests[1]?.query).toEqual({ labelSelector: 'app=web,tier=front' });
});

it('counts no ReplicaSet of another, however it calls itself', async () => {
  const { server } = now();
  server.once(OWN, json(200, aSet()));
  const forged = [
    aSet({ revision: '41', uid: 'uid-other' }),
    aSet({ revision: '41', kind: 'Rollout' }),
    { ...aSet({ revision: '41' }), metadata: { annotations: { 'deployment.kubernetes.io/revision': '41' } } },
    aSet({ revision: '4e1' }),
    aSet({ revision: '-1' }),
  ];
  server.once(LIST, json(200, { items: [...forged, aSet()] }));
  expect(await found()).toMatchObject({ all: [{ number: 42, image: 'shop:42' }] });
});

it.each([
  ['its ReplicaSet is gone', json(404, { kind: 'Status' })],
  ['its ReplicaSet is of no Deployment', json(200, aSet({ kind: 'Rollout' }))],
  ['its ReplicaSet has no number', json(200, aSet({ revision: '' }))],
])('finds none where %s', async (_, answer) => {
  now().server.once(OWN, answer);
  expect(await found()).toEqual({ kind: 'none' });
});

it.each(['StatefulSet', 'DaemonSet', 'Job'])(
  'asks nothing about the pod of a %s, nor about one alone',
  async (kind) => {
    const { server, cluster } = now();
    const ownerReferences = [{ kind, name: 'web-2', controller: true }];
    expect(await cluster.revisions(aPod({ metadata: { ownerReferences } }), 'app')).toEqual({ kind: 'none' });
    expect(await cluster.revisions(aPod(), 'app')).toEqual({ kind: 'none' });
    expect(server.requests).toEqual([]);
  },
);

it('names the right that is missing, and asks again at once', async () => {
  const { server } = now();
  server.once(OWN, refusal(403, 'Forbidden'));
  expect(await found()).toEqual({ kind: 'no-right', right: 'get replicasets.apps' });
  server.once(OWN, json(200, aSet()));
  server.once(LIST, refusal(403, 'Forbidden'));
  expect(await found()).toEqual({ kind: 'no-right', right: 'list replicasets.apps' });
});

it.each([
  [
    'a starting API server',
    OWN,
    json(403, { message: 'RBAC: role.rbac.authorization.k8s.io "kdebug" not found' }),
    'cluster_forbidden',
  ],
  ['a server in trouble', OWN, refusal(500, 'InternalError'), 'cluster_failed'],
  ['a list that fails', LIST, refusal(500, 'InternalError'), 'cluster_failed'],
  ['an answer that is no list', LIST, json(200, {}), 'cluster_failed'],
])('concludes nothing from %s', async (_, path, answer, code) => {
  const { server } = now();
  if (path === LIST) server.once(OWN, json(200, aSet()));
  server.once(path, answer);
  await expect(found()).rejects.toMatchObject({ code });
});
