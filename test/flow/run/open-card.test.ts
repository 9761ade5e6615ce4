import { describe, expect, it } from 'vitest';
import { MemoryRunStore } from '../../../src/adapters/store/index.ts';
import { OPEN_MS } from '../../../src/core/alert/card.ts';
import type { AlertNotification } from '../../../src/core/alert/notification.ts';
import { RunSupervisor } from '../../../src/flow/supervisor.ts';
import { aNotification, anAlert, anAlertPolicy } from '../../support/alerts.ts';
import { aPod, START_MS } from '../../support/builders.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';
import { endAll } from '../support/ended.ts';
import { World } from '../support/world.ts';

const PERIOD_BEGINS_MS = Math.ceil(START_MS / OPEN_MS) * OPEN_MS;

/** A world in which it is so long before the beginning of a period. */
function worldBefore(ms: number): World {
  const clock = new FakeClock(PERIOD_BEGINS_MS - ms);
  return new World({ policy: anAlertPolicy(), clock, store: new MemoryRunStore({ clock }) });
}

/** Another replica, whose clock is ahead. */
function replicaAhead(world: World, ms: number): RunSupervisor {
  const { clock } = world;
  const ahead = {
    now: () => clock.now() + ms,
    elapsed: () => clock.elapsed(),
    after: (afterMs: number, wake: () => void) => clock.after(afterMs, wake),
  };
  return new RunSupervisor({ ...world.deps(), owner: 'replica-2', clock: ahead });
}

async function tell(world: World, notification: AlertNotification, replica = world.pipeline) {
  const received = await replica.alerts.receive('shop', notification);
  await settle();
  return received;
}

const firing = (world: World, labels = {}) => anAlert({ startsAtMs: world.clock.now() - 60_000, labels });
const runs = (world: World) => world.store.recent('C0SHOP', 100);

describe('the card of a group of alerts, where one period ends and the next begins', () => {
  it('is found by a replica whose clock is behind that of the one that made it', async () => {
    const world = worldBefore(1_000);
    const notification = aNotification([firing(world)]);
    expect(await tell(world, notification, replicaAhead(world, 3_000))).toBe('accepted');
    expect(await tell(world, notification)).toBe('repeated');
    expect(await runs(world)).toHaveLength(1);
  });

  it('is found after the clock was set back', async () => {
    const world = worldBefore(-1_000);
    const notification = aNotification([firing(world)]);
    await tell(world, notification);
    world.clock.jump(-2_000);
    expect(await tell(world, notification)).toBe('repeated');
  });

  it('has the looks at further pods in its thread, for as long as it takes alerts', async () => {
    const world = worldBefore(1);
    const alert = firing(world);
    await tell(world, aNotification([alert]));
    await endAll(world);
    await world.clock.advance(5 * 60_000);
    world.cluster.setPod(aPod({ metadata: { name: 'api-1', uid: 'uid-api' } }));
    await tell(world, aNotification([alert, firing(world, { pod: 'api-1' })]));
    await world.clock.advance(2_000);
    const [look, card] = await runs(world);
    expect(look?.request.target).toMatchObject({ name: 'api-1' });
    expect(card?.delivery.anchor?.ts).toBeDefined();
    expect(look?.origin.threadTs).toBe(card?.delivery.anchor?.ts);
  });

  it('asks the store for a card that is not there at most ten times, all at once', async () => {
    const world = worldBefore(1);
    let [asked, most, under] = [0, 0, 0];
    const idOf = world.store.idOf.bind(world.store);
    world.store.idOf = async (key) => {
      asked += 1;
      under += 1;
      most = Math.max(most, under);
      const id = await idOf(key);
      under -= 1;
      return id;
    };
    await tell(world, aNotification([{ ...firing(world), isFiring: false, endsAtMs: world.clock.now() }]));
    expect({ asked, most }).toEqual({ asked: 10, most: 10 });
  });
});
