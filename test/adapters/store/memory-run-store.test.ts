import { describe, expect, it } from 'vitest';
import { MemoryRunStore } from '../../../src/adapters/store/index.ts';
import { asRunId, asUserId } from '../../../src/core/ids.ts';
import { aRun, describeRunStore, settled } from './run-store.conformance.ts';

function aStore(options: { retentionMs?: () => number; maxSettled?: number } = {}) {
  const time = { nowMs: 1_750_000_000_000 };
  const store = new MemoryRunStore({
    clock: { now: () => time.nowMs, elapsed: () => time.nowMs },
    leaseMs: 30_000,
    ...options,
  });
  const settle = async (id: string) => {
    const answer = await store.create(aRun(id), 'one');
    if (answer.kind === 'created') await store.save(settled(aRun(id)), answer.fence);
  };
  return { store, time, settle };
}

describeRunStore('MemoryRunStore', async () => {
  const { store, time } = aStore();
  return {
    store,
    second: store,
    leaseMs: 30_000,
    now: () => time.nowMs,
    elapse: async (ms) => {
      time.nowMs += ms;
    },
  };
});

describe('MemoryRunStore stays small', () => {
  it('drops a settled run after its retention, with its dedupe key and its place in the channel', async () => {
    const { store, time, settle } = aStore({ retentionMs: () => 60_000 });
    await settle('aaaaaaaaaa');
    time.nowMs += 59_999;
    expect(await store.read(asRunId('aaaaaaaaaa'))).toBeDefined();
    time.nowMs += 1;
    expect(await store.read(asRunId('aaaaaaaaaa'))).toBeUndefined();
    expect(await store.recent('C0SHOP', 10)).toEqual([]);
    expect(await store.create(aRun('bbbbbbbbbb', { dedupeKey: 'slash:aaaaaaaaaa' }), 'one')).toMatchObject({
      kind: 'created',
    });
  });

  it('keeps runs as long as the policy of now says, not that of the start', async () => {
    let retentionMs = 3_600_000;
    const { store, time, settle } = aStore({ retentionMs: () => retentionMs });
    await settle('aaaaaaaaaa');
    time.nowMs += 60_000;
    expect(await store.read(asRunId('aaaaaaaaaa'))).toBeDefined();
    retentionMs = 60_000;
    expect(await store.read(asRunId('aaaaaaaaaa'))).toBeUndefined();
  });

  it('lets no alert push out what people asked for, and keeps a quarter as many of what alerts began', async () => {
    const { store, settle } = aStore({ maxSettled: 8 });
    await settle('aaaaaaaaaa');
    const ids = [...'bcdefghijklmnop'].map((letter) => letter.repeat(10));
    for (const id of ids) {
      const run = aRun(id);
      const alert = { ...run, origin: { ...run.origin, requesterId: asUserId('alert:shop') } };
      const created = await store.create(alert, 'one');
      if (created.kind !== 'created') throw new Error(created.kind);
      expect(await store.save({ ...alert, state: 'denied', delivery: { closed: true } }, created.fence)).toBe('saved');
    }
    expect((await store.recent('C0SHOP', 100)).map(({ id }) => id)).toEqual([...ids.slice(-2).reverse(), 'aaaaaaaaaa']);
  });

  it('drops the runs that were settled first beyond the cap', async () => {
    const { store, settle } = aStore({ maxSettled: 2 });
    for (const id of ['cccccccccc', 'aaaaaaaaaa', 'bbbbbbbbbb']) await settle(id);
    expect((await store.recent('C0SHOP', 10)).map(({ id }) => id)).toEqual(['bbbbbbbbbb', 'aaaaaaaaaa']);
  });

  it('lists a channel out of which most runs were dropped, in order', async () => {
    const { store, settle } = aStore({ maxSettled: 3 });
    const ids = Array.from(
      { length: 300 },
      (_, n) =>
        `aaaaaaa${'abcdefghij'[Math.floor(n / 100)]}${'abcdefghij'[Math.floor(n / 10) % 10]}${'abcdefghij'[n % 10]}`,
    );
    for (const id of ids) await settle(id);
    expect((await store.recent('C0SHOP', 10)).map(({ id }) => id)).toEqual(ids.slice(-3).reverse());
    expect((await store.recent('C0SHOP', 10, 2)).map(({ id }) => id)).toEqual([ids.at(-3)]);
  });

  it('keeps what it learnt of the newest thousand images', async () => {
    const { store } = aStore();
    await store.learn('sha256:first', { uid: 1, gid: 1 });
    for (let image = 0; image < 999; image += 1) await store.learn(`sha256:${image}`, { uid: 2, gid: 2 });
    expect(await store.learnt('sha256:first')).toEqual({ uid: 1, gid: 1 });
    await store.learn('sha256:0', { uid: 3, gid: 3 });
    await store.learn('sha256:last', { uid: 4, gid: 4 });
    expect(await store.learnt('sha256:first')).toBeUndefined();
    expect(await store.learnt('sha256:0')).toEqual({ uid: 3, gid: 3 });
  });

  it('never drops a run that is not settled, however old it is', async () => {
    const { store, time, settle } = aStore({ maxSettled: 1, retentionMs: () => 1 });
    await store.create(aRun('aaaaaaaaaa'), 'one');
    for (const id of ['bbbbbbbbbb', 'cccccccccc', 'dddddddddd']) await settle(id);
    time.nowMs += 30 * 86_400_000;
    expect((await store.recent('C0SHOP', 10)).map(({ id }) => id)).toEqual(['aaaaaaaaaa']);
    expect(await store.claim('two', 10)).toHaveLength(1);
  });

  it('hands out runs that nobody can change', async () => {
    const { store } = aStore();
    await store.create(aRun('aaaaaaaaaa'), 'one');
    const run = await store.read(asRunId('aaaaaaaaaa'));
    expect(Object.isFrozen(run)).toBe(true);
    expect(Object.isFrozen(run?.request.env[0])).toBe(true);
  });

  it('refuses a run id that another request has', async () => {
    const { store } = aStore();
    await store.create(aRun('aaaaaaaaaa'), 'one');
    await expect(store.create(aRun('aaaaaaaaaa', { dedupeKey: 'another' }), 'one')).rejects.toMatchObject({
      code: 'internal_error',
    });
  });
});
