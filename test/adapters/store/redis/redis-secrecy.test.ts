import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSeal } from '../../../../src/adapters/seal/index.ts';
import { deriveKey } from '../../../../src/core/hash.ts';
import { asRunId } from '../../../../src/core/ids.ts';
import type { Run } from '../../../../src/core/run/run.ts';
import { transition } from '../../../../src/core/run/transition.ts';
import type { RunStore } from '../../../../src/flow/ports/store.ts';
import { aGrant } from '../../../support/builders.ts';
import { aRun, settled } from '../run-store.conformance.ts';
import { hasRedis, RedisServer } from './redis-server.ts';
import { age, aStore, HOUR_MS, Lines } from './stores.ts';

const ID = asRunId('aaaaaaaaaa');
const KEY = '{kdebug}:run:aaaaaaaaaa';
const QUOTAS = [
  { key: 'person:U0ROY', code: 'limit_per_person', per: 'window', windowMs: 60_000, max: 9 },
  { key: 'channel:C0SHOP', code: 'limit_per_channel', per: 'open', max: 9 },
] as const;

describe.skipIf(!hasRedis)('who can read or write Redis', () => {
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

  const created = async (id: string = ID): Promise<number> => {
    const answer = await store.create(aRun(id), 'one', QUOTAS);
    return answer.kind === 'created' ? answer.fence : 0;
  };

  it('cannot make kdebug believe that a result was told', async () => {
    const other = asRunId('bbbbbbbbbb');
    await store.searches.found(other, HOUR_MS);
    for (const forged of ['found', (await redis.get(`{kdebug}:found:${other}`)) ?? '']) {
      await redis.set(`{kdebug}:found:${ID}`, forged);
      expect(await store.searches.wasFound(ID)).toBe(false);
    }
    expect(await store.searches.wasFound(other)).toBe(true);
  });

  it('learns no person, no channel, no request and no log from it, only states and times', async () => {
    const log = { bytes: 1, lines: 1, sha256: 'x', redactions: 0, head: 'canary of a log', tail: '', omittedLines: 0 };
    const completeness = { complete: true, limitReached: false, beginningMayBeMissing: false, gaps: [] };
    await store.save({ ...aRun(ID), log: { ...log, completeness } }, await created());
    await store.learn('sha256:canary', { uid: 10_001, gid: 10_001 });
    await created('bbbbbbbbbb');
    await store.save(settled(aRun('bbbbbbbbbb')), Number(await redis.hget('{kdebug}:run:bbbbbbbbbb', 'fence')));
    const all: string[] = [];
    for (const key of await redis.keys('*')) {
      const type = await redis.type(key);
      const values =
        type === 'hash'
          ? Object.values(await redis.hgetall(key))
          : type === 'zset'
            ? await redis.zrange(key, 0, '-1')
            : [await redis.get(key)];
      all.push(key, ...values.map(String));
    }
    expect(all.length).toBeGreaterThan(30);
    for (const word of ['U0ROY', 'C0SHOP', 'T0SHOP', 'slash:', 'nginx', 'DEPTH', 'canary', '10001']) {
      expect(
        all.filter((text) => text.includes(word)),
        word,
      ).toEqual([]);
    }
  });

  it('cannot forge: a changed record is refused by name, left alone, and keeps no other from being adopted', async () => {
    await created();
    await created('bbbbbbbbbb');
    const data = (await redis.hget(KEY, 'data')) ?? '';
    const at = Math.floor(data.length / 2);
    await redis.hset(KEY, 'data', `${data.slice(0, at)}${data[at] === 'A' ? 'B' : 'A'}${data.slice(at + 1)}`);
    const refused = { code: 'store_record_unreadable', detail: 'run aaaaaaaaaa: changed from outside' };
    await expect(store.read(ID)).rejects.toMatchObject(refused);
    await expect(store.lease(ID, 'one')).rejects.toMatchObject(refused);
    expect((await store.recent('C0SHOP', 9)).map(({ id }) => id)).toEqual(['bbbbbbbbbb']);
    await age(redis, 31_000);
    expect((await store.claim('two', 9)).map(({ run }) => run.id)).toEqual(['bbbbbbbbbb']);
    expect(log.messages.at(-1)).toBe('skipped unreadable record while claiming');
    // Not again at every look.
    expect(await store.claim('three', 9)).toEqual([]);
    expect(log.messages.filter((message) => message.endsWith('while claiming'))).toHaveLength(1);
  });

  it('cannot give a run the record of another, nor move it to the keys of another kdebug', async () => {
    await created();
    await created('bbbbbbbbbb');
    await redis.hset(KEY, 'data', (await redis.hget('{kdebug}:run:bbbbbbbbbb', 'data')) ?? '');
    await expect(store.read(ID)).rejects.toMatchObject({ code: 'store_record_unreadable' });
    await redis.copy('{kdebug}:run:bbbbbbbbbb', '{other}:run:bbbbbbbbbb');
    const other = await aStore(server.url, { keyPrefix: 'other' });
    await expect(other.read(asRunId('bbbbbbbbbb'))).rejects.toMatchObject({ code: 'store_record_unreadable' });
    await other.close();
  });

  const granted: Run = {
    ...aRun(ID),
    state: 'finished',
    grant: {
      ...aGrant({ expiresAtMs: Date.now() + HOUR_MS }),
    },
  };
  const used: Run = {
    ...granted,
    grant: { ...granted.grant!, uses: [{ runId: 'bbbbbbbbbb', userId: 'U0ROY', atMs: 1 }], endedBy: 'U0BOB' },
  };

  it.each(['read', 'granting', 'take', 'claim', 'recent'] as const)(
    'cannot undo the uses and the end of a grant that this replica has seen (%s)',
    async (how) => {
      const fence = await created();
      await store.save(granted, fence);
      const older = (await redis.hget(KEY, 'data')) ?? '';
      await store.save(used, fence);
      await redis.hset(KEY, 'data', older);
      await store.release(ID, fence);
      const back = {
        read: async () => store.read(ID),
        granting: async () => (await store.granting('C0SHOP'))[0],
        recent: async () => (await store.recent('C0SHOP', 1))[0],
        take: async () => {
          const lease = await store.lease(ID, 'one');
          return lease && 'run' in lease ? lease.run : undefined;
        },
        claim: async () => (await store.claim('one', 1))[0]?.run,
      };
      expect((await back[how]())?.grant).toEqual(used.grant);
    },
  );

  it('cannot put a note back that was taken, nor one of more than a minute ago', async () => {
    await store.notes.leave(ID, 'resume');
    const [sealed = ''] = await redis.zrange('{kdebug}:notes:aaaaaaaaaa', '0', '-1');
    expect(await store.notes.read(ID)).toEqual(['resume']);
    await redis.zadd('{kdebug}:notes:aaaaaaaaaa', '1', sealed);
    expect(await store.notes.read(ID)).toEqual([]);
    const seal = createSeal(deriveKey(Buffer.alloc(32, 1), 'records'));
    const old = (ms: number) => seal.seal(`${Date.now() - ms}\nresume`, '{kdebug}: note aaaaaaaaaa');
    await redis.zadd('{kdebug}:notes:aaaaaaaaaa', '1', old(70_000), '2', old(10_000));
    expect(await store.notes.read(ID)).toEqual(['resume']);
  });

  it('cannot tell kdebug as whom to run an image', async () => {
    await store.learn('sha256:1', { uid: 1, gid: 1 });
    const [key = ''] = await redis.keys('*learnt*');
    await redis.set(key, '0:0');
    expect(await store.learnt('sha256:1')).toBeUndefined();
  });
});

describe.skipIf(!hasRedis)('replicas that are not alike', () => {
  let server: RedisServer;
  let redis: Redis;
  let store: RunStore;

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
    store = await aStore(server.url);
  });
  afterEach(() => store.close());

  it('one with another key neither reads, takes nor claims the runs of the others, and says why', async () => {
    await store.create(aRun(ID), 'one');
    const stranger = await aStore(server.url, { key: Buffer.alloc(32, 2) });
    const refused = { code: 'store_record_unreadable', detail: expect.stringContaining('another key') };
    await expect(stranger.read(ID)).rejects.toMatchObject(refused);
    await expect(stranger.lease(ID, 'two')).rejects.toMatchObject(refused);
    expect(await stranger.recent('C0SHOP', 9)).toEqual([]);
    await age(redis, 31_000);
    expect(await stranger.claim('two', 9)).toEqual([]);
    await age(redis, 1_000);
    expect(await store.claim('three', 9)).toHaveLength(1);
    await stranger.close();
  });

  it('one that is older leaves the runs of a newer schema to the newer', async () => {
    await store.create(aRun(ID), 'one');
    await redis.hset(KEY, 'schema', '2');
    await age(redis, 31_000);
    expect(await store.claim('two', 9)).toEqual([]);
    await expect(store.lease(ID, 'two')).rejects.toMatchObject({ code: 'store_record_unreadable' });
    await expect(store.read(ID)).rejects.toMatchObject({ detail: 'run aaaaaaaaaa: newer schema' });
    await redis.hset(KEY, 'schema', '1');
    await age(redis, 1_000);
    expect(await store.claim('two', 9)).toHaveLength(1);
  });

  it('one that is older wrote runs without bounds: they begin to wait for an approval all the same', async () => {
    const pending = { key: 'person:U0ROY', code: 'limit_pending_per_person', per: 'pending', max: 1 } as const;
    const answer = await store.create(aRun(ID), 'one', [pending]);
    await redis.hdel(KEY, 'bounds');
    const waits = { ...aRun(ID), state: 'pending-approval' } as const;
    expect(await store.save(waits, answer.kind === 'created' ? answer.fence : 0)).toBe('saved');
  });

  it('one that is older keeps the fields that it does not know, through its own changes too', async () => {
    const newer = { ...aRun(ID), soon: { deep: [1] }, delivery: { told: false, soon: 'kept' } };
    await store.create(newer, 'two');
    await age(redis, 31_000);
    const [lease] = await store.claim('one', 1);
    const refusal = { code: 'channel_unknown', message: 'no', hint: 'ask' };
    const moved = lease && transition(lease.run, { kind: 'denied', refusal, atMs: 1 });
    if (moved?.kind !== 'moved') throw new Error('it was to move');
    await store.save(moved.run, lease?.fence ?? 0);
    expect(await store.read(ID)).toEqual({ ...newer, state: 'denied', refusal, finishedAtMs: 1 });
  });
});
