import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asChannelId, asRunId } from '../../../../src/core/ids.ts';
import type { Run } from '../../../../src/core/run/run.ts';
import type { RunStore } from '../../../../src/flow/ports/store.ts';
import { aGrant } from '../../../support/builders.ts';
import { sampleOf } from '../../../support/sample.ts';
import { aRun, settled } from '../run-store.conformance.ts';
import { hasRedis, RedisServer } from './redis-server.ts';
import { aStore, Lines } from './stores.ts';

/** Puts a key of one type where none is. */
const TYPES = {
  string: (redis: Redis, key: string) => redis.set(key, 'x'),
  hash: (redis: Redis, key: string) => redis.hset(key, 'x', 'x'),
  list: (redis: Redis, key: string) => redis.rpush(key, 'x'),
  set: (redis: Redis, key: string) => redis.sadd(key, 'x'),
  zset: (redis: Redis, key: string) => redis.zadd(key, 1, 'x'),
  stream: (redis: Redis, key: string) => redis.xadd(key, '*', 'x', 'x'),
} as const;

/** The keys of kdebug, as docs/adr/0008 lists them, by the beginning of their name. */
const KEYS = {
  'run:aaaaaaaaaa': 'hash',
  dedupe: 'string',
  leases: 'zset',
  waiting: 'zset',
  'open:': 'zset',
  'grants:': 'zset',
  'history:': 'zset',
  'window:': 'zset',
  'count:': 'zset',
  'pending:': 'zset',
  awaiting: 'zset',
  settled: 'zset',
  'notes:aaaaaaaaaa': 'zset',
  'searching:aaaaaaaaaa': 'string',
  searches: 'zset',
  'found:aaaaaaaaaa': 'string',
  'learnt:': 'string',
} as const;

const QUOTAS = [
  { key: 'person:U0ROY', code: 'limit_per_person', per: 'window', windowMs: 60_000, max: 99 },
  { key: 'channel:C0SHOP', code: 'limit_per_channel', per: 'open', max: 99 },
  { key: 'person:U0ROY', code: 'limit_pending_per_person', per: 'pending', max: 99 },
] as const;

describe.skipIf(!hasRedis)('a key that somebody has replaced by one of another type, or a field', () => {
  let server: RedisServer;
  let redis: Redis;
  let store: RunStore;
  let log: Lines;

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
    log = new Lines();
    store = await aStore(server.url, { log });
  });
  afterEach(() => store.close());

  const HURT = asRunId('aaaaaaaaaa');
  const CHANNEL = asChannelId('C0SHOP');

  async function create(id: string): Promise<number> {
    const answer = await store.create(aRun(id), 'one', QUOTAS);
    return answer.kind === 'created' ? answer.fence : 0;
  }

  /** A store with a key of each kind, about the run that will be hurt and about others of its channel. */
  async function furnished(): Promise<number> {
    const grant: Partial<Run> = { grant: aGrant({ expiresAtMs: 9_999_999_999_999 }) };
    const fence = await create('aaaaaaaaaa');
    await store.save({ ...aRun('aaaaaaaaaa'), ...grant } as Run, fence);
    await store.save(settled(aRun('bbbbbbbbbb')), await create('bbbbbbbbbb'));
    await store.save({ ...aRun('cccccccccc'), state: 'pending-approval' } as Run, await create('cccccccccc'));
    await store.release(asRunId('eeeeeeeeee'), await create('eeeeeeeeee'));
    await store.notes.leave(HURT, 'note');
    await store.searches.turn(HURT, { perMinute: 9, heldMs: 9_999 });
    await store.searches.found(HURT, 9_999);
    await store.learn('kind', { uid: 1, gid: 1 });
    return fence;
  }

  const cases = Object.entries(KEYS).flatMap(([name, own]) =>
    Object.keys(TYPES)
      .filter((type) => type !== own)
      .map((type) => [name, type as keyof typeof TYPES] as const),
  );

  it.each(sampleOf('keys of another type', cases, 20))(
    '%s as a %s hurts at most one run of the channel',
    async (name, type) => {
      await furnished();
      const replaced = (await redis.keys(`{kdebug}:${name}*`)).toSorted()[0];
      expect(replaced, name).toBeDefined();
      await redis.del(replaced!);
      await TYPES[type](redis, replaced!);

      // Twice: what is left of it must not come back.
      for (const id of ['ffffffffff', 'gggggggggg']) {
        const fence = await create(id);
        expect(fence).toBeGreaterThan(0);
        expect(await store.save(aRun(id), fence)).toBe('saved');
        await store.renew('one');
        expect((await store.recent(CHANNEL, 20)).map((run) => run.id)).toContain(id);
        await store.granting(CHANNEL);
        await store.claim('two', 10);
        await store.pending();
        await store.notes.leave(HURT, 'note');
        expect(await store.notes.read(HURT)).toContain('note');
        await store.searches.turn(asRunId('hhhhhhhhhh'), { perMinute: 9, heldMs: 9_999 });
        await store.searches.turn(HURT, { perMinute: 9, heldMs: 1 });
        await store.searches.wasFound(HURT);
        await store.learnt('kind');
        await store.lease(HURT, 'two');
        expect((await store.read(asRunId(id)))?.id).toBe(id);
        expect(await store.save(settled(aRun(id)), fence)).toBe('saved');
      }
      const dropped = log.lines.filter(({ message }) => message === 'dropped a key of another type from Redis');
      expect(dropped.length).toBeLessThanOrEqual(1);
    },
  );

  /** Of a run's hash, as the prelude of the scripts lists them. */
  const FIELDS = 'data key schema fence owner by born class parked grant channel dedupe quotas bounds'.split(' ');
  const SPOILT = ['deleted', '', 'x', 'nan', '-1'] as const;
  const spoil = (field: string, id: string, value: (typeof SPOILT)[number]) =>
    value === 'deleted' ? redis.hdel(`{kdebug}:run:${id}`, field) : redis.hset(`{kdebug}:run:${id}`, field, value);

  const spoiltFields = FIELDS.flatMap((field) => SPOILT.map((value) => [field, value] as const));
  it.each(sampleOf('spoilt fields of a run', spoiltFields, 20))(
    '%s of a run as %j hurts that run alone',
    async (field, value) => {
      await store.close();
      store = await aStore(server.url, { log, maxSettled: 1 });
      const fence = await furnished();
      const held = await create('dddddddddd');
      const hurt = ['aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc', 'eeeeeeeeee'];
      for (const id of hurt) await spoil(field, id, value);

      const next = await create('ffffffffff');
      await store.renew('one');
      await store.release(asRunId('ffffffffff'), next);
      await store.save({ ...aRun(HURT), state: 'pending-approval' } as Run, fence);
      await store.release(HURT, fence);
      // Twice: what nobody can lease does not stay at the head of the line.
      const claimed = [...(await store.claim('two', 10)), ...(await store.claim('two', 10))];
      expect(claimed.map(({ run }) => run.id)).toContain('ffffffffff');
      expect((await store.recent(CHANNEL, 20)).map(({ id }) => id)).toContain('ffffffffff');
      // Of its own run each may fail, but as it fails for a record that nobody can read.
      for (const id of hurt) {
        await store
          .lease(asRunId(id), 'two')
          .catch((thrown: unknown) => expect(thrown).toMatchObject({ code: 'store_record_unreadable' }));
      }
      await store.granting(CHANNEL);
      await store.pending();
      // It makes room: the older settled one goes.
      expect(await store.save(settled(aRun('dddddddddd')), held)).toBe('saved');
      expect(await store.save(aRun('ffffffffff'), claimed.find(({ run }) => run.id === 'ffffffffff')!.fence)).toBe(
        'saved',
      );
    },
  );

  it.each([
    ['fence', 'deleted'],
    ['fence', 'x'],
    ['born', 'deleted'],
    ['born', 'x'],
  ] as const)('%s as %s takes the run out of the line', async (field, value) => {
    await store.release(HURT, await create(HURT));
    await spoil(field, HURT, value);
    expect(await store.claim('two', 10)).toEqual([]);
    expect(await redis.zcard('{kdebug}:waiting')).toBe(0);
    expect(await redis.zcard('{kdebug}:leases')).toBe(0);
  });

  it('is dropped and logged once, and its run is gone from the list', async () => {
    await furnished();
    await redis.del(`{kdebug}:run:${HURT}`);
    await redis.set(`{kdebug}:run:${HURT}`, 'x');
    await expect(store.read(HURT)).rejects.toMatchObject({ code: 'store_record_unreadable' });
    const ids = async () => (await store.recent(CHANNEL, 20)).map(({ id }) => id);
    expect(await ids()).not.toContain(HURT);
    expect(await ids()).toContain('bbbbbbbbbb');
    const about = log.lines.filter(({ fields }) => fields?.key === `{kdebug}:run:${HURT}`);
    expect(about).toHaveLength(1);
    const open = await redis.keys('{kdebug}:open:*');
    expect(await redis.zscore(open[0]!, HURT)).toBeNull();
    expect(await store.read(HURT)).toBeUndefined();
  });

  it('takes a held run with it, whose holder then writes it back', async () => {
    const fence = await create('aaaaaaaaaa');
    await redis.del(`{kdebug}:run:${HURT}`);
    await redis.lpush(`{kdebug}:run:${HURT}`, 'x');
    expect(await store.save(aRun('aaaaaaaaaa'), fence)).toBe('stale');
  });
});
