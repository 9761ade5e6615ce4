import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RunStore } from '../../../../src/flow/ports/store.ts';
import { aRun } from '../run-store.conformance.ts';
import { Middle } from './middle.ts';
import { hasRedis, RedisServer, until } from './redis-server.ts';
import { aStore, Lines } from './stores.ts';

const MAX_MS = 2_000;

describe.skipIf(!hasRedis)('a Redis in trouble', () => {
  let server: RedisServer;
  let redis: Redis;
  let proxy: Middle;
  let store: RunStore;
  let log: Lines;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
    redis.on('error', () => {});
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });
  beforeEach(async () => {
    await redis.flushall();
    proxy = await Middle.to(server.port);
    log = new Lines();
    store = await aStore(proxy.url, { log });
  });
  afterEach(async () => {
    server.thaw();
    await store.close();
    proxy.close();
  });

  const created = async (id: string, owner = 'one'): Promise<number> => {
    const answer = await store.create(aRun(id), owner);
    if (answer.kind !== 'created') throw new Error(answer.kind);
    return answer.fence;
  };

  const failing = (work: () => Promise<unknown>): Promise<void> =>
    expect(work()).rejects.toMatchObject({ code: 'store_unreachable' });

  /** Whether it fails without waiting for anything: before the next turn of the event loop. */
  const failsAtOnce = (work: () => Promise<unknown>): Promise<boolean> =>
    Promise.race([failing(work).then(() => true), new Promise<false>((resolve) => setImmediate(resolve, false))]);

  /** Fails before a timer of two seconds that is set with it: the order of timers is the same on however slow a machine. */
  const failingInTime = (work: () => Promise<unknown>): Promise<unknown> =>
    Promise.race([failing(work), pause(MAX_MS).then(() => Promise.reject(new Error(`not within ${MAX_MS} ms`)))]);

  it('that is frozen lets every method fail within two seconds, carries nothing out later, and is used again by itself', async () => {
    const run = aRun('aaaaaaaaaa');
    await created('aaaaaaaaaa');
    // Every script is known to Redis from here on, so that it would be carried out.
    const fence = (await store.lease(run.id, 'one'))?.fence ?? 0;
    await store.save(run, fence);
    await store.claim('one', 1);
    await store.release(run.id, fence);
    const before = await redis.hgetall('{kdebug}:run:aaaaaaaaaa');
    const control = connect(server.port, '127.0.0.1');
    await until(() => control.readyState === 'open');
    server.freeze();
    control.end('SET {kdebug}:control 1\r\n');
    const frozenAt = performance.now();
    await Promise.all(
      [
        () => store.create(aRun('bbbbbbbbbb'), 'one'),
        () => store.lease(run.id, 'two'),
        () => store.claim('two', 10),
        () => store.save({ ...run, state: 'approved' }, fence),
        () => store.read(run.id),
        () => store.recent('C0SHOP', 3),
        () => store.granting('C0SHOP'),
        () => store.learnt('sha256:1'),
        () => store.learn('sha256:1', { uid: 1, gid: 1 }),
        () => store.release(run.id, fence),
        () => store.check(),
      ].map(failingInTime),
    );
    await until(() => performance.now() > frozenAt + MAX_MS);
    // By now it is known: nobody waits for nothing.
    await until(() => failsAtOnce(() => store.check()));
    server.thaw();
    await until(() =>
      store.check().then(
        () => true,
        () => false,
      ),
    );
    // Redis does carry out what came in while it was frozen, even of connections that have gone.
    expect(await redis.get('{kdebug}:control')).toBe('1');
    expect(await redis.hgetall('{kdebug}:run:aaaaaaaaaa')).toEqual(before);
    expect(await redis.exists('{kdebug}:run:bbbbbbbbbb')).toBe(0);
    expect(log.messages).toEqual(['Redis does not answer, refusing new requests', 'Redis answers again']);
  });

  it('that cuts the connection after a commit is asked again, and answers with the same lease', async () => {
    let answers = 0;
    proxy.onReply = (piece) => (piece.includes('created') && ++answers === 1 ? 'cut' : piece);
    const fence = await created('aaaaaaaaaa');
    expect(answers).toBe(2);
    expect(await redis.zcard('{kdebug}:leases')).toBe(1);
    expect(await store.save(aRun('aaaaaaaaaa'), fence)).toBe('saved');
  });

  it('that cuts the connection after a save keeps that save, and later ones', async () => {
    const run = aRun('aaaaaaaaaa');
    const fence = await created('aaaaaaaaaa');
    let answers = 0;
    proxy.onReply = (piece) => (piece.includes('saved') && ++answers === 1 ? 'cut' : piece);
    expect(await store.save({ ...run, state: 'approved' }, fence)).toBe('saved');
    expect(await store.save({ ...run, state: 'launching' }, fence)).toBe('saved');
    expect((await store.read(run.id))?.state).toBe('launching');
    expect(answers).toBe(3);
  });

  it('that carries a save out again after a later one keeps the later one', async () => {
    const run = aRun('aaaaaaaaaa');
    const fence = await created('aaaaaaaaaa');
    await store.save(run, fence);
    const sent: Buffer[] = [];
    proxy.onRequest = (piece) => sent.push(piece);
    await store.save({ ...run, state: 'approved' }, fence);
    proxy.onRequest = () => {};
    await store.save({ ...run, state: 'launching' }, fence);
    const late = connect(server.port, '127.0.0.1');
    late.write(Buffer.concat(sent));
    expect(String((await once(late, 'data'))[0])).toContain('saved');
    late.destroy();
    expect((await store.read(run.id))?.state).toBe('launching');
  });

  it('whose answer to a creation is lost for good has the run taken back: the person was told that nothing was started', async () => {
    proxy.onReply = (piece) => {
      if (!piece.includes('created')) return piece;
      proxy.refusing = true;
      return 'cut';
    };
    const quota = { key: 'person:U0ROY', code: 'limit_per_person', per: 'window', windowMs: 60_000, max: 1 } as const;
    await failingInTime(() => store.create(aRun('aaaaaaaaaa'), 'one', [quota]));
    expect(await redis.exists('{kdebug}:run:aaaaaaaaaa')).toBe(1);
    proxy.refusing = false;
    proxy.onReply = (piece) => piece;
    await until(async () => (await redis.exists('{kdebug}:run:aaaaaaaaaa')) === 0);
    expect(await redis.keys('*')).toEqual([]);
    const again = await store.create(aRun('bbbbbbbbbb', { dedupeKey: 'slash:aaaaaaaaaa' }), 'one', [quota]);
    expect(again.kind).toBe('created');
  });

  it('whose answer to a take is lost for good does not keep the run from others', async () => {
    const run = aRun('aaaaaaaaaa');
    await store.release(run.id, await created('aaaaaaaaaa'));
    proxy.onReply = (piece) => {
      if (!piece.includes('leased')) return piece;
      proxy.refusing = true;
      return 'cut';
    };
    await failing(() => store.lease(run.id, 'one'));
    proxy.refusing = false;
    proxy.onReply = (piece) => piece;
    await until(() =>
      store.check().then(
        () => true,
        () => false,
      ),
    );
    const lapsesAt = await redis.zrange('{kdebug}:leases', 0, '0', 'WITHSCORES');
    await store.renew('one');
    expect(await redis.zrange('{kdebug}:leases', 0, '0', 'WITHSCORES')).toEqual(lapsesAt);
  });

  it('that is gone makes calls wait for a moment, then fail at once; one that comes back empty says so', async () => {
    const run = aRun('aaaaaaaaaa');
    const fence = await created('aaaaaaaaaa');
    await server.kill();
    await failingInTime(() => store.save(run, fence));
    await until(() => failsAtOnce(() => store.read(run.id)));
    await server.start();
    await until(() =>
      store.check().then(
        () => true,
        () => false,
      ),
    );
    expect(await store.read(run.id)).toBeUndefined();
    expect(await store.save(run, fence)).toBe('stale');
    expect(await store.lease(run.id, 'one')).toBeUndefined();
    // Given back, it has a fence that no owner of before can have.
    expect(await created('aaaaaaaaaa')).toBeGreaterThan(fence);
    expect(await store.save(run, fence)).toBe('stale');
  });

  it('that recovers is not asked for abandoned runs before every replica could renew its leases', async () => {
    await created('aaaaaaaaaa');
    const other = await aStore(server.url, { leaseMs: 1 });
    expect((await other.create(aRun('bbbbbbbbbb'), 'two')).kind).toBe('created');
    await until(
      async () =>
        Number((await redis.time())[0]) * 1_000 >
        Number((await redis.zrange('{kdebug}:leases', 0, '0', 'WITHSCORES'))[1]),
    );
    proxy.cut();
    await until(() => log.messages.length === 2);
    expect(await store.claim('one', 10)).toEqual([]);
    await until(async () => (await store.claim('one', 10)).length === 1);
    await other.close();
  });

  it('that forgot its scripts gets them again', async () => {
    const fence = await created('aaaaaaaaaa');
    await redis.script('FLUSH');
    expect(await store.save(aRun('aaaaaaaaaa'), fence)).toBe('saved');
  });

  it('that is out of memory refuses a new run as a whole, and still answers', async () => {
    await created('aaaaaaaaaa');
    await redis.config('SET', 'maxmemory', '1');
    const quotas = [
      { key: 'person:U0ROY', code: 'limit_per_person', per: 'window', windowMs: 60_000, max: 6 },
      { key: 'channel:C0SHOP', code: 'limit_per_channel', per: 'open', max: 6 },
    ] as const;
    await failingInTime(() => store.create(aRun('bbbbbbbbbb'), 'one', quotas));
    await redis.config('SET', 'maxmemory', '0');
    expect((await store.recent('C0SHOP', 9)).map(({ id }) => id)).toEqual(['aaaaaaaaaa']);
    expect(await redis.exists('{kdebug}:run:bbbbbbbbbb')).toBe(0);
  });

  it('whose clock jumps ahead is understood at the next call', async () => {
    await created('aaaaaaaaaa');
    // Seen from here: the store believes in a clock that is an hour behind.
    let shifted = false;
    proxy.onReply = (piece) => {
      if (shifted || !/^\*2\r\n\$10\r\n\d{10}\r\n/.test(piece)) return piece;
      shifted = true;
      return piece.replace(/\d{10}/, (seconds) => String(Number(seconds) - 3_600));
    };
    proxy.cut();
    await until(() => shifted && log.messages.length === 2);
    expect(await created('bbbbbbbbbb')).toBeGreaterThan(0);
  });
});
