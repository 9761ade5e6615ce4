import fc from 'fast-check';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MemoryRunStore } from '../../src/adapters/store/index.ts';
import { asChannelId } from '../../src/core/ids.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import type { Approval, Policy } from '../../src/core/policy/policy.ts';
import type { Delivery } from '../../src/core/run/delivery.ts';
import type { Run } from '../../src/core/run/run.ts';
import type { RunState } from '../../src/core/run/run-state.ts';
import type { RunStore } from '../../src/flow/ports/store.ts';
import { hasRedis, RedisServer, until } from '../adapters/store/redis/redis-server.ts';
import { aStore } from '../adapters/store/redis/stores.ts';
import { aGrant, anApproval, anOrigin, aPlan, aPolicy, aRule, aRun, aTermination } from '../support/builders.ts';
import { FakeClock, settle } from '../support/fake-clock.ts';
import { textOf } from '../support/plain-message.ts';
import { inFullOr } from '../support/sample.ts';
import { World } from './support/world.ts';

const MINUTE_MS = 60_000;
/** More than any run here needs; a run that goes round is cut off here, so that the test fails and does not hang. */
const MAX_SAVES = 120;

const terms: Approval = {
  from: ['sre'],
  count: 1,
  expiresMs: 15 * MINUTE_MS,
  reason: 'optional',
  voteReason: 'optional',
  grants: 'allowed',
};

const guarded = (): Policy =>
  aPolicy({
    channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ id: 'attach', approval: terms })] } },
    approvers: { sre: { usergroup: 'S0SRE', users: [] } },
  });

/** Counts the saves of a store, and answers no more of them than any run needs. */
function counted(store: RunStore): { readonly store: RunStore; readonly saves: () => number } {
  let saves = 0;
  const save = store.save.bind(store);
  store.save = async (run, fence) => {
    saves += 1;
    if (saves > MAX_SAVES) return new Promise(() => {});
    return save(run, fence);
  };
  return { store, saves: () => saves };
}

/** How a run that was approved comes to be given up. */
const GIVEN_UP: readonly (readonly [string, Outcome['kind'], (world: World) => Promise<void>])[] = [
  ['timed out', 'timed-out', (world) => running(world, 3 * MINUTE_MS)],
  ['did not start', 'start-failed', async (world) => world.cluster.report({ waiting: pullFailed })],
  ['was never heard of', 'no-status', (world) => world.clock.advance(2 * MINUTE_MS)],
  ['was lost with its node', 'node-lost', lostWithItsNode],
  ['has a launch that nobody answered', 'internal', (world) => world.clock.advance(3 * MINUTE_MS)],
];

const pullFailed = { reason: 'ImagePullBackOff', message: 'Back-off pulling image' };

async function running(world: World, ms: number): Promise<void> {
  await until(async () => {
    world.cluster.report({ running: { startedAt: '2026-11-21T07:30:01Z' } });
    await settle();
    const { state } = await world.run();
    return state !== 'launching' && state !== 'starting';
  });
  await world.clock.advance(ms);
}

async function lostWithItsNode(world: World): Promise<void> {
  world.cluster.nodeNow = {
    name: 'node-a',
    conditions: [{ type: 'Ready', status: 'Unknown', reason: '', message: '' }],
  } as never;
  await running(world, 3 * MINUTE_MS);
}

/** Approved with a grant, and given up. */
async function givenUp(store: RunStore, [, kind, giveUp]: (typeof GIVEN_UP)[number], clock: FakeClock): Promise<World> {
  const world = new World({ policy: guarded(), store, clock });
  // With Redis, an answer takes as long as it takes.
  const state = async (...states: RunState[]) => {
    await until(async () => {
      await settle();
      return states.includes((await world.run()).state);
    });
  };
  await world.say('web-1 --reason=hang');
  await state('pending-approval');
  await until(async () => (await world.run()).delivery.anchor !== undefined);
  if (kind === 'internal') {
    for (let n = 0; n < 200; n += 1) world.cluster.faults.add('launch', 'cluster_unreachable');
  }
  await world.click('U0BOB', 'approve-grant');
  await state('starting', 'launching');
  await until(async () => {
    await giveUp(world);
    await settle();
    return (await world.run()).outcome?.kind === kind;
  });
  await until(async () => {
    await settle();
    return (await world.run()).delivery.closed === true;
  });
  return world;
}

interface Made {
  readonly store: RunStore;
  readonly clock: FakeClock;
}

function describeGivenUp(name: string, make: () => Promise<Made>): void {
  describe(`a run with an open grant, in ${name},`, () => {
    it.each(GIVEN_UP)('that %s is quiet until the grant ends', async (...how) => {
      const { store, clock } = await make();
      const { saves } = counted(store);
      const world = await givenUp(store, how, clock);
      const before = saves();
      // How many they are depends on how quickly Redis answers while the clock is moved on.
      expect(before).toBeLessThan(MAX_SAVES);
      await clock.advance(10 * MINUTE_MS);
      await settle();
      expect(saves()).toBe(before);
      await clock.advance(25 * MINUTE_MS);
      await until(async () => {
        await settle();
        return (await world.run()).delivery.grantClosed === true;
      });
      expect(saves() - before).toBeLessThanOrEqual(2);
      await world.pipeline.drain(0);
    });
  });
}

describeGivenUp('memory', async () => {
  const clock = new FakeClock();
  return { store: new MemoryRunStore({ clock }), clock };
});

describe.skipIf(!hasRedis)('with a real Redis', () => {
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

  describeGivenUp('Redis', async () => ({ store: await aStore(server.url), clock: new FakeClock() }));
});

describe('the grant of a run that was given up', () => {
  const timedOut = async (): Promise<World> => {
    const clock = new FakeClock();
    return givenUp(new MemoryRunStore({ clock }), GIVEN_UP[0]!, clock);
  };
  const card = (world: World): string => JSON.stringify(world.thread.posts[0]?.message);

  it('is used while the late end is waited for, and the card says so', async () => {
    const world = await timedOut();
    await world.say('web-1', anOrigin({ dedupeKey: 'again', receivedAtMs: world.clock.now() }));
    expect(world.cluster.launches).toHaveLength(2);
    expect(card(world)).toContain('1 of 20 used');
  });

  it('is ended while the late end is waited for, and the card says so', async () => {
    const world = await timedOut();
    expect(await world.click('U0ALICE', 'end-grant')).toEqual({ kind: 'nothing' });
    expect(card(world)).toContain('ended by');
    expect((await world.run()).delivery.grantClosed).toBe(true);
  });

  it.each([
    ['while it is open', 5 * MINUTE_MS],
    ['after it has ended', 27.5 * MINUTE_MS],
  ])('does not keep the late end from being told, %s', async (_, ms) => {
    const world = await timedOut();
    await world.clock.advance(ms);
    world.cluster.report({ terminated: aTermination() });
    await settle();
    expect(await world.run()).toMatchObject({ late: true, outcome: { kind: 'succeeded' }, delivery: { closed: true } });
    expect(world.thread.posts).toHaveLength(3);
    expect(textOf(world.result())).toContain('Exit code 0');
  });
});

describe('an approval that runs out while Slack is away', () => {
  it('expires, although its card could not be posted before', async () => {
    const clock = new FakeClock();
    const world = new World({ policy: guarded(), clock });
    for (let n = 0; n < 40; n += 1) world.thread.faults.add('post', 'slack_unreachable');
    await world.say('web-1');
    await clock.advance(60 * MINUTE_MS);
    expect((await world.run()).outcome).toEqual({ kind: 'expired' });
  });
});

const STATES: readonly RunState[] = ['denied', 'rejected', 'expired', 'cancelled', 'finished', 'pending-approval'];
const OUTCOMES: readonly Outcome[] = [
  { kind: 'succeeded' },
  { kind: 'start-failed', reason: 'ImagePullBackOff', message: 'no' },
  { kind: 'no-status' },
  { kind: 'timed-out' },
  { kind: 'node-lost' },
  { kind: 'pod-gone' },
  { kind: 'internal', code: 'cluster_unreachable' },
];

describe('whatever a run came to', () => {
  const grant = fc.constantFrom(
    undefined,
    aGrant(),
    aGrant({ endedBy: 'U0BOB' }),
    aGrant({ maxRuns: 1, uses: [{ runId: 'b'.repeat(10), userId: 'U0ROY', atMs: 0 }] }),
    aGrant({ expiresAtMs: 1 }),
    aGrant({ expiresAtMs: new FakeClock().now() + MINUTE_MS }),
  );
  const delivery = fc.record({
    closed: fc.constantFrom(undefined, true as const),
    told: fc.constantFrom(undefined, true as const),
    grantClosed: fc.constantFrom(undefined, true as const),
    anchor: fc.constantFrom(undefined, { channelId: 'C0SHOP', ts: '1.0' }),
  });
  const parts = fc.record({
    state: fc.constantFrom(...STATES),
    outcome: fc.constantFrom(...OUTCOMES),
    launched: fc.boolean(),
    late: fc.boolean(),
    grant,
    delivery,
    jumpMs: fc.constantFrom(0, 45 * MINUTE_MS),
  });

  it('who adopts it takes few rounds, and leaves it settled or parked in the end', async () => {
    await fc.assert(
      fc.asyncProperty(parts, async ({ state, outcome, launched, late, grant: given, delivery: said, jumpMs }) => {
        const clock = new FakeClock();
        const { store, saves } = counted(new MemoryRunStore({ clock }));
        const world = new World({ policy: guarded(), store, clock });
        await world.thread.post(
          { channelId: 'C0SHOP' },
          { summary: '', tone: 'neutral', parts: [] },
          { run: '', kind: 'anchor', seq: 1 },
        );
        const run: Run = {
          ...aRun({ id: world.runId, state, plan: aPlan(), planHash: 'x', approval: anApproval() }),
          outcome,
          ...(state === 'denied' && { refusal: { code: 'image_not_allowed', message: 'no', hint: 'ask' } }),
          containerName: 'kdebug-x',
          ...(launched && { launchedAtMs: clock.now() }),
          ...(late && { late }),
          ...(given && { grant: given }),
          delivery: withoutNothing(said) as Delivery,
        };
        const kept = await store.create(run, 'replica-0');
        if (kept.kind === 'created') await store.release(run.id, kept.fence);
        world.pipeline.startAdopting();
        await clock.advance(2 * MINUTE_MS);
        clock.standStill(jumpMs);
        await clock.advance(2 * MINUTE_MS);
        expect(saves()).toBeLessThan(26);
        const before = [saves(), world.thread.calls.length];
        expect(world.thread.calls.length).toBeLessThan(40);
        await clock.advance(MINUTE_MS);
        expect([saves(), world.thread.calls.length]).toEqual(before);
        await world.pipeline.drain(0);
      }),
      { numRuns: inFullOr(60, 20) },
    );
  });
});

/** Without the fields that are not there. */
function withoutNothing<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
}
