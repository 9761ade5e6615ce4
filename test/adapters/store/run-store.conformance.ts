import { beforeEach, describe, expect, it } from 'vitest';
import { asChannelId, asRunId, asUserId } from '../../../src/core/ids.ts';
import type { Run } from '../../../src/core/run/run.ts';
import type { Quota, RunStore } from '../../../src/flow/ports/store.ts';

/** One store under test, empty, and the means to let its leases lapse. */
export interface StoreUnderTest {
  readonly store: RunStore;
  /** Another client of the same runs; a store of one process gives itself. */
  readonly second: RunStore;
  /** Lets so much of the store's time pass. */
  readonly elapse: (ms: number) => Promise<void>;
  readonly leaseMs: number;
  /** The store's own clock. */
  readonly now: () => number;
}

export function aRun(id: string, over: { channelId?: string; dedupeKey?: string } = {}): Run {
  return {
    schema: 1,
    id: asRunId(id),
    state: 'received',
    origin: {
      source: 'slash',
      dedupeKey: over.dedupeKey ?? `slash:${id}`,
      teamId: 'T0SHOP',
      channelId: asChannelId(over.channelId ?? 'C0SHOP'),
      requesterId: asUserId('U0ROY'),
      receivedAtMs: 1_750_000_000_000,
    },
    request: {
      target: { kind: 'pod', name: 'nginx-pod-1234' },
      env: [{ name: 'DEPTH', value: '3' }],
      profile: 'auto',
      command: [],
      argumentsOnly: false,
      dryRun: false,
      batch: { canary: false },
    },
    commandLine: '/kdebug nginx-pod-1234',
    delivery: {},
  };
}

/** A final run about which everything has been said. */
export const settled = (run: Run): Run => ({ ...run, state: 'denied', delivery: { told: true } });

const waitingForVotes = (expiresAtMs: number) =>
  ({
    state: 'pending-approval',
    approval: {
      rule: 'attach',
      from: ['sre'],
      count: 1,
      expiresAtMs,
      voteReason: 'optional',
      grants: 'allowed',
      votes: [],
    },
    delivery: { anchor: { channelId: 'C0SHOP', ts: '1.0' } },
    asked: { remindAtMs: 0, remindedAtMs: 1, here: true, waiting: [], copies: [] },
  }) as const;

const aGrant = (expiresAtMs: number) =>
  ({
    byUserId: 'U0BOB',
    rule: 'attach',
    scope: 'feed',
    expiresAtMs,
    maxRuns: 20,
    uses: [],
  }) as const;

async function created(store: RunStore, run: Run, owner = 'one'): Promise<number> {
  const answer = await store.create(run, owner);
  if (answer.kind !== 'created') throw new Error(`expected a new run, got ${JSON.stringify(answer)}`);
  return answer.fence;
}

async function made(store: RunStore, run: Run, quotas: readonly Quota[]): Promise<number> {
  const answer = await store.create(run, 'one', quotas);
  if (answer.kind !== 'created') throw new Error(`expected a new run, got ${JSON.stringify(answer)}`);
  return answer.fence;
}

/** What every RunStore promises, whatever keeps the runs (src/flow/ports/store.ts). */
export function describeRunStore(name: string, setUp: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps the promises of a RunStore`, () => {
    let at: StoreUnderTest;

    beforeEach(async () => {
      at = await setUp();
      return async () => {
        await at.second.close();
        await at.store.close();
      };
    });

    it('gives a run back as it was given', async () => {
      const run = aRun('aaaaaaaaaa');
      await created(at.store, run);
      expect(await at.second.read(run.id)).toEqual(run);
    });

    it('knows nothing of a run that was never created', async () => {
      expect(await at.store.read(asRunId('zzzzzzzzzz'))).toBeUndefined();
      expect(await at.store.save(aRun('zzzzzzzzzz'), 1)).toBe('stale');
      await at.store.release(asRunId('zzzzzzzzzz'), 1);
    });

    it('keeps what it was given when the caller changes it later', async () => {
      const run = { ...aRun('aaaaaaaaaa'), delivery: { told: false } };
      const fence = await created(at.store, run);
      run.delivery.told = true;
      expect((await at.store.read(run.id))?.delivery.told).toBe(false);
      await at.store.save(run, fence);
      run.delivery.told = false;
      expect((await at.store.read(run.id))?.delivery.told).toBe(true);
    });

    it('answers a second delivery of the same request with the first run', async () => {
      const first = aRun('aaaaaaaaaa', { dedupeKey: 'same' });
      await created(at.store, first);
      const second = await at.second.create(aRun('bbbbbbbbbb', { dedupeKey: 'same' }), 'two');
      expect(second).toEqual({ kind: 'duplicate', runId: first.id });
      expect(await at.store.read(asRunId('bbbbbbbbbb'))).toBeUndefined();
    });

    it('gives one of many simultaneous deliveries the run', async () => {
      const ids = ['aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc', 'dddddddddd'];
      const answers = await Promise.all(
        ids.map((id, index) =>
          (index % 2 ? at.second : at.store).create(aRun(id, { dedupeKey: 'same' }), `owner-${id}`),
        ),
      );
      expect(answers.filter(({ kind }) => kind === 'created')).toHaveLength(1);
    });

    it('answers the repeat of a create whose answer was lost with the same lease', async () => {
      const run = aRun('aaaaaaaaaa');
      const fence = await created(at.store, run);
      expect(await at.store.create(run, 'one')).toEqual({ kind: 'created', fence });
    });

    it('leases a new run to who created it until the lease lapses', async () => {
      const run = aRun('aaaaaaaaaa');
      await created(at.store, run);
      expect(await at.second.claim('two', 10)).toEqual([]);
      await at.elapse(at.leaseMs + 1);
      expect((await at.second.claim('two', 10)).map((lease) => lease.run)).toEqual([run]);
      expect(await at.store.claim('one', 10)).toEqual([]);
    });

    it('keeps renewed leases, all of one owner and of no other', async () => {
      await created(at.store, aRun('aaaaaaaaaa'), 'one');
      await created(at.store, aRun('bbbbbbbbbb'), 'one');
      await created(at.store, aRun('cccccccccc'), 'two');
      await at.elapse(at.leaseMs * 0.75);
      await at.store.renew('one');
      await at.elapse(at.leaseMs * 0.75);
      expect((await at.second.claim('three', 10)).map(({ run }) => run.id)).toEqual(['cccccccccc']);
    });

    it('claims the oldest first and not more than asked for', async () => {
      for (const id of ['cccccccccc', 'aaaaaaaaaa', 'bbbbbbbbbb']) await created(at.store, aRun(id));
      await at.elapse(at.leaseMs + 1);
      expect((await at.store.claim('two', 2)).map(({ run }) => run.id)).toEqual(['cccccccccc', 'aaaaaaaaaa']);
      expect((await at.store.claim('two', 2)).map(({ run }) => run.id)).toEqual(['bbbbbbbbbb']);
    });

    it('gives each lapsed run to one of two simultaneous claims', async () => {
      const ids = Array.from({ length: 20 }, (_, index) => `aaaaaaaa${'abcdefghijklmnopqrst'[index]}a`);
      for (const id of ids) await created(at.store, aRun(id));
      await at.elapse(at.leaseMs + 1);
      const [mine, theirs] = await Promise.all([at.store.claim('two', 15), at.second.claim('three', 15)]);
      const claimed = [...mine, ...theirs].map(({ run }) => run.id);
      expect(new Set(claimed).size).toBe(claimed.length);
      expect(claimed).toHaveLength(20);
    });

    it('raises the fence with every claim', async () => {
      const run = aRun('aaaaaaaaaa');
      const fences = [await created(at.store, run)];
      for (const owner of ['two', 'three', 'two']) {
        await at.elapse(at.leaseMs + 1);
        fences.push(...(await at.store.claim(owner, 1)).map(({ fence }) => fence));
      }
      expect(fences).toHaveLength(4);
      expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
    });

    it('refuses the write of an owner whose run was claimed by another', async () => {
      const run = aRun('aaaaaaaaaa');
      const old = await created(at.store, run);
      await at.elapse(at.leaseMs + 1);
      const lease = (await at.second.claim('two', 1))[0];
      expect(await at.store.save({ ...run, state: 'approved' }, old)).toBe('stale');
      expect((await at.store.read(run.id))?.state).toBe('received');
      expect(await at.second.save({ ...run, state: 'approved' }, lease?.fence ?? 0)).toBe('saved');
      expect((await at.store.read(run.id))?.state).toBe('approved');
    });

    it('saves for an owner whose lease lapsed while nobody else claimed', async () => {
      const run = aRun('aaaaaaaaaa');
      const fence = await created(at.store, run);
      await at.elapse(at.leaseMs + 1);
      expect(await at.store.save({ ...run, state: 'approved' }, fence)).toBe('saved');
      expect(await at.second.claim('two', 10)).toEqual([]);
      await at.elapse(at.leaseMs * 0.75);
      expect(await at.store.save({ ...run, state: 'launching' }, fence)).toBe('saved');
      await at.elapse(at.leaseMs * 0.75);
      expect(await at.second.claim('two', 10)).toEqual([]);
      await at.elapse(at.leaseMs);
      expect(await at.second.claim('two', 10)).toHaveLength(1);
    });

    it('does not lease a released run to who saves it', async () => {
      const run = aRun('aaaaaaaaaa');
      const fence = await created(at.store, run);
      await at.store.release(run.id, fence);
      expect(await at.store.save({ ...run, state: 'approved' }, fence)).toBe('saved');
      expect(await at.second.claim('two', 10)).toHaveLength(1);
    });

    it('answers the repeat of a save as it answered the save', async () => {
      const run = settled(aRun('aaaaaaaaaa'));
      const fence = await created(at.store, aRun('aaaaaaaaaa'));
      expect(await at.store.save(run, fence)).toBe('saved');
      expect(await at.store.save(run, fence)).toBe('saved');
    });

    it('lets another claim a released run at once', async () => {
      const run = aRun('aaaaaaaaaa');
      await at.store.release(run.id, await created(at.store, run));
      expect(await at.second.claim('two', 10)).toHaveLength(1);
    });

    it('does not let a stale owner give the lease of another back', async () => {
      const run = aRun('aaaaaaaaaa');
      const old = await created(at.store, run);
      await at.elapse(at.leaseMs + 1);
      await at.second.claim('two', 1);
      await at.store.release(run.id, old);
      expect(await at.store.claim('three', 1)).toEqual([]);
    });

    it('does not renew a lease that was given back', async () => {
      const run = aRun('aaaaaaaaaa');
      await at.store.release(run.id, await created(at.store, run, 'one'));
      await at.store.renew('one');
      expect(await at.second.claim('two', 1)).toHaveLength(1);
    });

    it('never lets anyone claim a run that is settled, and still reads it', async () => {
      const run = aRun('aaaaaaaaaa');
      const fence = await created(at.store, run);
      await at.store.save(settled(run), fence);
      await at.store.release(run.id, fence);
      await at.elapse(at.leaseMs * 10);
      expect(await at.second.claim('two', 10)).toEqual([]);
      expect(await at.second.read(run.id)).toEqual(settled(run));
    });

    it.each(['denied', 'rejected', 'expired', 'cancelled', 'finished'] as const)(
      'lets another take over a run that is %s while nothing has been said about it',
      async (state) => {
        const run = { ...aRun('aaaaaaaaaa'), state };
        await at.store.save(run, await created(at.store, aRun('aaaaaaaaaa')));
        expect(await at.second.claim('two', 10)).toEqual([]);
        await at.elapse(at.leaseMs + 1);
        const leases = await at.second.claim('two', 10);
        expect(leases.map((lease) => lease.run)).toEqual([run]);
        expect(await at.second.save(settled(run), leases[0]?.fence ?? 0)).toBe('saved');
      },
    );

    it('answers a late delivery of a request that is settled with its run', async () => {
      const run = aRun('aaaaaaaaaa', { dedupeKey: 'same' });
      const fence = await created(at.store, run);
      await at.store.save(settled(run), fence);
      const late = await at.second.create(aRun('bbbbbbbbbb', { dedupeKey: 'same' }), 'two');
      expect(late).toEqual({ kind: 'duplicate', runId: run.id });
    });

    it('lists the newest runs of one channel, newest first, open and settled', async () => {
      for (const id of ['aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc']) await created(at.store, aRun(id));
      await created(at.store, aRun('dddddddddd', { channelId: 'C0OTHER' }));
      const fence = await created(at.store, aRun('eeeeeeeeee'));
      await at.store.save(settled(aRun('eeeeeeeeee')), fence);
      const recent = await at.second.recent('C0SHOP', 3);
      expect(recent.map(({ id }) => id)).toEqual(['eeeeeeeeee', 'cccccccccc', 'bbbbbbbbbb']);
      expect(await at.store.recent('C0NOBODY', 3)).toEqual([]);
    });

    it('lists the next runs after those that a reader has seen, open and settled in one order', async () => {
      for (const id of ['aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc', 'dddddddddd', 'eeeeeeeeee']) {
        const fence = await created(at.store, aRun(id));
        if (id === 'bbbbbbbbbb' || id === 'dddddddddd') await at.store.save(settled(aRun(id)), fence);
      }
      const page = async (skip: number) => (await at.second.recent('C0SHOP', 2, skip)).map(({ id }) => id);
      expect(await page(0)).toEqual(['eeeeeeeeee', 'dddddddddd']);
      expect(await page(2)).toEqual(['cccccccccc', 'bbbbbbbbbb']);
      expect(await page(4)).toEqual(['aaaaaaaaaa']);
      expect(await page(5)).toEqual([]);
    });

    it('lists several channels together, newest first, each once, and no other', async () => {
      const channels = ['C0SHOP', 'C0OTHER', 'C0THIRD'];
      for (const [index, id] of ['aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc', 'dddddddddd'].entries())
        await created(at.store, aRun(id, { channelId: channels[index % 3] ?? '' }));
      const ids = async (of: readonly string[], limit: number, skip = 0) =>
        (await at.store.recent(of, limit, skip)).map(({ id }) => id);
      expect(await ids(['C0SHOP', 'C0OTHER'], 9)).toEqual(['dddddddddd', 'bbbbbbbbbb', 'aaaaaaaaaa']);
      expect(await ids(channels, 2, 1)).toEqual(['cccccccccc', 'bbbbbbbbbb']);
      expect(await ids([], 9)).toEqual([]);
    });

    it('takes one run for who must change it now, unless another holds it', async () => {
      const run = aRun('aaaaaaaaaa');
      const fence = await created(at.store, run, 'one');
      expect(await at.second.lease(run.id, 'two')).not.toHaveProperty('run');
      await at.store.release(run.id, fence);
      const lease = await at.second.lease(run.id, 'two');
      expect(lease?.fence).toBeGreaterThan(fence);
      expect(await at.store.save(run, fence)).toBe('stale');
      expect(await at.store.lease(asRunId('zzzzzzzzzz'), 'one')).toBeUndefined();
    });

    it('tells by the lease of another owner whether that one lives: only then its end moves', async () => {
      const run = aRun('aaaaaaaaaa');
      const fence = await created(at.store, run, 'one');
      await at.elapse(at.leaseMs / 4);
      const first = await at.second.lease(run.id, 'two');
      expect(first).toEqual({ fence, endsAtMs: expect.any(Number) });
      expect(await at.second.lease(run.id, 'two')).toEqual(first);
      await at.store.renew('one');
      const renewed = await at.second.lease(run.id, 'two');
      expect(renewed).toMatchObject({ fence });
      expect(
        renewed && 'endsAtMs' in renewed && first && 'endsAtMs' in first && renewed.endsAtMs > first.endsAtMs,
      ).toBe(true);
      await at.elapse(at.leaseMs + 1);
      expect(await at.second.lease(run.id, 'two')).toHaveProperty('run');
    });

    it('takes no run that is settled', async () => {
      const run = aRun('aaaaaaaaaa');
      const fence = await created(at.store, run);
      await at.store.save(settled(run), fence);
      expect(await at.store.lease(run.id, 'one')).toBeUndefined();
    });

    it('lets nobody claim a run that waits for votes until its time is over', async () => {
      const run = { ...aRun('aaaaaaaaaa'), ...waitingForVotes(at.now() + 60_000) };
      await at.store.release(run.id, await created(at.store, run));
      expect(await at.store.claim('two', 10)).toEqual([]);
      expect(await at.store.lease(run.id, 'two')).toBeDefined();
      await at.elapse(60_000 + at.leaseMs);
      expect(await at.store.claim('two', 10)).toHaveLength(1);
    });

    it('counts the runs that wait for votes, held or not, and knows how old the oldest is', async () => {
      expect(await at.store.pending()).toEqual({ count: 0, oldestMs: 0 });
      const waiting = waitingForVotes(at.now() + 600_000);
      const fence = await created(at.store, { ...aRun('aaaaaaaaaa'), ...waiting });
      await created(at.store, aRun('bbbbbbbbbb'));
      await at.elapse(5_000);
      await created(at.store, { ...aRun('cccccccccc'), ...waiting });
      const { count, oldestMs } = await at.second.pending();
      expect(count).toBe(2);
      expect(oldestMs).toBeGreaterThanOrEqual(5_000);
      expect(oldestMs).toBeLessThan(10_000);
      await at.store.save({ ...aRun('aaaaaaaaaa'), state: 'approved' }, fence);
      const later = await at.second.pending();
      expect(later.count).toBe(1);
      expect(later.oldestMs).toBeLessThan(5_000);
    });

    it('finds the runs of a channel that carry a grant', async () => {
      const grant = aGrant(at.now() + 60_000);
      const run = { ...aRun('aaaaaaaaaa'), state: 'finished', grant } as const;
      await created(at.store, run);
      await created(at.store, aRun('bbbbbbbbbb'));
      await created(at.store, { ...aRun('cccccccccc', { channelId: 'C0OTHER' }), grant });
      expect((await at.store.granting('C0SHOP')).map(({ id }) => id)).toEqual(['aaaaaaaaaa']);
    });

    it('bounds the open runs of a key, however many ask at once', async () => {
      const quota = { key: 'channel:C0SHOP', code: 'limit_per_channel', per: 'open', max: 2 } as const;
      const ids = ['aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc', 'dddddddddd'];
      const answers = await Promise.all(ids.map((id) => at.store.create(aRun(id), 'one', [quota])));
      expect(answers.filter(({ kind }) => kind === 'created')).toHaveLength(2);
      expect(answers.filter(({ kind }) => kind === 'limited')).toHaveLength(2);
      expect(await at.store.read(asRunId('dddddddddd'))).toBeUndefined();
      const fence = answers.find((answer) => answer.kind === 'created');
      if (fence?.kind !== 'created') throw new Error('one was created');
      await at.store.save(settled(aRun('aaaaaaaaaa')), fence.fence);
      expect((await at.store.create(aRun('eeeeeeeeee'), 'one', [quota])).kind).toBe('created');
    });

    const OPEN = { key: 'person:U0ROY', code: 'limit_runs_per_person', per: 'open', max: 3 } as const;
    const PENDING = { key: 'person:U0ROY', code: 'limit_pending_per_person', per: 'pending', max: 2 } as const;
    const idOf = (index: number): string => `aaaaaaaa${'abcdefghijklmnopqrstuvwxyz'[index]}a`;

    it('lets twenty requests of one instant through no bound, and says how many there are', async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 ? at.second : at.store).create(aRun(idOf(n)), 'one', [OPEN, PENDING]),
        ),
      );
      expect(answers.filter(({ kind }) => kind === 'created')).toHaveLength(3);
      expect(answers.filter(({ kind }) => kind === 'limited')).toHaveLength(17);
      expect(answers.find(({ kind }) => kind === 'limited')).toMatchObject({ code: 'limit_runs_per_person', count: 3 });
    });

    it('counts a run that waits for an approval apart, and again once it was approved', async () => {
      const waits = { ...aRun(idOf(0)), ...waitingForVotes(at.now() + 60_000) };
      const fence = await made(at.store, aRun(idOf(0)), [{ ...OPEN, max: 1 }, PENDING]);
      expect((await at.store.create(aRun(idOf(1)), 'one', [{ ...OPEN, max: 1 }])).kind).toBe('limited');
      expect(await at.store.save(waits, fence)).toBe('saved');
      const other = await at.second.create(aRun(idOf(2)), 'one', [{ ...OPEN, max: 1 }]);
      expect(other.kind).toBe('created');
      // It was let in before, so it is not refused.
      expect(await at.store.save({ ...waits, state: 'approved' }, fence)).toBe('saved');
      expect(await at.store.create(aRun(idOf(3)), 'one', [{ ...OPEN, max: 2 }])).toMatchObject({ count: 2 });
    });

    it('bounds the runs that wait for an approval, however many begin to wait at once, and changes nothing then', async () => {
      const fences = await Promise.all(Array.from({ length: 6 }, (_, n) => made(at.store, aRun(idOf(n)), [PENDING])));
      const waiting = fences.map((_, n) => ({ ...aRun(idOf(n)), ...waitingForVotes(at.now() + 60_000) }));
      const answers = await Promise.all(waiting.map((run, n) => at.store.save(run, fences[n] ?? 0)));
      expect(answers.filter((answer) => answer === 'saved')).toHaveLength(2);
      expect(answers.filter((answer) => answer === 'limited')).toHaveLength(4);
      const full = answers.indexOf('limited');
      expect((await at.second.read(asRunId(idOf(full))))?.state).toBe('received');
      // Who waits already is written again, and counts once.
      const first = answers.indexOf('saved');
      expect(await at.store.save(waiting[first] as Run, fences[first] ?? 0)).toBe('saved');
      await at.store.save(settled(aRun(idOf(first))), fences[first] ?? 0);
      expect(await at.store.save(waiting[full] as Run, fences[full] ?? 0)).toBe('saved');
    });

    it('counts a run once for each bound of one key', async () => {
      const minute = { ...OPEN, code: 'limit_per_person', per: 'window', windowMs: 60_000, max: 3 } as const;
      for (const n of [0, 1, 2]) await made(at.store, aRun(idOf(n)), [minute, OPEN, PENDING]);
      expect(await at.store.create(aRun(idOf(3)), 'one', [minute])).toMatchObject({
        code: 'limit_per_person',
        count: 3,
      });
    });

    it('counts a run once that is created again, saved again and adopted', async () => {
      const run = aRun(idOf(0));
      const fence = await made(at.store, run, [OPEN]);
      await at.store.create(run, 'one', [OPEN]);
      await at.store.save({ ...run, state: 'approved' }, fence);
      await at.elapse(at.leaseMs + 1);
      const [lease] = await at.second.claim('two', 1);
      await at.second.save({ ...run, state: 'launching' }, lease?.fence ?? 0);
      const bounded = { ...OPEN, max: 2 };
      expect((await at.store.create(aRun(idOf(1)), 'one', [bounded])).kind).toBe('created');
      expect(await at.store.create(aRun(idOf(2)), 'one', [bounded])).toMatchObject({ kind: 'limited', count: 2 });
    });

    it('bounds the runs of a minute, and says when there is room again', async () => {
      const quota = { key: 'person:U0ROY', code: 'limit_per_person', per: 'window', windowMs: 60_000, max: 1 } as const;
      const createdAtMs = at.now();
      await at.store.create(aRun('aaaaaaaaaa'), 'one', [quota]);
      const refused = await at.store.create(aRun('bbbbbbbbbb'), 'one', [quota]);
      expect(refused).toMatchObject({ kind: 'limited', code: 'limit_per_person' });
      // A store may have a clock of its own: the run was created a moment after we looked at ours.
      const waitMs = refused.kind === 'limited' ? (refused.retryAtMs ?? 0) - createdAtMs : 0;
      expect(waitMs).toBeGreaterThanOrEqual(60_000);
      expect(waitMs).toBeLessThan(65_000);
      expect((await at.store.create(aRun('cccccccccc'), 'one', [{ ...quota, key: 'person:U0BOB' }])).kind).toBe(
        'created',
      );
      await at.elapse(60_001);
      expect((await at.store.create(aRun('bbbbbbbbbb'), 'one', [quota])).kind).toBe('created');
    });

    it('bounds the runs of any other time in the same way', async () => {
      const quota = { key: 'alert:shop', code: 'alert_cooldown', per: 'window', windowMs: 1_800, max: 1 } as const;
      expect((await at.store.create(aRun('aaaaaaaaaa'), 'one', [quota])).kind).toBe('created');
      expect(await at.second.create(aRun('bbbbbbbbbb'), 'one', [quota])).toMatchObject({
        kind: 'limited',
        code: 'alert_cooldown',
        count: 1,
      });
      await at.elapse(1_801);
      expect((await at.store.create(aRun('bbbbbbbbbb'), 'one', [quota])).kind).toBe('created');
    });

    it('finds a run by its dedupe key, at every replica, and no other', async () => {
      const run = aRun('aaaaaaaaaa');
      expect(await at.store.idOf(run.origin.dedupeKey)).toBeUndefined();
      await at.store.create(run, 'one');
      expect(await at.second.idOf(run.origin.dedupeKey)).toBe(run.id);
      expect(await at.second.idOf(`${run.origin.dedupeKey} `)).toBeUndefined();
    });

    it('remembers who an image runs as, for every replica, by its newest word', async () => {
      await at.store.learn('sha256:feed', { uid: 65532, gid: 65532 });
      await at.second.learn('sha256:feed', { uid: 65532, gid: 0 });
      expect(await at.store.learnt('sha256:feed')).toEqual({ uid: 65532, gid: 0 });
      expect(await at.second.learnt('sha256:feed')).toEqual({ uid: 65532, gid: 0 });
    });

    it('forgets who targets of a kind run as 7 days after the last word', async () => {
      await at.store.learn('kept', { uid: 1, gid: 1 });
      await at.elapse(6 * 86_400_000);
      expect(await at.store.learnt('kept')).toEqual({ uid: 1, gid: 1 });
      await at.store.learn('kept', { uid: 2, gid: 2 });
      await at.elapse(6 * 86_400_000);
      expect(await at.store.learnt('kept')).toEqual({ uid: 2, gid: 2 });
      await at.elapse(86_400_001);
      expect(await at.store.learnt('kept')).toBeUndefined();
    });

    it('has learnt nothing of other images, however they are called', async () => {
      await at.store.learn('sha256:feed', { uid: 65532, gid: 0 });
      expect(await at.store.learnt('sha256:f00d')).toBeUndefined();
      expect(await at.store.learnt('')).toBeUndefined();
      expect(await at.store.learnt('__proto__')).toBeUndefined();
    });

    it('gives notes for a run to whoever asks first, the oldest first, each once', async () => {
      const [one, other] = [asRunId('aaaaaaaaaa'), asRunId('bbbbbbbbbb')];
      await at.store.notes.leave(one, 'first');
      await at.second.notes.leave(one, 'second');
      expect(await at.second.notes.read(other)).toEqual([]);
      expect(await at.second.notes.read(one)).toEqual(['first', 'second']);
      expect(await at.store.notes.read(one)).toEqual([]);
    });

    it('keeps the newest hundred notes of a run', async () => {
      const id = asRunId('aaaaaaaaaa');
      for (let number = 0; number < 103; number += 1) {
        await at.store.notes.leave(id, String(number).padStart(3, '0'));
      }
      const notes = await at.store.notes.read(id);
      expect([notes.length, notes[0], notes.at(-1)]).toEqual([100, '003', '102']);
    });

    describe('searches for runs that the store has lost', () => {
      const [one, other, third] = [asRunId('aaaaaaaaaa'), asRunId('bbbbbbbbbb'), asRunId('cccccccccc')];
      const bounds = { perMinute: 2, heldMs: 5_000 };

      it('are one at a time for each run, until its turn has ended', async () => {
        expect(await at.store.searches.turn(one, bounds)).toEqual({ kind: 'yours' });
        expect(await at.second.searches.turn(one, bounds)).toEqual({ kind: 'held' });
        expect(await at.store.searches.turn(one, bounds)).toEqual({ kind: 'held' });
        await at.elapse(5_001);
        expect(await at.second.searches.turn(one, bounds)).toEqual({ kind: 'yours' });
      });

      it('get so many turns a minute, whoever has them, and learn when the next is free', async () => {
        await at.store.searches.turn(one, bounds);
        await at.elapse(20_000);
        expect(await at.second.searches.turn(other, bounds)).toEqual({ kind: 'yours' });
        for (const store of [at.store, at.second]) {
          const answer = await store.searches.turn(third, bounds);
          expect(answer).toMatchObject({ kind: 'none-left' });
          const freeInMs = answer.kind === 'none-left' ? answer.freeInMs : 0;
          expect(freeInMs).toBeGreaterThan(35_000);
          expect(freeInMs).toBeLessThanOrEqual(40_000);
        }
        await at.elapse(40_001);
        expect(await at.second.searches.turn(third, bounds)).toEqual({ kind: 'yours' });
        expect(await at.store.searches.turn(one, bounds)).toMatchObject({ kind: 'none-left' });
      });

      it('count each turn of one run', async () => {
        await at.store.searches.turn(one, bounds);
        await at.elapse(5_001);
        await at.store.searches.turn(one, bounds);
        await at.elapse(5_001);
        expect(await at.store.searches.turn(one, bounds)).toMatchObject({ kind: 'none-left' });
      });

      it('are remembered where they found something, for as long as wanted', async () => {
        expect(await at.store.searches.wasFound(one)).toBe(false);
        await at.store.searches.found(one, 60_000);
        await at.elapse(59_000);
        expect(await at.second.searches.wasFound(one)).toBe(true);
        expect(await at.second.searches.wasFound(other)).toBe(false);
        await at.elapse(1_001);
        expect(await at.store.searches.wasFound(one)).toBe(false);
      });
    });

    it('answers a check while it is open', async () => {
      await expect(at.store.check()).resolves.toBeUndefined();
    });

    it('is unreachable once it is closed', async () => {
      await at.store.close();
      await expect(at.store.check()).rejects.toMatchObject({ code: 'store_unreachable' });
      await expect(at.store.read(asRunId('aaaaaaaaaa'))).rejects.toMatchObject({ code: 'store_unreachable' });
    });
  });
}
