import fc from 'fast-check';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asRunId } from '../../../../src/core/ids.ts';
import type { RunStore } from '../../../../src/flow/ports/store.ts';
import { aRun } from '../run-store.conformance.ts';
import { hasRedis, RedisServer, until } from './redis-server.ts';
import { age, aStore } from './stores.ts';

const ID = asRunId('aaaaaaaaaa');
const HUNDRED = Array.from({ length: 100 }, (_, index) => index);

describe.skipIf(!hasRedis)('replicas on one Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  let stores: readonly RunStore[];

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
    stores = await Promise.all([0, 1, 2].map(() => aStore(server.url)));
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
  });

  /** The same work at once through all replicas. */
  const race = <Value>(work: (store: RunStore, index: number) => Promise<Value>): Promise<Value[]> =>
    Promise.all(HUNDRED.map((index) => work(stores[index % 3] as RunStore, index)));

  it('make one run of a hundred deliveries of one request, and all others are told which', async () => {
    const answers = await race((store, index) =>
      store.create(
        aRun(`aaaaaaa${String(index + 200).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '')}`, {
          dedupeKey: 'same',
        }),
        `owner-${index}`,
      ),
    );
    const firsts = answers.filter(({ kind }) => kind === 'created');
    expect(firsts).toHaveLength(1);
    expect(new Set(answers.map((answer) => (answer.kind === 'duplicate' ? answer.runId : 'first'))).size).toBe(2);
    expect(await redis.keys('*run:*')).toHaveLength(1);
  });

  it('give a free run to one of a hundred who want to take it', async () => {
    const made = await stores[0]?.create(aRun(ID), 'one');
    if (made?.kind === 'created') await stores[0]?.release(ID, made.fence);
    const leases = await race((store, index) => store.lease(ID, `owner-${index}`));
    expect(leases.filter((lease) => lease && 'run' in lease)).toHaveLength(1);
  });

  it('let of a hundred writers only the one save that has the newest fence', async () => {
    const fences: number[] = [];
    const made = await stores[0]?.create(aRun(ID), 'owner');
    if (made?.kind === 'created') fences.push(made.fence);
    for (const _ of HUNDRED.slice(1)) fences.push((await stores[0]?.lease(ID, 'owner'))?.fence ?? 0);
    expect(new Set(fences).size).toBe(100);
    const answers = await race((store, index) =>
      store.save({ ...aRun(ID), commandLine: String(index) }, fences[index] ?? 0),
    );
    expect(answers.filter((answer) => answer === 'saved')).toHaveLength(1);
    expect((await stores[1]?.read(ID))?.commandLine).toBe('99');
  });

  it('do not extend the lease of another who has taken over', async () => {
    await stores[0]?.create(aRun(ID), 'one');
    await age(redis, 31_000);
    expect(await stores[1]?.claim('two', 1)).toHaveLength(1);
    await age(redis, 20_000);
    await stores[0]?.renew('one');
    await age(redis, 11_000);
    expect(await stores[2]?.claim('three', 1)).toHaveLength(1);
  });

  it('share out abandoned runs, none twice', async () => {
    const ids = HUNDRED.map((index) => `aaaaaaaa${'abcdefghij'[Math.floor(index / 10)]}${'abcdefghij'[index % 10]}`);
    await Promise.all(ids.map((id) => stores[0]?.create(aRun(id), 'dead')));
    await age(redis, 31_000);
    const claims = await Promise.all(stores.map((store, index) => store.claim(`owner-${index}`, 50)));
    expect(
      claims
        .flat()
        .map(({ run }) => run.id)
        .sort(),
    ).toEqual(ids);
  });

  it('never have two owners of one run, whatever they do in whatever order', async () => {
    const step = fc.record({
      replica: fc.nat(2),
      act: fc.constantFrom('take', 'claim', 'renew', 'release', 'save', 'lapse'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        await redis.flushall();
        const made = await stores[0]?.create(aRun(ID), 'owner-0');
        let newest = made?.kind === 'created' ? made.fence : 0;
        const fences = [newest, 0, 0];
        for (const { replica, act } of steps) {
          const [store, owner, fence] = [stores[replica] as RunStore, `owner-${replica}`, fences[replica] ?? 0];
          if (act === 'take' || act === 'claim') {
            const lease = act === 'take' ? await store.lease(ID, owner) : (await store.claim(owner, 1))[0];
            if (!lease || !('run' in lease)) continue;
            expect(lease.fence).toBeGreaterThan(newest);
            newest = lease.fence;
            fences[replica] = newest;
          } else if (act === 'save') {
            expect(await store.save({ ...aRun(ID), commandLine: owner }, fence)).toBe(
              fence === newest ? 'saved' : 'stale',
            );
          } else if (act === 'renew') await store.renew(owner);
          else if (act === 'release') await store.release(ID, fence);
          else await age(redis, 30_001);
        }
        const indexed = (await redis.zcard('{kdebug}:leases')) + (await redis.zcard('{kdebug}:waiting'));
        expect(indexed).toBe(1);
      }),
      { numRuns: 60, seed: 7 },
    );
  });

  it('adopt the work of one that died within five seconds, when they look every second', async () => {
    const [dead, living] = await Promise.all([
      aStore(server.url, { leaseMs: 3_500 }),
      aStore(server.url, { leaseMs: 3_500 }),
    ]);
    await dead.create(aRun(ID), 'dead');
    await dead.renew('dead');
    await dead.close();
    const diedAt = performance.now();
    const looks: number[] = [];
    await until(async () => {
      if (performance.now() < (looks.at(-1) ?? 0) + 1_000) return false;
      looks.push(performance.now());
      await living.renew('living');
      return (await living.claim('living', 9)).length === 1;
    });
    expect(performance.now() - diedAt).toBeGreaterThan(3_400);
    // The first look after the lapse is the one that adopts, however late this machine lets it come.
    expect((looks.at(-2) ?? 0) - diedAt).toBeLessThan(3_500);
    await living.close();
  });
});
