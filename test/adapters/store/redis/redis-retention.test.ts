import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asRunId } from '../../../../src/core/ids.ts';
import type { RunStore } from '../../../../src/flow/ports/store.ts';
import { aRun, settled } from '../run-store.conformance.ts';
import { hasRedis, RedisServer, until } from './redis-server.ts';
import { age, aStore, HOUR_MS } from './stores.ts';

const QUOTAS = [
  { key: 'person:U0ROY', code: 'limit_per_person', per: 'window', windowMs: 60_000, max: 999 },
  { key: 'channel:C0SHOP', code: 'limit_per_channel', per: 'open', max: 999 },
] as const;
const DAY_MS = 24 * HOUR_MS;
const idOf = (index: number): string =>
  `aaaaaaaa${String.fromCharCode(97 + Math.floor(index / 26), 97 + (index % 26))}`;

describe.skipIf(!hasRedis)('what is kept in Redis', () => {
  let server: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });
  beforeEach(async () => {
    await redis.flushall();
  });

  const settle = async (store: RunStore, id: string): Promise<void> => {
    const answer = await store.create(aRun(id), 'one', QUOTAS);
    if (answer.kind === 'created') await store.save(settled(aRun(id)), answer.fence);
  };

  it('ends by itself: after the retention no key is left, though no replica runs any more', async () => {
    const store = await aStore(server.url, { retentionMs: 1_500 });
    for (let index = 0; index < 5; index += 1) await settle(store, idOf(index));
    const one = await store.create(aRun('zzzzzzzzzz'), 'one', QUOTAS);
    if (one.kind === 'created') await store.release(asRunId('zzzzzzzzzz'), one.fence);
    const [two] = await store.claim('two', 1);
    await store.save({ ...aRun('zzzzzzzzzz'), state: 'finished' }, two?.fence ?? 0);
    await store.save({ ...aRun('zzzzzzzzzz'), state: 'finished', delivery: { closed: true } }, two?.fence ?? 0);
    await store.close();
    expect((await redis.keys('*')).length).toBeGreaterThan(10);
    await until(async () => (await redis.keys('*')).every((key) => key.includes(':window:')));
    await age(redis, 60_000);
    expect(await redis.keys('*')).toEqual([]);
  });

  it('stays for the retention, and no shorter', async () => {
    const store = await aStore(server.url);
    await settle(store, idOf(0));
    await age(redis, HOUR_MS - 5_000);
    expect(await store.read(asRunId(idOf(0)))).toBeDefined();
    expect(await store.recent('C0SHOP', 9)).toHaveLength(1);
    await age(redis, 5_000);
    expect(await redis.keys('*')).toEqual([]);
    await store.close();
  });

  it('has an end even when its replicas vanish in the middle: every key has a TTL, of 30 days at most', async () => {
    const store = await aStore(server.url);
    const grant = { state: 'finished', grant: { expiresAtMs: Date.now() + HOUR_MS } };
    await store.create(Object.assign(aRun(idOf(0)), grant), 'one', QUOTAS);
    await store.create(aRun(idOf(1)), 'one', QUOTAS);
    await store.learn('sha256:1', { uid: 1, gid: 1 });
    await settle(store, idOf(2));
    for (const key of await redis.keys('*')) {
      const ttl = await redis.pttl(key);
      expect(ttl, key).toBeGreaterThan(0);
      expect(ttl, key).toBeLessThanOrEqual(30 * DAY_MS);
    }
    await age(redis, 30 * DAY_MS);
    expect(await redis.keys('*')).toEqual([]);
    await store.close();
  });

  it('is bounded in number: beyond the cap the runs that were settled first go, with all their keys', async () => {
    const store = await aStore(server.url, { maxSettled: 2 });
    for (const index of [2, 0, 1, 3]) await settle(store, idOf(index));
    const open = await store.create(aRun('zzzzzzzzzz'), 'one');
    expect(open.kind).toBe('created');
    expect((await store.recent('C0SHOP', 9)).map(({ id }) => id)).toEqual(['zzzzzzzzzz', idOf(3), idOf(1)]);
    expect(await redis.keys('*run:*')).toHaveLength(3);
    expect(await redis.keys('*dedupe:*')).toHaveLength(3);
    await store.close();
  });

  it('lists no more than 200 settled runs of a channel, so that work does not grow with history', async () => {
    const store = await aStore(server.url);
    for (let index = 0; index < 210; index += 1) await settle(store, idOf(index));
    expect(await store.recent('C0SHOP', 1_000)).toHaveLength(200);
    await store.close();
  });

  it('is cleared of wreckage: a lease without its run goes with the next claim', async () => {
    const store = await aStore(server.url);
    await store.create(aRun(idOf(0)), 'one');
    await redis.del(`{kdebug}:run:${idOf(0)}`);
    await age(redis, 31_000);
    expect(await store.claim('two', 9)).toEqual([]);
    expect(await redis.zcard('{kdebug}:leases')).toBe(0);
    await store.close();
  });
});
