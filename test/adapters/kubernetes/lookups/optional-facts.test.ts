import { describe, expect, it } from 'vitest';
import { oneCluster } from '../support/one-cluster.ts';
import { type Answer, json, refusal } from '../support/scripted-api-server.ts';

const now = oneCluster();
const list = (...items: object[]) => json(200, { metadata: {}, items });

describe('claims', () => {
  const claim = (name: string, spec: object, more: object = {}) => ({
    metadata: { name, ...more },
    spec,
    status: { phase: 'Pending' },
  });

  it('have their class, volume and size', async () => {
    const { server, cluster } = now();
    const size = { resources: { requests: { storage: '1Gi' } } };
    const old = { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } };
    server.once(
      /persistentvolumeclaims$/,
      list(
        claim('data', { storageClassName: 'fast', volumeName: 'pv-1', ...size }),
        claim('none', { storageClassName: '' }),
        claim('usual', {}),
        claim('older', { storageClassName: 'new' }, old),
      ),
    );
    expect(await cluster.claims('shop')).toEqual([
      { name: 'data', phase: 'Pending', storageClass: 'fast', volumeName: 'pv-1', requested: '1Gi' },
      { name: 'none', phase: 'Pending', storageClass: '' },
      { name: 'usual', phase: 'Pending' },
      { name: 'older', phase: 'Pending', storageClass: 'old' },
    ]);
    expect(server.requests[0]).toMatchObject({ path: '/api/v1/namespaces/shop/persistentvolumeclaims', query: {} });
  });

  it('are undefined without the right, which is asked for again after five minutes', async () => {
    const { server, clock, cluster } = now();
    server.once(/persistentvolumeclaims$/, refusal(403, 'Forbidden'));
    expect(await cluster.claims('shop')).toBeUndefined();
    await clock.advance(299_999);
    expect(await cluster.claims('shop')).toBeUndefined();
    server.once(/persistentvolumeclaims$/, list());
    await clock.advance(1);
    expect(await cluster.claims('shop')).toEqual([]);
  });

  it('fail, and are not remembered, while an API server does not know its roles yet', async () => {
    const { server, cluster } = now();
    const message = 'RBAC: clusterrole.rbac.authorization.k8s.io "kdebug" not found';
    server.once(/persistentvolumeclaims$/, json(403, { kind: 'Status', reason: 'Forbidden', message, code: 403 }));
    await expect(cluster.claims('shop')).rejects.toMatchObject({ code: 'cluster_forbidden', facts: { mayPass: true } });
    server.once(/persistentvolumeclaims$/, list());
    expect(await cluster.claims('shop')).toEqual([]);
  });

  it('fail when the server does', async () => {
    const { server, cluster } = now();
    server.once(/persistentvolumeclaims$/, refusal(500, 'InternalError'));
    await expect(cluster.claims('shop')).rejects.toMatchObject({ code: 'cluster_failed' });
    await expect(cluster.claims('a/b')).rejects.toMatchObject({ code: 'invalid_name' });
  });
});

describe('an answer that is no list', () => {
  it.each([
    ['the page of a proxy', json(200, '<html>')],
    ['an empty object', json(200, {})],
    ['another object', json(200, { kind: 'Status', items: 'none' })],
  ])('says nothing, not that there is nothing: %s', async (_what, answer) => {
    const { server, cluster } = now();
    server.once(/persistentvolumeclaims$/, answer);
    server.once(/services$/, answer);
    server.once(/endpointslices$/, answer);
    server.once(/storageclasses$/, answer);
    server.once(/events$/, answer);
    const reads = [
      cluster.claims('shop'),
      cluster.services('shop'),
      cluster.storageClasses(),
      cluster.warnings('shop', () => true),
    ];
    const ends = await Promise.allSettled(reads);
    expect(ends).toMatchObject(reads.map(() => ({ reason: { code: 'cluster_failed' } })));
  });
});

describe('an answer that does not come to its end', () => {
  const endless: Answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"items":[');
  };

  it('is not waited for by those who ask five seconds later', async () => {
    const { server, clock, cluster } = now();
    server.once(/persistentvolumeclaims$/, endless);
    server.once(/events$/, endless);
    const first = [cluster.claims('shop'), cluster.warnings('shop', () => true)].map((read) =>
      read.catch(() => 'failed'),
    );
    await clock.advance(4_999);
    server.once(/persistentvolumeclaims$/, list());
    server.once(/events$/, list());
    await clock.advance(1);
    expect(await cluster.claims('shop')).toEqual([]);
    expect(await cluster.warnings('shop', () => true)).toEqual({ events: [], areAll: true });
    expect(first).toHaveLength(2);
  });

  it('fails beyond eight megabytes, and is parsed by nobody', async () => {
    const { server, cluster } = now();
    const large = json(200, { items: [{ metadata: { name: 'x'.repeat(9_000_000) } }] });
    for (const path of [/persistentvolumeclaims$/, /events$/, /deployments\/web$/]) server.once(path, large);
    const reads = [
      cluster.claims('shop'),
      cluster.warnings('shop', () => true),
      cluster.workload('shop', { kind: 'deployment', name: 'web' }),
    ];
    const ends = await Promise.allSettled(reads);
    expect(ends).toMatchObject(reads.map(() => ({ reason: { code: 'cluster_failed' } })));
  });
});

it('names the StorageClasses, each list for half a minute', async () => {
  const { server, clock, cluster } = now();
  server.once(/storageclasses$/, list({ metadata: { name: 'fast' } }, { metadata: { name: 'slow' } }));
  expect(await cluster.storageClasses()).toEqual(['fast', 'slow']);
  await clock.advance(29_999);
  expect(await cluster.storageClasses()).toEqual(['fast', 'slow']);
  expect(server.requests.map(({ path }) => path)).toEqual(['/apis/storage.k8s.io/v1/storageclasses']);
});

describe('services', () => {
  const service = (name: string, spec: object) => ({ metadata: { name }, spec });
  const slice = (name: string, endpoints: readonly object[]) => ({
    metadata: { name: `${name}-x`, labels: { 'kubernetes.io/service-name': name } },
    endpoints,
  });
  const endpoint = (uid: string, ready: boolean | undefined, address = '10.0.0.1') => ({
    addresses: [address],
    conditions: { ready },
    targetRef: { kind: 'Pod', uid },
  });

  it('have their selector, their ports, and the addresses behind them', async () => {
    const { server, cluster } = now();
    server.once(
      /services$/,
      list(
        service('web', { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }, { port: 81 }] }),
        service('none', { selector: { app: 'nobody' }, ports: [{ port: 80, targetPort: 8080 }] }),
        service('own', { ports: [] }),
      ),
    );
    server.once(/endpointslices$/, list(slice('web', [endpoint('a', true), endpoint('b', false)])));
    expect(await cluster.services('shop')).toEqual([
      {
        name: 'web',
        selector: { app: 'web' },
        ports: [
          { port: 80, targetPort: 'http' },
          { port: 81, targetPort: 81 },
        ],
        addresses: { ready: 1, notReady: 1 },
      },
      {
        name: 'none',
        selector: { app: 'nobody' },
        ports: [{ port: 80, targetPort: 8080 }],
        addresses: { ready: 0, notReady: 0 },
      },
      { name: 'own', selector: {}, ports: [], addresses: { ready: 0, notReady: 0 } },
    ]);
    expect(server.requests.map(({ path, query }) => [path, query])).toEqual(
      expect.arrayContaining([
        ['/api/v1/namespaces/shop/services', {}],
        ['/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices', { labelSelector: 'kubernetes.io/service-name' }],
      ]),
    );
  });

  it('count a pod once, in however many slices and address families it is', async () => {
    const { server, cluster } = now();
    server.once(/services$/, list(service('web', { selector: { app: 'web' } })));
    server.once(
      /endpointslices$/,
      list(
        slice('web', [endpoint('a', false), endpoint('b', undefined)]),
        slice('web', [endpoint('a', true, 'fd00::1'), endpoint('b', undefined, 'fd00::2')]),
      ),
    );
    expect((await cluster.services('shop'))?.[0]?.addresses).toEqual({ ready: 2, notReady: 0 });
  });

  it('select nothing when they are another name of a host, whatever they say', async () => {
    const { server, cluster } = now();
    server.once(/services$/, list(service('db', { type: 'ExternalName', selector: { app: 'db' } })));
    server.once(/endpointslices$/, list());
    expect((await cluster.services('shop'))?.[0]?.selector).toEqual({});
  });

  it('are headless where they have no address of their own', async () => {
    const { server, cluster } = now();
    server.once(/services$/, list(service('db', { clusterIP: 'None', selector: { app: 'db' } })));
    server.once(/endpointslices$/, list());
    expect((await cluster.services('shop'))?.[0]?.isHeadless).toBe(true);
  });

  it.each([403, 500])('come without addresses when the slices answer %d', async (status) => {
    const { server, cluster } = now();
    server.once(/services$/, list(service('web', { selector: { app: 'web' } })));
    server.once(/endpointslices$/, refusal(status, 'No'));
    expect(await cluster.services('shop')).toEqual([{ name: 'web', selector: { app: 'web' }, ports: [] }]);
  });

  it('are undefined without the right to them', async () => {
    const { server, cluster } = now();
    server.once(/services$/, refusal(403, 'Forbidden'));
    server.once(/endpointslices$/, list());
    expect(await cluster.services('shop')).toBeUndefined();
  });
});
