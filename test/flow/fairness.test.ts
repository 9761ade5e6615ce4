import { describe, expect, it } from 'vitest';
import { asChannelId, asRunId, asUserId } from '../../src/core/ids.ts';
import type { Limits, Policy } from '../../src/core/policy/policy.ts';
import type { Message } from '../../src/core/say/message/message.ts';
import { anOrigin, aPod, aPolicy, approvalTerms, aRule, aTermination } from '../support/builders.ts';
import { settle } from '../support/fake-clock.ts';
import { textOf } from '../support/plain-message.ts';
import { World } from './support/world.ts';

const ROY = asUserId('U0ROY');
const GINGER = asUserId('U0GINGER');
const OPS = asChannelId('C0OPS');

const approval = approvalTerms({ grants: 'denied' });

/** #shop runs at once, #ops asks for an approval. */
const policyWith = (limits: Partial<Limits>): Policy =>
  aPolicy({
    channels: { [asChannelId('C0SHOP')]: { rules: [aRule()] }, [OPS]: { rules: [aRule({ id: 'ask', approval })] } },
    approvers: { sre: { usergroup: 'S0SRE', users: [] } },
    limits: { ...aPolicy().limits, runsPerUserPerMinute: 1_000, ephemeralContainersPerPod: 1_000, ...limits },
  });

const generous = { ephemeralContainersPerPodAndUser: 1_000 };
let asked = 0;

const ask = (
  world: World,
  requesterId = ROY,
  channelId = asChannelId('C0SHOP'),
  words = 'web-1',
): Promise<Message | undefined> => world.say(words, anOrigin({ dedupeKey: `ask-${asked++}`, requesterId, channelId }));

/** Another image than a diagnostic one is refused where a question is answered without a look. */
const COMMAND = 'web-1 --image=debian';

/** Many at once, before any of them was looked at. */
async function askAtOnce(
  world: World,
  count: number,
  requesterId = ROY,
  channelId = asChannelId('C0SHOP'),
  words = 'web-1',
) {
  const answers = await Promise.all(Array.from({ length: count }, () => ask(world, requesterId, channelId, words)));
  await settle();
  return answers.filter((answer) => answer !== undefined).map((answer) => JSON.stringify(answer));
}

describe('a person', () => {
  it('has so many runs under way in all channels together, and others are not refused for it', async () => {
    const world = new World({ policy: policyWith({ ...generous, runsPerUser: 3 }) });
    const refused = await askAtOnce(world, 20);
    expect(refused).toHaveLength(17);
    expect(refused[0]).toMatch(/limit of 3 runs in progress.*\/kdebug list.*limit_runs_per_person/);
    expect(textOf(await ask(world, ROY, OPS))).toContain('limit_runs_per_person');
    expect(await ask(world, GINGER)).toBeUndefined();
    expect(world.cluster.launches).toHaveLength(4);
  });

  it('may ask again once a run has ended', async () => {
    const world = new World({ policy: policyWith({ ...generous, runsPerUser: 1 }) });
    await ask(world);
    expect(await ask(world)).toBeDefined();
    world.cluster.report({ terminated: aTermination() });
    await settle();
    expect(await world.say('web-1 --timeout=50s', anOrigin({ dedupeKey: 'later' }))).toBeUndefined();
  });

  it('has so many requests waiting for an approval, which use up nothing of the channel', async () => {
    const limits = { ...generous, runsPerUser: 30, pendingApprovalsPerUser: 5, runsPerChannel: 7 };
    const world = new World({ policy: policyWith({ ...limits, runsPerUser: 20, runsPerChannel: 20 }) });
    await askAtOnce(world, 20, ROY, OPS, COMMAND);
    const runs = await world.store.recent(OPS, 100);
    expect(runs.filter(({ state }) => state === 'pending-approval')).toHaveLength(5);
    expect(runs.filter(({ refusal }) => refusal?.code === 'limit_pending_per_person')).toHaveLength(15);
    expect(world.refusal).toMatch(/5 of 5.*\/kdebug list/);
    world.policy = policyWith({ ...limits, runsPerChannel: 1 });
    expect(await ask(world, GINGER, OPS)).toBeUndefined();
    expect(await ask(world, GINGER)).toBeUndefined();
  });

  it('has one more place for a request when one was answered', async () => {
    const world = new World({ policy: policyWith({ ...generous, pendingApprovalsPerUser: 1 }) });
    await ask(world, ROY, OPS, COMMAND);
    await ask(world, ROY, OPS, COMMAND);
    expect(world.refusal).toContain('limit_pending_per_person');
    expect(await world.click('U0BOB', 'reject')).toEqual({ kind: 'nothing' });
    await ask(world, ROY, OPS, COMMAND);
    expect((await world.store.read(asRunId('cccccccccc')))?.state).toBe('pending-approval');
  });

  it('counts with a batch as with one run', async () => {
    const rule = aRule({ batch: { maxPods: 50, maxParallelism: 10 } });
    const policy = {
      ...policyWith({ ...generous, runsPerUser: 2 }),
      channels: { [asChannelId('C0SHOP')]: { rules: [rule] } },
    };
    const world = new World({ policy });
    world.cluster.siblings = [2, 3, 4].map((n) => aPod({ metadata: { name: `web-${n}`, uid: `uid-${n}` } }));
    await world.say('--all', anOrigin({ dedupeKey: 'batch' }));
    expect(await ask(world)).toBeUndefined();
    expect(textOf(await ask(world))).toContain('limit of 2 runs in progress');
  });

  it('still counts with runs that an emptied store was given back', async () => {
    const world = new World({ policy: policyWith({ ...generous, runsPerUser: 1 }) });
    await ask(world);
    const run = await world.run();
    const emptied = new World({ policy: world.policy });
    const { quotasOfKnown, quotasOf } = await import('../../src/flow/context/accept.ts');
    await emptied.store.create(run, 'replica-1', quotasOfKnown(run, world.policy));
    const next = { ...run, id: asRunId('bbbbbbbbbb'), origin: anOrigin({ dedupeKey: 'next' }) };
    expect(await emptied.store.create(next, 'replica-1', quotasOf(next, world.policy))).toMatchObject({
      code: 'limit_runs_per_person',
    });
  });

  it('has a tenth of the runs that a replica holds', async () => {
    const wide = { ...generous, runsPerUser: 10_000, runsPerChannel: 10_000, runsPerCluster: 10_000 };
    const world = new World({ policy: policyWith(wide) });
    world.cluster.pod = () => new Promise(() => {});
    const { inbox } = world.pipeline;
    const codes: string[] = [];
    for (let n = 0; n < 203; n += 1) {
      const answer = await inbox.command(anOrigin({ dedupeKey: `many-${n}` }), 'web-1');
      if (answer.kind === 'message') codes.push(JSON.stringify(answer.message));
    }
    expect(codes).toHaveLength(3);
    expect(codes[0]).toContain('limit_sessions_per_person');
    expect(world.pipeline.refusalFor(GINGER)).toBeUndefined();
  });
});

describe('the places of a pod', () => {
  it('are shared: one person gets only so many, and another still has room', async () => {
    const world = new World({ policy: policyWith({ runsPerUser: 100, ephemeralContainersPerPodAndUser: 2 }) });
    for (let n = 0; n < 3; n += 1) await ask(world);
    expect(world.cluster.launches).toHaveLength(2);
    const [third] = await world.store.recent('C0SHOP', 1);
    expect(third).toMatchObject({
      outcome: { kind: 'answered', because: 'pod_has_too_many_of_yours' },
    });
    await ask(world, GINGER);
    expect(world.cluster.launches).toHaveLength(3);
  });

  it.each([
    ['of a person', { ephemeralContainersPerPodAndUser: 2 }, 'pod_has_too_many_of_yours'],
    ['of all', { ephemeralContainersPerPod: 2, ...generous }, 'pod_has_too_many_containers'],
  ])('%s are not overrun by launches of one instant', async (_, limits, code) => {
    const world = new World({ policy: policyWith({ runsPerUser: 100, ...limits }) });
    // The watch shows nothing of what was launched meanwhile.
    const before = aPod();
    world.cluster.pod = async () => before;
    await askAtOnce(world, 10);
    expect(world.cluster.launches).toHaveLength(2);
    expect(world.refusal).toContain(code);
  });

  it('are free again when the cluster refuses the container', async () => {
    const world = new World({ policy: policyWith({ ephemeralContainersPerPodAndUser: 1 }) });
    world.cluster.refusal = { kind: 'refused', by: 'webhook', message: 'not signed' };
    await ask(world);
    world.cluster.refusal = undefined;
    await ask(world);
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('are counted for a batch as well: pods in which the person has had their share are skipped', async () => {
    const rule = aRule({ batch: { maxPods: 50, maxParallelism: 10 } });
    const limits = { ...policyWith({ ephemeralContainersPerPodAndUser: 1 }).limits };
    const world = new World({ policy: aPolicy({ limits, channels: { [asChannelId('C0SHOP')]: { rules: [rule] } } }) });
    const theirs = { name: 'kdebug-a', image: 'x', requesterId: ROY };
    world.cluster.siblings = [2, 3].map((n) =>
      aPod({ metadata: { name: `web-${n}`, uid: `uid-${n}` }, spec: { ephemeralContainers: [theirs] } }),
    );
    await world.say('--all');
    const { batch } = await world.run();
    expect(batch?.pods.map(({ skip }) => skip ?? 'taken')).toEqual(['taken', 'share-reached', 'share-reached']);
  });
});
