import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../cluster/index.ts';
import { Client } from './client.ts';

let cluster: LocalCluster;
let client: Client;

const PODS = '/api/v1/namespaces/default/pods';

beforeAll(async () => {
  cluster = await startLocalCluster({ kubeletDelayMs: 0 });
  client = new Client(cluster);
  cluster.addPod({ name: 'a' });
});

beforeEach(() => {
  client.as(cluster.adminToken);
  cluster.authorizer.setRules([]);
  cluster.faults.clear();
});

afterAll(async () => {
  await client.close();
  await cluster.stop();
});

describe('who may', () => {
  it('a wrong token is unauthorized, no token is the anonymous user', async () => {
    const wrong = await client.as('wrong').get(PODS);
    const none = await client.as('').get(PODS);
    expect([wrong.status, wrong.json.reason]).toEqual([401, 'Unauthorized']);
    expect(none.json.message).toBe(
      'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "default"',
    );
  });

  it('a token can be revoked in the middle', async () => {
    cluster.tokens.set('short', 'short-lived', ['system:masters']);
    const before = await client.as('short').get(PODS);
    cluster.tokens.revoke('short');
    expect([before.status, (await client.get(PODS)).status]).toEqual([200, 401]);
  });

  it('somebody without rights is refused by name, with the subresource', async () => {
    cluster.tokens.set('roy', 'roy');
    const { status, json } = await client.as('roy').launch('a', []);
    expect(status).toBe(403);
    expect(json.message).toBe(
      'pods "a" is forbidden: User "roy" cannot patch resource "pods/ephemeralcontainers" in API group "" in the namespace "default"',
    );
    expect(json.details).toEqual({ name: 'a', kind: 'pods' });
  });

  it('a rule allows what it names and no more', async () => {
    cluster.tokens.set('roy', 'roy', ['shop']);
    cluster.authorizer.setRules([
      { group: 'shop', verbs: ['get', 'list'], resources: ['pods'], namespaces: ['default'] },
    ]);
    client.as('roy');
    expect([(await client.get(PODS)).status, (await client.log('a', 'app')).status]).toEqual([200, 403]);
  });
});

describe('requests', () => {
  it('that are not known fail loudly and can be asserted', async () => {
    cluster.requests.clear();
    const { status, json } = await client.get('/apis/example.com/v1/namespaces/default/widgets/web');
    expect([status, json.reason, json.details]).toEqual([404, 'NotFound', {}]);
    expect(cluster.requests.unknown().map(({ url }) => url)).toEqual([
      '/apis/example.com/v1/namespaces/default/widgets/web',
    ]);
  });

  it('that name an object which is not there have its name in the details', async () => {
    expect((await client.get(`${PODS}/nope`)).json.details).toEqual({ name: 'nope', kind: 'pods' });
    expect((await client.get('/api/v1/namespaces/nons')).json.details).toEqual({ name: 'nons', kind: 'namespaces' });
  });

  it('are counted for ever', async () => {
    const before = cluster.requests.total;
    await client.get(PODS);
    cluster.requests.clear();
    expect(cluster.requests.total).toBe(before + 1);
  });
});

describe('faults', () => {
  it.each([429, 500, 503])('status %i with Retry-After, as often as asked', async (status) => {
    cluster.faults.queue({ kind: 'status', status, retryAfterSeconds: 2, times: 2, match: { verb: 'get' } });
    const answers = [await client.get(`${PODS}/a`), await client.get(`${PODS}/a`), await client.get(`${PODS}/a`)];
    expect(answers.map((answer) => answer.status)).toEqual([status, status, 200]);
    expect(answers[0]?.json.details.retryAfterSeconds).toBe(2);
  });

  it('a reset before does nothing, a reset after has done it', async () => {
    const match = { resource: 'pods/ephemeralcontainers' };
    cluster.faults.queue({ kind: 'reset-before', match });
    await expect(client.launch('a', [{ name: 'before', image: 'busybox' }])).rejects.toThrow();
    cluster.faults.queue({ kind: 'reset-after-commit', match });
    await expect(client.launch('a', [{ name: 'after', image: 'busybox' }])).rejects.toThrow();
    const names = cluster.pod('default', 'a')?.spec.ephemeralContainers?.map(({ name }) => name);
    expect(names).toEqual(['after']);
    expect(cluster.faults.waiting).toBe(0);
  });

  it('a request that hangs is not done, one that is delayed is', async () => {
    cluster.faults.queue({ kind: 'hang', match: { resource: 'nodes' } });
    cluster.faults.queue({ kind: 'delay', ms: 5, match: { path: '/pods/a' } });
    const hung = client.get('/api/v1/nodes').catch(() => 'cut');
    const delayed = await client.get(`${PODS}/a`);
    cluster.dropConnections();
    expect([await hung, delayed.status]).toEqual(['cut', 200]);
  });
});
