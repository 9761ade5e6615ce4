import { describe, expect, it } from 'vitest';
import { view } from '../../../src/adapters/slack/views/view.ts';
import type { Alert, AlertNotification } from '../../../src/core/alert/notification.ts';
import { asChannelId, asRunId, asUserId } from '../../../src/core/ids.ts';
import { identityFor, yieldedIdentities } from '../../../src/core/planning/identity.ts';
import { roomFor } from '../../../src/core/planning/plan-request.ts';
import type { AlertSource, Limits, Policy } from '../../../src/core/policy/policy.ts';
import { openCardsOf } from '../../../src/flow/alerts/looks.ts';
import { RunSupervisor } from '../../../src/flow/supervisor.ts';
import { aNotification, anAlert, anAlertPolicy } from '../../support/alerts.ts';
import { anOrigin, aPod, approvalTerms, aRule, aRun, START_MS } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { endAll } from '../support/ended.ts';
import { World } from '../support/world.ts';

const HOUR_MS = 3_600_000;

const worldWith = (source: Partial<AlertSource> = {}, parts: Partial<Policy> = {}): World =>
  new World({ policy: anAlertPolicy(source, parts) });

async function tell(world: World, notification: AlertNotification = aNotification()) {
  const received = await world.pipeline.alerts.receive('shop', notification);
  await settle();
  return received;
}

const runs = (world: World) => world.store.recent('C0SHOP', 100);
const card = (world: World): string => textOf(world.anchor());
const resolved = (alert: Alert = anAlert(), endsAtMs = START_MS + 600_000): Alert => ({
  ...alert,
  isFiring: false,
  endsAtMs,
});

describe('an alert that fires', () => {
  it('is one card, and one look as its source, whom nobody mentions', async () => {
    const world = worldWith();
    expect(await tell(world)).toBe('accepted');
    expect(await runs(world)).toMatchObject([
      { origin: { source: 'webhook', requesterId: 'alert:shop', channelId: 'C0SHOP' } },
    ]);
    expect(world.cluster.launches).toHaveLength(1);
    expect(card(world)).toMatch(/^KubePodCrashLooping · critical · firing, since/m);
    expect(card(world)).toContain('Pod is crash looping.');
    expect(card(world)).toContain('alert source shop');
    expect(JSON.stringify(world.thread.posts)).not.toContain('"kind":"person"');
    await endAll(world);
    expect(world.thread.posts.map(({ meta }) => meta.kind)).toEqual(['anchor', 'result']);
    expect(JSON.stringify(world.thread.posts)).not.toContain('"kind":"person"');
  });

  it('is recorded with its name and fingerprint', async () => {
    const world = worldWith();
    await tell(world);
    const facts = world.audit.entries.find(({ step }) => step === 'request')?.facts;
    expect(facts).toMatchObject({ source: 'webhook', alert: 'KubePodCrashLooping' });
    expect(facts?.alerts).toMatch(/^[0-9a-f]{16}$/);
  });

  it('is told of once, however often and at how many replicas it arrives', async () => {
    const world = worldWith();
    const other = new RunSupervisor({ ...world.deps(), owner: 'replica-2' });
    const replicas = [world.pipeline, other, world.pipeline, other];
    await Promise.all(replicas.map((replica) => replica.alerts.receive('shop', aNotification())));
    await settle();
    await tell(world);
    expect(await runs(world)).toHaveLength(1);
    expect(world.cluster.launches).toHaveLength(1);
    expect(world.thread.posts).toHaveLength(1);
  });

  it('acts on nothing that the policy does not match', async () => {
    const world = worldWith({ match: { severity: ['critical'], alertname: ['Kube*'] } });
    expect(await tell(world, aNotification([anAlert({ labels: { severity: 'warning' } })]))).toBe('ignored');
    expect(await tell(world, aNotification([anAlert({ labels: { alertname: 'Watchdog' } })]))).toBe('ignored');
    expect(await runs(world)).toEqual([]);
    expect(await tell(world)).toBe('accepted');
  });

  it('matches nothing by an empty list, and no label that is missing', async () => {
    const world = worldWith({ match: { severity: [] } });
    expect(await tell(world)).toBe('ignored');
    world.policy = anAlertPolicy({ match: { team: ['*'] } });
    expect(await tell(world)).toBe('ignored');
  });
});

describe('an alert that may start nothing is shown, and says why', () => {
  const denied = async (world: World, notification?: AlertNotification) => {
    expect(await tell(world, notification)).toBe('accepted');
    const [run] = await runs(world);
    expect(world.cluster.launches).toEqual([]);
    expect(world.thread.told).toEqual([]);
    expect(card(world)).toContain('Not diagnosed');
    return run?.refusal?.code;
  };

  it('of a cluster that the policy does not map', async () => {
    const elsewhere = aNotification([anAlert({ labels: { cluster: 'eu-2' } })]);
    expect(await denied(worldWith(), elsewhere)).toBe('alert_cluster_unknown');
    expect(await denied(worldWith({ clusters: { 'eu-1': 'prod' } }), elsewhere)).toBe('alert_cluster_unknown');
    expect(await denied(worldWith({ clusters: { 'eu-1': 'prod' } }))).toBe('alert_cluster_unknown');
  });

  it('without a pod, or of an exporter’s pod', async () => {
    expect(await denied(worldWith(), aNotification([anAlert({ labels: { pod: '' } })]))).toBe('alert_names_no_pod');
    const exporter = anAlert({ labels: { namespace: 'monitoring', pod: 'kube-state-metrics-7d4b9c8f6d-abcde' } });
    expect(await denied(worldWith(), aNotification([exporter]))).toBe('alert_of_exporter');
  });

  it('without a command for every pod, which nobody typed', async () => {
    const world = worldWith();
    await denied(world, aNotification([anAlert({ labels: { pod: '' } })]));
    expect(card(world)).not.toContain('--all');
    expect(JSON.stringify(world.audit.entries)).not.toContain('--all');
  });

  it('that began long ago', async () => {
    const old = anAlert({ startsAtMs: START_MS - 16 * 60_000 });
    expect(await denied(worldWith(), aNotification([old]))).toBe('alert_too_old');
  });

  it('in a channel or namespace without a rule', async () => {
    const none = { [asChannelId('C0SHOP')]: { rules: [] } };
    expect(await denied(worldWith({}, { channels: none }))).toBe('cluster_not_allowed');
  });

  it('whose rule wants an approval, unless the source may ask', async () => {
    const rules = [aRule({ approval: approvalTerms() })];
    const parts = {
      approvers: { sre: { users: [], usergroup: 'S0SRE' } },
      channels: { [asChannelId('C0SHOP')]: { rules } },
    };
    expect(await denied(worldWith({}, parts))).toBe('alert_needs_approval');
    const asking = worldWith({ asks: true }, parts);
    await tell(asking);
    expect(await runs(asking)).toMatchObject([{ state: 'pending-approval', approval: { grants: 'denied' } }]);
    asking.policy = { ...asking.policy, limits: { ...asking.policy.limits, pendingApprovalsPerUser: 1 } };
    await tell(asking, aNotification([anAlert({ labels: { alertname: 'Another' } })], { groupKey: 'another' }));
    // What the API knows is said all the same.
    expect((await runs(asking))[0]?.outcome).toEqual({ kind: 'answered', because: 'limit_pending_per_person' });
  });

  it('of an image that does more than observe', async () => {
    const policy = anAlertPolicy();
    const images = Object.fromEntries(
      Object.entries(policy.images).map(([alias, image]) => [alias, { ...image, class: 'intrusive' as const }]),
    );
    const rules = [aRule({ classes: ['observe', 'intrusive'] })];
    const world = worldWith({}, { images, channels: { [asChannelId('C0SHOP')]: { rules } } });
    expect(await denied(world)).toBe('alert_not_observe');
  });
});

describe('an alert about a pod that is gone', () => {
  it('says so on its card, and looks at no other pod in its place', async () => {
    const world = worldWith();
    await tell(world, aNotification([anAlert({ labels: { pod: 'web-9' } })]));
    expect(await runs(world)).toMatchObject([{ state: 'denied' }]);
    expect(world.cluster.launches).toEqual([]);
    expect(card(world)).toMatch(/web-9: Not diagnosed/);
  });

  const heir = (isReady: boolean) =>
    aPod({
      metadata: {
        name: 'web-7d4b9c8f6d-2xk7p',
        ownerReferences: [{ kind: 'ReplicaSet', name: 'web-7d4b9c8f6d', controller: true }],
        labels: { 'pod-template-hash': '7d4b9c8f6d' },
      },
      status: {
        unmetConditions: isReady
          ? []
          : [{ type: 'Ready', reason: 'ContainersNotReady', message: 'web', since: '2026-11-21T07:28:00Z' }],
      },
    });
  const gone = aNotification([anAlert({ labels: { pod: 'web-7d4b9c8f6d-8r2ls' } })]);

  it('looks at the pod in its place if that is not ready either, and says so', async () => {
    const world = worldWith();
    world.cluster.setPod(heir(false));
    await tell(world, gone);
    expect(world.cluster.launches).toHaveLength(1);
    expect(card(world)).toMatch(
      /web-7d4b9c8f6d-8r2ls of this alert is gone; web-7d4b9c8f6d-2xk7p is in its place, and not ready/,
    );
  });

  it('leaves the pod in its place alone if that is ready, and names it', async () => {
    const world = worldWith();
    world.cluster.setPod(heir(true));
    await tell(world, gone);
    expect(world.cluster.launches).toEqual([]);
    expect(card(world)).toContain('web-7d4b9c8f6d-8r2ls is gone; deployment/web has web-7d4b9c8f6d-2xk7p now');
  });
});

describe('a source', () => {
  it('adds at most two containers to a pod, because nobody can remove one', async () => {
    const limits = { ephemeralContainersPerPod: 10, ephemeralContainersPerPodAndUser: 5 } as Limits;
    expect(roomFor('alert:shop', limits).mostOfPerson).toBe(2);
    expect(roomFor('U0ROY', limits).mostOfPerson).toBe(5);
    expect(roomFor('alert:shop', { ...limits, ephemeralContainersPerPodAndUser: 1 }).mostOfPerson).toBe(1);
  });

  it('that the policy does not map starts nothing where unmapped people may do nothing', async () => {
    const users = { [asUserId('U0ROY')]: 'roy' };
    const closed = { mode: 'serviceAccount', users, unmapped: 'deny' } as const;
    const world = worldWith({}, { identity: closed });
    await tell(world);
    expect(await runs(world)).toMatchObject([{ state: 'denied', refusal: { code: 'identity_unmapped' } }]);
    const mapped = worldWith({}, { identity: { ...closed, users: { ...users, [asUserId('alert:shop')]: 'alerts' } } });
    await tell(mapped);
    expect(mapped.cluster.launches).toHaveLength(1);
  });

  it('acts as one fixed user, which rbac prints too', () => {
    const identity = { mode: 'impersonate', user: 'slack:{userId}', groups: [], users: {} } as const;
    const origin = { requesterId: asUserId('alert:shop'), teamId: '', channelId: asChannelId('C0SHOP') };
    expect(identityFor(identity, origin)?.user).toBe('slack:alert:shop');
    const policy = { ...anAlertPolicy(), identity, approvers: {} };
    const known = { people: ['U0ROY'], teamId: 'T0TEAM' };
    expect(yieldedIdentities(policy, [asChannelId('C0SHOP')], known)?.users).toContain('slack:alert:shop');
    expect(yieldedIdentities(policy, [asChannelId('C0PAY')], known)?.users).not.toContain('slack:alert:shop');
  });
});

describe('an alert about kdebug itself', () => {
  it('starts nothing', async () => {
    const world = worldWith();
    const deps = { ...world.deps(), ownPod: { namespace: 'shop', name: 'web-1' } };
    await new RunSupervisor(deps).alerts.receive('shop', aNotification());
    await settle();
    expect(await runs(world)).toMatchObject([{ refusal: { code: 'alert_of_kdebug' } }]);
    expect(world.cluster.launches).toEqual([]);
  });
});

describe('an alert that comes and goes', () => {
  it('is resolved on its card and, once, in its thread', async () => {
    const world = worldWith();
    await tell(world);
    await endAll(world);
    await world.clock.advance(600_000);
    expect(await tell(world, aNotification([resolved()]))).toBe('accepted');
    expect(card(world)).toMatch(/^KubePodCrashLooping · critical · resolved after 11 min/m);
    expect(world.thread.posts.map(({ meta }) => meta.kind)).toEqual(['anchor', 'result', 'resolved']);
    expect(textOf(world.thread.posts[2]?.message)).toMatch(/KubePodCrashLooping: shop\/web-1 resolved after 11 min/);
    expect(await tell(world, aNotification([resolved()]))).toBe('repeated');
  });

  it('has one thread, and one look an hour', async () => {
    const world = worldWith();
    await tell(world);
    await endAll(world);
    for (let minute = 1; minute <= 60; minute += 1) {
      await world.clock.advance(30_000);
      const startsAtMs = START_MS + (minute - 1) * 60_000;
      await tell(world, aNotification([resolved(anAlert({ startsAtMs }), world.clock.now())]));
      await world.clock.advance(30_000);
      if (minute < 60) await tell(world, aNotification([anAlert({ startsAtMs: world.clock.now() })]));
    }
    expect(await runs(world)).toHaveLength(1);
    expect(world.thread.posts.filter(({ meta }) => meta.kind === 'anchor')).toHaveLength(1);
    expect(world.thread.posts.filter(({ meta }) => meta.kind === 'resolved')).toHaveLength(1);
    expect(card(world)).toContain('for the 60th time');
    await world.clock.advance(HOUR_MS);
    await tell(world, aNotification([anAlert({ startsAtMs: world.clock.now() })]));
    const [again] = await runs(world);
    expect(await runs(world)).toHaveLength(2);
    expect(again?.origin.threadTs).toBe(world.thread.posts[0]?.ref.ts);
  });

  it('fires, whatever is told late of the time before', async () => {
    const world = worldWith();
    await tell(world);
    await endAll(world);
    await world.clock.advance(60_000);
    const ended = resolved(anAlert(), world.clock.now());
    await tell(world, aNotification([ended]));
    await world.clock.advance(60_000);
    await tell(world, aNotification([anAlert({ startsAtMs: world.clock.now() })]));
    await world.clock.advance(60_000);
    expect(await tell(world, aNotification([ended]))).toBe('repeated');
    expect(card(world)).toContain('firing for the 2nd time');
  });

  it('stays as it is when somebody repeats what was captured on its way', async () => {
    const world = worldWith();
    const [begun, ended, later] = [START_MS, START_MS + 60_000, START_MS + 120_000];
    const first = aNotification([anAlert()], { sentAtMs: begun });
    const second = aNotification([resolved(anAlert(), ended)], { sentAtMs: ended });
    await tell(world, first);
    await endAll(world);
    await world.clock.advance(later - START_MS);
    await tell(world, second);
    expect(await tell(world, first)).toBe('repeated');
    expect(card(world)).toContain('resolved after 2 min');
    await tell(world, aNotification([anAlert()], { sentAtMs: later }));
    expect(await tell(world, second)).toBe('repeated');
    expect(card(world)).toContain('firing for the 2nd time');
  });

  it('without a card is nobody’s business', async () => {
    const world = worldWith();
    expect(await tell(world, aNotification([resolved()]))).toBe('ignored');
    expect(await runs(world)).toEqual([]);
  });

  it('that fires for days has one card', async () => {
    const world = worldWith();
    await tell(world);
    await endAll(world);
    await world.clock.advance(26 * HOUR_MS);
    expect(await tell(world)).toBe('ignored');
    expect(await runs(world)).toHaveLength(1);
  });

  it('is told of again when it still fires a week later', async () => {
    const world = worldWith();
    await tell(world);
    await endAll(world);
    await world.clock.advance(7 * 24 * HOUR_MS);
    expect(await tell(world)).toBe('ignored');
    await world.clock.advance(3 * 24 * HOUR_MS);
    expect(await tell(world)).toBe('accepted');
  });

  it('has a new card after a day, for as many days as it comes back', async () => {
    const world = worldWith();
    for (let days = 1; days <= 60; days += 1) {
      const alert = anAlert({ startsAtMs: world.clock.now() });
      expect(await tell(world, aNotification([alert]))).toBe('accepted');
      await endAll(world);
      expect(await tell(world, aNotification([resolved(alert, world.clock.now())]))).toBe('accepted');
      expect(world.thread.posts.filter(({ meta }) => meta.kind === 'anchor')).toHaveLength(days);
      await world.clock.advance(26 * HOUR_MS);
    }
  });

  it('has its end on its card when the store has forgotten the cards before', async () => {
    const world = worldWith();
    await tell(world);
    await endAll(world);
    await world.clock.advance(26 * HOUR_MS);
    const alert = anAlert({ startsAtMs: world.clock.now() });
    await tell(world, aNotification([alert]));
    const [first] = (await runs(world)).toReversed();
    const idOf = world.store.idOf.bind(world.store);
    world.store.idOf = async (key) => ((await idOf(key)) === first?.id ? undefined : idOf(key));
    expect(await tell(world, aNotification([resolved(alert, world.clock.now())]))).toBe('accepted');
    expect((await runs(world))[0]?.alert?.resolvedAtMs).toBe(world.clock.now());
  });
});

/** Groups of one alert each, of different names. */
async function tellGroups(world: World, count: number, name = 'Alert'): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const startsAtMs = world.clock.now();
    const labels = { alertname: `${name}${index}` };
    await tell(world, aNotification([anAlert({ labels, startsAtMs })], { groupKey: `group ${name}${index}` }));
  }
  await world.clock.advance(2_000);
  await settle();
}

const inChannel = ({ thread }: World) => thread.posts.filter(({ place }) => place.threadTs === undefined);

describe('many alerts', () => {
  const podAlert = (index: number): Alert =>
    anAlert({ labels: { pod: `web-7d4b9c8f6d-${String(index).padStart(5, '0')}` } });

  it('of one group start two looks in one thread, and the card counts the others', async () => {
    const world = worldWith();
    for (let index = 0; index < 3; index += 1)
      world.cluster.setPod(aPod({ metadata: { name: podAlert(index).labels.pod ?? '', uid: `uid-${index}` } }));
    await tell(
      world,
      aNotification(
        Array.from({ length: 500 }, (_, index) => podAlert(index)),
        { truncated: 4_500 },
      ),
    );
    await world.clock.advance(1_000);
    await settle();
    expect(await runs(world)).toHaveLength(2);
    const [second, first] = await runs(world);
    expect(second?.origin.threadTs).toBe(first?.delivery.anchor?.ts);
    expect(card(world)).toContain('5,000 alerts');
    expect(card(world)).toMatch(/4,998 more pods of this alert were not looked at/);
  });

  it('of many groups start four looks a minute in a channel; the cards of the others are in one thread', async () => {
    const world = worldWith();
    await tellGroups(world, 10);
    const all = await runs(world);
    expect(all.filter(({ refusal }) => refusal?.code === 'alert_limit')).toHaveLength(6);
    expect(all.filter(({ refusal }) => refusal?.code === 'alert_storm')).toHaveLength(1);
    expect(inChannel(world)).toHaveLength(5);
    const storm = inChannel(world).find(({ message }) => textOf(message).includes('Many alerts at once'));
    expect(textOf(storm?.message)).toContain('The others are in this thread.');
    expect(textOf(storm?.message)).toContain(
      '6 more alerts in #shop-oncall within a minute: shown in this thread, not looked at',
    );
    const others = world.thread.posts.filter(
      ({ meta, place }) => meta.kind === 'anchor' && place.threadTs !== undefined,
    );
    expect(others.map(({ place }) => place.threadTs)).toEqual(Array(6).fill(storm?.ref.ts));
    for (const { message } of others) expect(textOf(message)).toMatch(/^Alert[4-9] · critical/m);
    // They give way to what people wait for; the looks and the card of the storm do not.
    expect(others.map(({ meta }) => meta.isAside)).toEqual(Array(6).fill(true));
    for (const { meta } of inChannel(world)) expect(meta).not.toHaveProperty('isAside');
  });

  it('have one card of the storm at several replicas, and another one when it lasts a quarter of an hour', async () => {
    const world = worldWith();
    const other = new RunSupervisor({ ...world.deps(), owner: 'replica-2' });
    await tellGroups(world, 4);
    await Promise.all(
      [world.pipeline, other].map((replica, index) =>
        replica.alerts.receive('shop', aNotification([anAlert()], { groupKey: `beyond ${index}` })),
      ),
    );
    await settle();
    const storms = async () => (await runs(world)).filter(({ alert }) => alert?.name === 'Many alerts at once');
    expect(await storms()).toHaveLength(1);
    await endAll(world);
    await world.clock.advance(15 * 60_000);
    await tellGroups(world, 6, 'later');
    expect(await storms()).toHaveLength(2);
  });

  it('stand in the channel where Slack takes no card of the storm', async () => {
    const world = worldWith();
    await tellGroups(world, 4);
    world.thread.faults.add('post', 'slack_channel_closed');
    await tell(world, aNotification([anAlert()], { groupKey: 'beyond' }));
    await world.clock.advance(2_000);
    await settle();
    const [beyond] = (await runs(world)).filter(({ refusal }) => refusal?.code === 'alert_limit');
    expect(beyond?.origin).not.toHaveProperty('threadTs');
    expect(beyond?.state).toBe('denied');
  });

  it('of several workloads are all looked at, also where the first one was a short while ago', async () => {
    const world = worldWith();
    world.cluster.setPod(aPod({ metadata: { name: 'api-1', uid: 'uid-api' } }));
    await tell(world);
    await endAll(world);
    await tell(world, aNotification([anAlert(), anAlert({ labels: { pod: 'api-1' } })], { groupKey: 'of both' }));
    await world.clock.advance(1_000);
    await settle();
    const [look, denied] = await runs(world);
    expect(denied).toMatchObject({ refusal: { code: 'alert_cooldown' } });
    expect(look).toMatchObject({
      request: { target: { name: 'api-1' } },
      origin: { threadTs: denied?.delivery.anchor?.ts },
    });
    const newest = world.thread.posts.filter(({ meta }) => meta.kind === 'anchor').at(-1);
    expect(textOf(newest?.message)).not.toContain('not looked at');
  });

  it('beyond the four looks of a minute are counted, also of the card’s first notification', async () => {
    const world = worldWith({ perGroup: 10 });
    const names = Array.from({ length: 7 }, (_, index) => `app${index}-1`);
    for (const name of names) world.cluster.setPod(aPod({ metadata: { name, uid: `uid-${name}` } }));
    await tell(world, aNotification(names.map((pod) => anAlert({ labels: { pod } }))));
    await world.clock.advance(1_000);
    await settle();
    expect(await runs(world)).toHaveLength(4);
    expect(card(world)).toContain('3 more pods of this alert were not looked at');
  });

  it('of another name about the same workload start another look, of the same name none', async () => {
    const world = worldWith();
    await tell(world);
    await tell(world, aNotification([anAlert()], { groupKey: 'another route' }));
    await tell(world, aNotification([anAlert({ labels: { alertname: 'KubePodNotReady' } })], { groupKey: 'third' }));
    const codes = (await runs(world)).map(({ refusal }) => refusal?.code);
    expect(codes).toEqual([undefined, 'alert_cooldown', undefined]);
  });
});

describe('alerts of pods on a node that is out of order', () => {
  const node = (status: string) => ({ name: 'node-a', conditions: [{ type: 'Ready', status }] });
  const outOfOrder = (): World => {
    const world = worldWith();
    world.cluster.nodeNow = node('Unknown');
    return world;
  };
  it('are told of in the thread of one card, which names the node, and start nothing', async () => {
    const world = outOfOrder();
    await tellGroups(world, 7);
    expect(inChannel(world)).toHaveLength(1);
    const [summary] = inChannel(world);
    expect(textOf(summary?.message)).toMatch(/^Node no longer answers · firing, since .+\n.*node-a/m);
    const cards = world.thread.posts.filter(({ place }) => place.threadTs !== undefined);
    expect(cards).toHaveLength(7);
    expect(new Set(cards.map(({ place }) => place.threadTs)).size).toBe(1);
    expect(textOf(cards[0]?.message)).toMatch(
      /^Alert1 · critical(.|\n)*The node does not report that it is ready.*: node-a/m,
    );
    const codes = new Set((await runs(world)).map(({ refusal }) => refusal?.code));
    expect([...codes]).toEqual(['alert_of_dead_node']);
    // The last three are more than the channel's pace, and that is not why nobody looked.
    expect(textOf(cards[6]?.message)).toContain('The node does not report that it is ready');
    expect(world.thread.posts.map(({ message }) => textOf(message)).join('\n')).not.toContain('--all');
    expect(world.cluster.launches).toEqual([]);
  });

  it('have one card of the node at several replicas', async () => {
    const world = outOfOrder();
    const other = new RunSupervisor({ ...world.deps(), owner: 'replica-2' });
    await Promise.all(
      [world.pipeline, other].map((replica, index) =>
        replica.alerts.receive('shop', aNotification([anAlert()], { groupKey: `group ${index}` })),
      ),
    );
    await settle();
    await world.clock.advance(2_000);
    await settle();
    expect(inChannel(world)).toHaveLength(1);
    expect(await runs(world)).toHaveLength(3);
  });

  it('are resolved in that thread, and the next day’s have a new card', async () => {
    const world = outOfOrder();
    await tellGroups(world, 1);
    const labels = { alertname: 'Alert0' };
    await tell(world, aNotification([resolved(anAlert({ labels }))], { groupKey: 'group Alert0' }));
    await world.clock.advance(2_000);
    await settle();
    expect(inChannel(world)).toHaveLength(1);
    expect(world.thread.posts.at(-1)?.meta.kind).toBe('resolved');
    await world.clock.advance(26 * HOUR_MS);
    await settle();
    const startsAtMs = world.clock.now();
    await tell(world, aNotification([anAlert({ labels, startsAtMs })], { groupKey: 'group Alert0' }));
    await world.clock.advance(2_000);
    await settle();
    expect(inChannel(world)).toHaveLength(2);
  });

  it('have their own cards again where Slack takes no card of the node', async () => {
    const world = outOfOrder();
    world.thread.faults.add('post', 'slack_channel_closed');
    await tellGroups(world, 1);
    expect(await runs(world)).toHaveLength(2);
  });

  it('stand in the channel when the node cannot be read', async () => {
    const world = outOfOrder();
    for (let reads = 0; reads < 2; reads += 1) world.cluster.faults.add('node', 'cluster_unreachable');
    await tellGroups(world, 1);
    expect(inChannel(world)).toHaveLength(1);
    expect(await runs(world)).toHaveLength(1);
  });

  it('stand in the channel when the node is ready', async () => {
    const world = outOfOrder();
    world.cluster.nodeNow = node('True');
    await tellGroups(world, 2);
    expect(inChannel(world)).toHaveLength(2);
    expect(await runs(world)).toHaveLength(2);
  });
});

describe('a secret in what an alert says', () => {
  it('reaches neither Slack nor the store', async () => {
    const world = worldWith();
    const annotations = { summary: 'cannot log in with password=hunter2hunter2 at postgres://app:s3cr3tpw@db/shop' };
    await tell(world, aNotification([anAlert({ annotations })]));
    const cluster = `password=hunter2hunter2 ${'x'.repeat(1_000)}`;
    await tell(world, aNotification([anAlert({ labels: { cluster } })], { groupKey: 'of another cluster' }));
    const shown = JSON.stringify([world.thread.posts, await runs(world)]);
    expect(shown).not.toMatch(/hunter2hunter2|s3cr3tpw|x{200}/);
  });
});

describe('the links of an alert', () => {
  it('have no secret: the card, its record and the store are without such a link', async () => {
    const world = worldWith();
    const links = {
      runbook: 'https://wiki.example/run?access_token=ghp_0123456789012345678901234567890123456',
      source: 'http://admin:hunter2hunter2@prometheus.example/graph',
      dashboard: 'https://grafana.example/d/1',
    };
    await tell(world, aNotification([anAlert({ links })]));
    expect(JSON.stringify([world.thread.posts, await runs(world)])).not.toMatch(/ghp_|hunter2/);
    expect(card(world)).toContain('Dashboard (grafana.example)');
  });

  it('leave room for its words, however long they are', async () => {
    const world = worldWith();
    const long = (name: string): string => `https://${name}.example/?${'q=1&'.repeat(480)}`;
    const links = { runbook: long('a'), dashboard: long('b'), source: long('c'), silence: long('d') };
    await tell(world, aNotification([anAlert({ links })]));
    const sent = JSON.stringify(view(world.anchor() ?? { summary: '', tone: 'neutral', parts: [] }));
    expect(sent).toContain('Pod is crash looping.');
    expect(sent).toContain('KubePodCrashLooping');
  });
});

describe('the memory that alerts take', () => {
  it('is one text for the five hundred alerts of a group', async () => {
    const world = worldWith();
    const alerts = Array.from({ length: 500 }, (_, index) => anAlert({ labels: { pod: '', instance: `${index}` } }));
    await tell(world, aNotification(alerts));
    const [run] = await runs(world);
    expect(run?.alert?.seen).toHaveLength(1);
    expect(await tell(world, aNotification(alerts))).toBe('repeated');
    expect(await tell(world, aNotification([...alerts, anAlert({ labels: { pod: '', instance: 'new' } })]))).toBe(
      'accepted',
    );
  });

  it('has an end: with ten thousand cards of a channel that take more alerts, the next must be sent again', async () => {
    const world = worldWith();
    const room = openCardsOf(asChannelId('C0SHOP'));
    for (let index = 0; index < 10_000; index += 1)
      await world.store.create(aRun({ id: asRunId(`${index}`), origin: anOrigin({ dedupeKey: `${index}` }) }), 'one', [
        room,
      ]);
    await expect(world.pipeline.alerts.receive('shop', aNotification())).rejects.toMatchObject({ code: 'too_busy' });
    await world.clock.advance(26 * HOUR_MS);
    expect(await tell(world, aNotification([anAlert({ startsAtMs: world.clock.now() })]))).toBe('accepted');
  });
});

describe('a source that cannot be served now', () => {
  it('must send it again', async () => {
    const world = worldWith();
    await world.pipeline.drain(0);
    await expect(world.pipeline.alerts.receive('shop', aNotification())).rejects.toMatchObject({
      code: 'shutting_down',
    });
  });

  it('that the policy does not know is refused', async () => {
    const world = worldWith();
    await expect(world.pipeline.alerts.receive('other', aNotification())).rejects.toMatchObject({
      code: 'alert_source_unknown',
    });
  });
});
