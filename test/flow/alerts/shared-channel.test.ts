import { describe, expect, it } from 'vitest';
import type { Alert } from '../../../src/core/alert/notification.ts';
import { asChannelId } from '../../../src/core/ids.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { aNotification, anAlert, anAlertPolicy } from '../../support/alerts.ts';
import { aRule } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { endAll } from '../support/ended.ts';
import { World } from '../support/world.ts';

const ALLOWED: Partial<Policy> = {
  channels: { [asChannelId('C0SHOP')]: { slackConnect: 'allowed', rules: [aRule()] } },
};

function shared(parts: Partial<Policy> = {}): World {
  const world = new World({ policy: anAlertPolicy({}, parts) });
  world.directory.shared.add('C0SHOP');
  return world;
}

async function tell(world: World, alerts: readonly Alert[] = [anAlert()], group = 'one'): Promise<string> {
  const told = aNotification(alerts, { groupKey: group });
  const result = await world.pipeline.alerts.receive('shop', told).catch(({ code }) => String(code));
  await settle();
  return result;
}

const ended = (alert: Alert = anAlert()): Alert => ({ ...alert, isFiring: false });
const words = (world: World): string => JSON.stringify([world.thread.posts, world.thread.told]);
const errors = (world: World) => world.logged.filter(({ level }) => level === 'error');

describe('in a channel that another company reads', () => {
  it.each<[string, Alert]>([
    ['that fires', anAlert()],
    ['that has ended', ended()],
    ['that names no pod', anAlert({ labels: { pod: '' } })],
    ['of an unknown cluster', anAlert({ labels: { cluster: 'eu-2' } })],
    ['about a pod that is gone', anAlert({ labels: { pod: 'gone-1' } })],
  ])('nothing is said of an alert %s, and its sender must send it again', async (_, alert) => {
    const world = shared();
    expect(await tell(world, [alert])).toBe('channel_shared');
    await world.clock.advance(120_000);
    expect(world.thread.posts).toEqual([]);
    expect(await world.store.recent('C0SHOP', 10)).toEqual([]);
    expect(errors(world)).toMatchObject([
      { fields: { source: 'shop', channelId: 'C0SHOP', reason: 'channel_shared' } },
    ]);
  });

  it('nothing is said of a storm, nor of a node that is out of order, and the log says so once', async () => {
    const world = shared();
    world.cluster.nodeNow = { name: 'node-a', conditions: [{ type: 'Ready', status: 'Unknown' }] };
    for (let index = 0; index < 10; index += 1) {
      const alert = anAlert({ labels: { alertname: `A${index}` } });
      expect(await tell(world, [alert], `${index}`)).toBe('channel_shared');
    }
    await world.clock.advance(120_000);
    expect(world.thread.posts).toEqual([]);
    expect(errors(world)).toHaveLength(1);
  });

  it('an alert is shown where the policy says so, or once the channel is the company’s own again', async () => {
    const allowed = shared(ALLOWED);
    expect(await tell(allowed)).toBe('accepted');
    expect(allowed.thread.posts).toHaveLength(1);
    const world = shared();
    expect(await tell(world)).toBe('channel_shared');
    world.directory.shared.clear();
    expect(await tell(world)).toBe('accepted');
    expect(world.thread.posts).toHaveLength(1);
  });

  it('nothing is said where Slack does not say whether it is shared', async () => {
    const world = new World({ policy: anAlertPolicy() });
    world.directory.faults.add('channel', 'slack_unreachable');
    expect(await tell(world)).toBe('channel_sharing_unknown');
    expect(await tell(world)).toBe('accepted');
  });
});

describe('a channel that becomes shared', () => {
  const lost = (world: World) =>
    world.metrics.text().then((text) => /kdebug_deliveries_lost_total (\d+)/.exec(text)?.[1]);

  it('hears no result of a look that was under way, and the log says that nobody did', async () => {
    const world = new World({ policy: anAlertPolicy() });
    await tell(world);
    const before = words(world);
    world.directory.shared.add('C0SHOP');
    await endAll(world);
    await world.clock.advance(120_000);
    expect(words(world)).toBe(before);
    expect(world.thread.calls).not.toContain('openDirect');
    const [run] = await world.store.recent('C0SHOP', 1);
    expect(run).toMatchObject({ state: 'finished', delivery: { lost: 'channel_shared', closed: true } });
    expect(errors(world)).toContainEqual(
      expect.objectContaining({
        fields: expect.objectContaining({ source: 'shop', channelId: 'C0SHOP', kind: 'result' }),
      }),
    );
    expect(Number(await lost(world))).toBeGreaterThan(0);
  });

  it('hears no end of an alert, neither on its card nor in its thread', async () => {
    const world = new World({ policy: anAlertPolicy() });
    await tell(world);
    await endAll(world);
    await world.clock.advance(10_000);
    const before = words(world);
    world.directory.shared.add('C0SHOP');
    expect(await tell(world, [ended()])).toBe('channel_shared');
    await world.clock.advance(26 * 3_600_000);
    expect(words(world)).toBe(before);
  });
});

describe('a channel without kdebug', () => {
  it('has its card when somebody has invited it and the alert is sent again', async () => {
    const world = new World({ policy: anAlertPolicy() });
    world.directory.notIn.add('C0SHOP');
    expect(await tell(world)).toBe('bot_not_in_channel');
    expect(errors(world)).toMatchObject([{ fields: { source: 'shop', channelId: 'C0SHOP' } }]);
    world.directory.notIn.clear();
    expect(await tell(world)).toBe('accepted');
    expect(world.thread.posts).toHaveLength(1);
  });

  it('counts the card that Slack refuses later as lost, and says whose it was', async () => {
    const world = new World({ policy: anAlertPolicy() });
    world.thread.faults.add('post', 'slack_channel_closed');
    await tell(world, [anAlert({ labels: { pod: '' } })]);
    await world.clock.advance(10_000);
    expect(errors(world)).toMatchObject([{ fields: { source: 'shop', channelId: 'C0SHOP' } }]);
    expect(await world.metrics.text()).toContain('kdebug_deliveries_lost_total 1');
  });
});
