import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../cluster/index.ts';
import { Client } from './client.ts';

let cluster: LocalCluster;
let client: Client;

beforeAll(async () => {
  cluster = await startLocalCluster({ kubeletDelayMs: 0 });
  client = new Client(cluster);
});

afterAll(async () => {
  await client.close();
  await cluster.stop();
});

const made = async (name: string, metadata: object) => {
  const spec = { containers: [{ name: 'app', image: 'localhost/busybox:1' }] };
  await client.call(
    'POST',
    '/api/v1/namespaces/default/pods',
    { metadata: { name, ...metadata }, spec },
    { 'content-type': 'application/json' },
  );
  return (await client.get(`/api/v1/namespaces/default/pods/${name}`)).json.metadata;
};

it('a pod keeps the owners that it is made with', async () => {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: 'uid-1' };
  const ownerReferences = [{ ...owner, controller: true }, owner];
  expect((await made('web', { ownerReferences })).ownerReferences).toEqual([
    { ...owner, controller: true },
    { ...owner, controller: false },
  ]);
  expect(await made('alone', {})).not.toHaveProperty('ownerReferences');
});
