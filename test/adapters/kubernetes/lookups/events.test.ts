import { describe, expect, it } from 'vitest';
import { oneCluster } from '../support/one-cluster.ts';
import { json, refusal } from '../support/scripted-api-server.ts';

const now = oneCluster();

const AT = Date.UTC(2026, 0, 1);
const stamp = (seconds: number) => new Date(AT + seconds * 1_000).toISOString();
const warning = (name: string, seconds: number, more: object = {}) => ({
  metadata: { name, creationTimestamp: stamp(0) },
  type: 'Warning',
  reason: 'FailedCreate',
  message: `about ${name}`,
  involvedObject: { kind: 'ReplicaSet', name, uid: `uid-${name}` },
  lastTimestamp: stamp(seconds),
  ...more,
});

const ANY = () => true;

describe('the warnings of a namespace', () => {
  it('are about any object, newest first', async () => {
    const { server, cluster } = now();
    const series = { count: 7, lastObservedTime: stamp(9) };
    const about = { kind: 'Pod', name: 'web-1', uid: 'u', fieldPath: 'spec.containers{web}' };
    server.once(
      /events$/,
      json(200, { items: [warning('web-a', 1), warning('web-b', 2, { series, involvedObject: about })] }),
    );
    expect((await cluster.warnings('shop', ANY)).events).toEqual([
      {
        type: 'Warning',
        reason: 'FailedCreate',
        message: 'about web-b',
        atMs: AT + 9_000,
        count: 7,
        fieldPath: 'spec.containers{web}',
        involved: { kind: 'Pod', name: 'web-1', uid: 'u' },
      },
      {
        type: 'Warning',
        reason: 'FailedCreate',
        message: 'about web-a',
        atMs: AT + 1_000,
        involved: { kind: 'ReplicaSet', name: 'web-a', uid: 'uid-web-a' },
      },
    ]);
    expect(server.requests).toMatchObject([
      { path: '/api/v1/namespaces/shop/events', query: { fieldSelector: 'type=Warning', limit: '2000' } },
    ]);
  });

  it('cut a long message at 1,000 characters', async () => {
    const { server, cluster } = now();
    server.once(/events$/, json(200, { items: [warning('web-a', 1, { message: 'm'.repeat(5_000) })] }));
    expect((await cluster.warnings('shop', ANY)).events[0]?.message).toHaveLength(1_000);
  });

  it('are one list for everybody who asks within two seconds', async () => {
    const { server, clock, cluster } = now();
    server.once(/events$/, json(200, { items: [warning('web-a', 1)] }));
    const [first, second] = await Promise.all([cluster.warnings('shop', ANY), cluster.warnings('shop', ANY)]);
    expect(first).toEqual(second);
    await clock.advance(1_999);
    await cluster.warnings('shop', ANY);
    expect(server.requests).toHaveLength(1);

    server.once(/events$/, json(200, { items: [] }));
    await clock.advance(1);
    expect(await cluster.warnings('shop', ANY)).toEqual({ events: [], areAll: true });
  });

  it('are the newest 500 of one call for at most 2,000, since an answer has few calls', async () => {
    const { server, cluster } = now();
    const items = Array.from({ length: 2_000 }, (_, index) => warning(`w-${index}`, index));
    server.always(/events$/, json(200, { metadata: { continue: 'more' }, items }));
    const { events, areAll } = await cluster.warnings('shop', ANY);
    expect(server.requests).toHaveLength(1);
    expect(events).toHaveLength(500);
    expect(events[499]?.atMs).toBe(AT + 1_500_000);
    expect(areAll).toBe(false);
  });

  it.each([
    ['there are more pages', { metadata: { continue: 'more' }, items: [warning('other', 9)] }],
    ['the list is longer', { items: Array.from({ length: 501 }, (_, index) => warning(`w-${index}`, 9)) }],
  ])('of a pod are asked for by its uid where %s', async (_, list) => {
    const { server, cluster } = now();
    const own = { involvedObject: { kind: 'Pod', name: 'ill', uid: 'uid-ill' }, reason: 'Unhealthy' };
    server.once(/events$/, json(200, list));
    server.once(/events$/, json(200, { items: [warning('own', 1, own)] }));
    const about = ({ name }: { readonly name: string }) => name === 'ill';

    const warnings = await cluster.warnings('shop', about, { namespace: 'shop', name: 'ill', uid: 'uid-ill' });

    expect(warnings).toMatchObject({ events: [{ reason: 'Unhealthy' }], areAll: true });
    expect(server.requests.map(({ query }) => query.fieldSelector)).toEqual([
      'type=Warning',
      'involvedObject.uid=uid-ill,type=Warning',
    ]);
  });

  it('of a pod cost no further call where none can be missing', async () => {
    const { server, cluster } = now();
    server.once(/events$/, json(200, { items: [warning('other', 9)] }));
    const warnings = await cluster.warnings('shop', ANY, { namespace: 'shop', name: 'ill', uid: 'uid-ill' });
    expect(warnings.areAll).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it('of a pod are not all where its own are too many as well', async () => {
    const { server, cluster } = now();
    server.always(/events$/, json(200, { metadata: { continue: 'more' }, items: [warning('own', 1)] }));
    const warnings = await cluster.warnings('shop', ANY, { namespace: 'shop', name: 'ill', uid: 'uid-ill' });
    expect(warnings.areAll).toBe(false);
  });

  it('whose time lies in the future count as now', async () => {
    const { server, clock, cluster } = now();
    const aheadMs = clock.now() + 60_000;
    server.once(/events$/, json(200, { items: [warning('w', 0, { lastTimestamp: new Date(aheadMs).toISOString() })] }));
    expect((await cluster.warnings('shop', ANY)).events[0]?.atMs).toBe(clock.now());
  });

  it('fail when the server refuses them, and are asked for again', async () => {
    const { server, cluster } = now();
    server.once(/events$/, refusal(403, 'Forbidden'));
    await expect(cluster.warnings('shop', ANY)).rejects.toMatchObject({ code: 'cluster_forbidden' });
    server.once(/events$/, json(200, { items: [] }));
    expect(await cluster.warnings('shop', ANY)).toEqual({ events: [], areAll: true });
    await expect(cluster.warnings('../kube-system', ANY)).rejects.toMatchObject({ code: 'invalid_name' });
  });
});
