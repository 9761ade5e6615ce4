import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClusters } from '../../../src/adapters/kubernetes/index.ts';
import { createMetrics } from '../../../src/adapters/metrics/index.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import type { Clusters } from '../../../src/flow/ports/cluster.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { samplesOf } from '../../support/metric-lines.ts';
import { json, refusal, ScriptedApiServer } from './support/scripted-api-server.ts';

let server: ScriptedApiServer;
let policy: Policy['clusters'];
let clusters: Clusters & { close(): Promise<void> };
let clock: FakeClock;
let metrics: ReturnType<typeof createMetrics>;

beforeEach(async () => {
  server = new ScriptedApiServer();
  await server.start();
  clock = new FakeClock();
  metrics = createMetrics({ clock, ofProcess: false });
  policy = { prod: { context: 'c', inCluster: false, default: true } };
  const silent = () => {};
  clusters = createClusters({
    clusters: () => policy,
    kubeconfigPath: server.kubeconfig(),
    log: { debug: silent, info: silent, warn: silent, error: silent },
    clock,
    metrics,
    version: '1.2.3',
  });
});

afterEach(async () => {
  await clusters.close();
  await server.stop();
  expect(server.unexpected).toEqual([]);
});

describe('the clusters of the policy', () => {
  it('are reached by their context, one connection for all', async () => {
    server.once(/version/, json(200, { gitVersion: 'v1.34.4' }));

    expect(await clusters.get('prod').check()).toEqual({ version: 'v1.34.4' });
    expect(clusters.get('prod')).toBe(clusters.get('prod'));
  });

  it.each(['test', 'toString', ''])('do not include %j', (name) => {
    expect(() => clusters.get(name)).toThrow(expect.objectContaining({ code: 'cluster_unknown' }));
  });

  it('are not there when the kubeconfig has no such context', () => {
    policy = { prod: { context: 'nobody', inCluster: false, default: true } };
    expect(() => clusters.get('prod')).toThrow(expect.objectContaining({ code: 'cluster_config_invalid' }));
  });

  it('are connected anew when the policy gives them another context', () => {
    const before = clusters.get('prod');
    policy = { prod: { inCluster: false, default: true } };
    expect(clusters.get('prod')).not.toBe(before);
  });
});

describe('the calls', () => {
  it('count by method and result', async () => {
    server.once(/version/, json(200, { gitVersion: 'v1.34.4' }));
    await clusters.get('prod').check();
    server.once(/version/, refusal(403, 'Forbidden'));
    await expect(clusters.get('prod').check()).rejects.toMatchObject({ code: 'cluster_forbidden' });
    expect(await samplesOf(metrics, 'api_call_seconds_count')).toEqual([
      'api_call_seconds_count{api="kubernetes",method="get",result="ok"} 1',
      'api_call_seconds_count{api="kubernetes",method="get",result="cluster_forbidden"} 1',
    ]);
  });

  it('of watches and logs count when they are answered', async () => {
    const list = json(200, { metadata: { resourceVersion: '1' }, items: [] });
    server.always(/pods$/, (request, response) =>
      (request.query.watch === 'true' ? refusal(410, 'Expired') : list)(request, response),
    );
    await clusters.get('prod').pods('shop', []);
    await expect
      .poll(async () => (await samplesOf(metrics, 'api_call_seconds_count')).join('\n'))
      .toMatch(/method="watch",result="cluster_\w+"} \d/);
    await expect
      .poll(async () => (await samplesOf(metrics, 'watch_restarts')).join())
      .toMatch(/\{reason="expired"\} \d/);
  });

  it('that wait because the server asked for fewer show in the queue', async () => {
    server.always(/version/, json(429, {}, { 'retry-after': '1' }));
    const ask = () =>
      clusters
        .get('prod')
        .check()
        .catch(() => undefined);
    await ask();
    const asking = [ask(), ask(), ask()];
    await expect.poll(() => samplesOf(metrics, 'queue_length')).toEqual(['queue_length{queue="kubernetes"} 3']);
    await clock.advance(10_000);
    await Promise.all(asking);
    expect(await samplesOf(metrics, 'queue_length')).toEqual([]);
  });
});

describe('Pod Security', () => {
  const NAMESPACE = /^GET \/api\/v1\/namespaces\/shop$/;
  const labelled = (level?: string) =>
    json(200, { metadata: { labels: { 'pod-security.kubernetes.io/enforce': level } } });

  it.each([
    [undefined, 'privileged'],
    ['privileged', 'privileged'],
    ['baseline', 'baseline'],
    ['restricted', 'restricted'],
    ['misspelt', 'restricted'],
  ])('labelled %j is %s', async (label, level) => {
    server.once(NAMESPACE, labelled(label));
    expect(await clusters.get('prod').podSecurity('shop')).toBe(level);
  });

  it('is asked for once in 30 s, by however many', async () => {
    server.once(NAMESPACE, labelled('baseline'));
    const { podSecurity } = { podSecurity: () => clusters.get('prod').podSecurity('shop') };
    await Promise.all([podSecurity(), podSecurity()]);
    await clock.advance(29_000);
    expect(await podSecurity()).toBe('baseline');

    server.once(NAMESPACE, labelled('restricted'));
    await clock.advance(2_000);
    expect(await podSecurity()).toBe('restricted');
  });

  it('of a namespace that is not there is an error, and asked for again', async () => {
    server.once(NAMESPACE, refusal(404, 'NotFound', { kind: 'namespaces' }));
    await expect(clusters.get('prod').podSecurity('shop')).rejects.toMatchObject({ code: 'namespace_not_found' });
    server.once(NAMESPACE, labelled('baseline'));
    expect(await clusters.get('prod').podSecurity('shop')).toBe('baseline');
  });
});

it('events are those of the container, newest first, at most 20', async () => {
  const event = (second: number, fieldPath = 'spec.ephemeralContainers{kdebug-a}') => ({
    involvedObject: { fieldPath },
    reason: 'Failed',
    message: `at ${second}`,
    type: 'Warning',
    ...(second % 2 === 0
      ? { lastTimestamp: new Date(second * 1_000).toISOString() }
      : { eventTime: new Date(second * 1_000).toISOString() }),
  });
  const items = Array.from({ length: 30 }, (_, second) => event(second));
  server.once(/events$/, json(200, { items: [...items, event(99, 'spec.containers{app}')] }));

  const events = await clusters.get('prod').events({ namespace: 'shop', name: 'web', uid: 'u1' }, 'kdebug-a');

  expect(events).toHaveLength(20);
  const fieldPath = 'spec.ephemeralContainers{kdebug-a}';
  expect(events[0]).toEqual({ reason: 'Failed', message: 'at 29', type: 'Warning', atMs: 29_000, fieldPath });
  expect(server.requests[0]?.query.fieldSelector).toBe(
    'involvedObject.uid=u1,involvedObject.fieldPath=spec.ephemeralContainers{kdebug-a}',
  );
});

it('events of the whole pod have their count, of a series too', async () => {
  const at = '2020-11-21T07:30:00Z';
  const base = { involvedObject: { fieldPath: 'spec.containers{web}' }, reason: 'Unhealthy', type: 'Warning' };
  const items = [
    { ...base, message: 'one', count: 14, lastTimestamp: at },
    { ...base, message: 'two', count: 1, series: { count: 30, lastObservedTime: '2020-11-21T07:30:01Z' } },
  ];
  server.once(/events$/, json(200, { items }));

  const events = await clusters.get('prod').events({ namespace: 'shop', name: 'web', uid: 'u1' });

  expect(events.map(({ message, count, fieldPath }) => [message, count, fieldPath])).toEqual([
    ['two', 30, 'spec.containers{web}'],
    ['one', 14, 'spec.containers{web}'],
  ]);
  expect(server.requests[0]?.query.fieldSelector).toBe('involvedObject.uid=u1');
});

describe('a node', () => {
  const NODE = /^GET \/api\/v1\/nodes\/node-a$/;
  const node = { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }], images: [{}] } };

  it('is its conditions, asked for at most once in 30 s', async () => {
    server.once(NODE, json(200, node));
    const seen = { name: 'node-a', conditions: [{ type: 'Ready', status: 'True' }] };
    expect(await clusters.get('prod').node('node-a')).toEqual(seen);
    expect(await clusters.get('prod').node('node-a')).toEqual(seen);
    expect(server.requests).toHaveLength(1);
    await clock.advance(30_000);
    server.once(NODE, json(200, { status: {} }));
    expect(await clusters.get('prod').node('node-a')).toEqual({ name: 'node-a', conditions: [] });
  });

  it.each([
    [403, 'Forbidden'],
    [404, 'NotFound'],
  ])('that answers %i is silently nothing, for five minutes', async (status, reason) => {
    server.once(NODE, refusal(status, reason));
    expect(await clusters.get('prod').node('node-a')).toBeUndefined();
    await clock.advance(290_000);
    expect(await clusters.get('prod').node('node-a')).toBeUndefined();
    expect(server.requests).toHaveLength(1);
  });

  it('is asked for again after an error, and never by a name that is none', async () => {
    server.once(NODE, refusal(500, 'InternalError'));
    await expect(clusters.get('prod').node('node-a')).rejects.toMatchObject({ code: 'cluster_failed' });
    server.once(NODE, json(200, node));
    expect(await clusters.get('prod').node('node-a')).toMatchObject({ name: 'node-a' });
    await expect(clusters.get('prod').node('../pods')).rejects.toMatchObject({ code: 'invalid_name' });
  });
});
