import { describe, expect, it } from 'vitest';
import { stopContainerName } from '../../../src/core/container/build.ts';
import { REASONS } from '../../../src/core/errors.ts';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { RunSupervisor } from '../../../src/flow/supervisor.ts';
import { anOrigin, aPod, aPolicy, approvalTerms, aRule, aTermination, START_MS } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { heldOf } from '../support/fakes.ts';
import { World } from '../support/world.ts';

const at = (ms: number) => new Date(START_MS + ms).toISOString();
const KILLED = aTermination({ exitCode: 143, reason: 'Error', startedAt: at(0), finishedAt: at(5_000) });

async function running(world = new World()): Promise<World> {
  await world.say('web-1 --image=debian -- sleep 600');
  world.cluster.report({ running: { startedAt: at(0) } });
  await settle();
  return world;
}

async function ask(world: World, userId = 'U0ROY'): Promise<string> {
  const origin = anOrigin({ dedupeKey: `stop-${userId}`, requesterId: asUserId(userId) });
  return textOf(await world.say(`stop ${world.runId}`, origin));
}

const stopEnded = (world: World, exitCode: number, message = '') => {
  world.cluster.report({ terminated: aTermination({ exitCode, message, startedAt: at(1_000) }) }, 1);
  return settle();
};

const runEnded = (world: World, termination = KILLED) => {
  world.cluster.report({ terminated: termination });
  return settle();
};

describe('a running container', () => {
  it('is stopped by a second one: the same target, a diagnostic image, the words stop and the run’s id', async () => {
    const world = await running();
    expect(await ask(world)).toContain(`Stopping run ${world.runId}`);

    expect(world.cluster.launches).toHaveLength(2);
    const { container, runId } = world.cluster.launches[1]!;
    expect(runId).toBe(world.runId);
    expect(container).toMatchObject({
      image: 'registry.example.com/autodiagnose:1',
      targetContainerName: 'web',
      args: ['stop', world.runId],
      securityContext: world.cluster.launches[0]!.container.securityContext,
    });
    const names = container.env.map(({ name }) => name);
    expect(names).toEqual(['KDEBUG_STOPS', 'KDEBUG_REQUESTER', 'KDEBUG_TARGET', 'KDEBUG_NOT_AFTER']);
    await world.clock.advance(1_500);
    expect(textOf(world.anchor())).toContain('U0ROY is stopping it.');
    expect(textOf(world.anchor())).not.toContain('[Stop]');
  });

  it('is stopped by autodiagnose where the policy has other diagnostic images before it, and no default', async () => {
    const { defaultImage: _, ...policy } = aPolicy();
    const stacks = { ...policy.images.autodiagnose!, alias: 'stacks', reference: 'registry.example.com/stacks:1' };
    const world = await running(new World({ policy: { ...policy, images: { stacks, ...policy.images } } }));
    await ask(world);
    expect(world.cluster.launches[1]?.container.image).toBe('registry.example.com/autodiagnose:1');
  });

  it('ends as stopped, in the name of whoever stopped it, with its log so far', async () => {
    const world = await running();
    world.cluster.log = 'so far\n';
    await ask(world);
    await runEnded(world);
    expect((await world.run()).state).toBe('collecting');
    await stopEnded(world, 0, `Stopped run ${world.runId} with TERM: processes 7.`);

    expect(await world.run()).toMatchObject({ state: 'finished', outcome: { kind: 'stopped', by: 'U0ROY' } });
    expect(world.anchor()?.summary).toContain('Stopped');
    expect(textOf(world.result())).toContain('U0ROY stopped it.');
    expect(textOf(world.result())).toContain('so far');
    expect(world.cluster.watchers).toBe(0);
    expect(world.audit.entries.map(({ step, facts }) => [step, facts.kind, facts.verdict ?? facts.outcome])).toEqual(
      expect.arrayContaining([
        ['stop', 'request', 'allowed'],
        ['outcome', undefined, 'stopped'],
      ]),
    );
    const patches = world.audit.entries.filter(({ step }) => step === 'patch');
    expect(patches[1]).toMatchObject({
      actorId: 'U0ROY',
      facts: {
        stops: world.cluster.launches[0]!.container.name,
        class: 'observe',
        profile: 'general',
        planHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
  });

  it('keeps its own end when it was quicker than its stop', async () => {
    const world = await running();
    await ask(world);
    await runEnded(world, aTermination({ startedAt: at(0), finishedAt: at(2_000) }));
    await stopEnded(world, 2, 'Nothing to stop');
    expect((await world.run()).outcome).toEqual({ kind: 'succeeded' });
  });

  it('is stopped, by its signal, where the end of the second one stays unknown', async () => {
    const world = await running();
    await ask(world);
    await runEnded(world);
    await world.clock.advance(13_000);
    expect((await world.run()).outcome).toEqual({ kind: 'stopped', by: 'U0ROY' });
  });

  it('goes on, and the card says why, when the second container could not', async () => {
    const world = await running();
    await ask(world);
    await stopEnded(world, 1, 'Not stopped: process 7 may not be signalled.');
    expect(await world.run()).toMatchObject({ state: 'running', stop: { failed: { why: expect.any(String) } } });
    await world.clock.advance(2_000);
    expect(textOf(world.anchor())).toContain('could not stop it: Not stopped: process 7 may not be signalled.');
    expect(textOf(world.anchor())).toContain('It runs until its command exits, or container web or its pod ends.');
    await runEnded(world, aTermination({ startedAt: at(0), finishedAt: at(9_000) }));
    expect((await world.run()).outcome).toEqual({ kind: 'succeeded' });
  });

  it.each([
    [2, 'Nothing to stop: 1 could not be read.', 'could not be read'],
    [0, '', 'still runs after its processes were ended'],
  ])('goes on when it still runs five seconds after an end with %i', async (exitCode, message, why) => {
    const world = await running();
    await ask(world);
    await stopEnded(world, exitCode, message);
    expect((await world.run()).stop?.failed).toBeUndefined();
    await world.clock.advance(8_000);
    expect((await world.run()).stop?.failed?.why).toContain(why);
    expect((await world.run()).state).toBe('running');
  });

  it('goes on when the second container never runs, or the cluster refuses it', async () => {
    const silent = await running();
    await ask(silent);
    await silent.clock.advance(80_000);
    expect((await silent.run()).stop?.failed?.why).toContain('did not run the container');

    const refused = await running();
    refused.cluster.refusal = { kind: 'refused', by: 'webhook', message: 'no more containers' };
    await ask(refused);
    expect((await refused.run()).stop?.failed?.why).toBe('the cluster refused it: no more containers');

    const broken = await running();
    await ask(broken);
    broken.cluster.report({ waiting: { reason: 'ImagePullBackOff', message: 'not found' } }, 1);
    await settle();
    expect((await broken.run()).stop?.failed?.why).toBe('ImagePullBackOff: not found');
  });

  it('is asked once: a second request says that somebody is at it; after a failure, another container tries', async () => {
    const world = await running();
    await ask(world);
    expect(await ask(world)).toContain('stop_under_way');
    expect(world.cluster.launches).toHaveLength(2);
    await stopEnded(world, 1, 'Not stopped');
    expect(await ask(world)).toContain('Stopping run');
    expect(world.cluster.launches).toHaveLength(3);
    expect(world.cluster.launches[2]!.container.name).not.toBe(world.cluster.launches[1]!.container.name);
  });

  it('waits for a cluster that does not answer, and sends the identical container', async () => {
    const world = await running();
    world.cluster.faults.add('launch', 'cluster_unreachable', 'after');
    await ask(world);
    await world.clock.advance(3_000);
    expect((await world.run()).stop?.failed).toBeUndefined();
    expect(world.cluster.launches).toHaveLength(2);
    await runEnded(world);
    await stopEnded(world, 0);
    expect((await world.run()).outcome?.kind).toBe('stopped');
  });

  it('is not touched without a record in the audit log', async () => {
    const world = await running();
    world.audit.faults.add('stop', 'audit_unavailable');
    expect(await ask(world)).toContain('audit_unavailable');
    expect((await world.run()).stop).toBeUndefined();
    expect(world.cluster.launches).toHaveLength(1);
  });
});

describe('a container that has not started', () => {
  it('is stopped as soon as it starts', async () => {
    const world = new World();
    await world.say('web-1 --image=debian -- sleep 600');
    expect(await ask(world)).toContain('It is stopped as soon as it starts.');
    expect(world.cluster.launches).toHaveLength(1);
    world.cluster.report({ running: { startedAt: at(0) } });
    await settle();
    expect(world.cluster.launches).toHaveLength(2);
  });

  it('needs no stop when it never starts', async () => {
    const world = new World();
    await world.say('web-1 --image=debian -- sleep 600');
    await ask(world);
    world.cluster.report({ waiting: { reason: 'ImagePullBackOff', message: 'no' } });
    await settle();
    expect((await world.run()).outcome?.kind).toBe('start-failed');
    expect(world.cluster.launches).toHaveLength(1);
  });
});

describe('a container that kdebug had given up', () => {
  async function timedOut(): Promise<World> {
    const world = await running();
    await world.clock.advance(310_000);
    expect((await world.run()).outcome).toEqual({ kind: 'timed-out' });
    return world;
  }

  it('is stopped after its timeout, and its messages then say so', async () => {
    const world = await timedOut();
    expect(await ask(world)).toContain('Stopping run');
    expect(world.cluster.launches).toHaveLength(2);
    await world.clock.advance(2_000);
    expect(textOf(world.anchor())).toContain('is stopping it');
    await runEnded(world);
    await stopEnded(world, 0);
    await world.clock.advance(2_000);
    expect(await world.run()).toMatchObject({ late: true, outcome: { kind: 'stopped', by: 'U0ROY' } });
    expect(textOf(world.result())).toContain('stopped it.');
    expect(world.thread.posts).toHaveLength(2);
  });

  it('says so on the card when that fails, or the pod goes', async () => {
    const failed = await timedOut();
    await ask(failed);
    await stopEnded(failed, 1, 'Not stopped: x');
    await failed.clock.advance(2_000);
    expect(textOf(failed.anchor())).toContain('could not stop it: Not stopped: x');

    const gone = await timedOut();
    await ask(gone);
    gone.cluster.setPod(undefined);
    await gone.clock.advance(2_000);
    expect((await gone.run()).stop?.failed?.why).toBe('the pod is gone');
  });
});

/** Alice and Bob are the approvers. */
const attended = (over: Partial<Policy> = {}): World => {
  const policy = aPolicy({
    channels: {
      [asChannelId('C0SHOP')]: { rules: [aRule({ classes: ['observe', 'intrusive'], approval: approvalTerms() })] },
    },
    approvers: { sre: { usergroup: 'S0SRE', users: [] } },
    ...over,
  });
  return new World({ policy });
};

async function approved(over: Partial<Policy> = {}): Promise<World> {
  const world = attended(over);
  await world.say('web-1 --image=debian -- sleep 600');
  await world.click('U0BOB', 'approve');
  world.cluster.report({ running: { startedAt: at(0) } });
  await settle();
  return world;
}

describe('whoever stops it', () => {
  it('is the requester or an approver of its rule, and nobody else; each try is recorded', async () => {
    const world = await approved();
    expect(await ask(world, 'U0EVE')).toContain('Only the requester of this run');
    expect(world.cluster.launches).toHaveLength(1);
    expect(await ask(world, 'U0ALICE')).toContain('Stopping run');
    await runEnded(world);
    await stopEnded(world, 0);
    expect((await world.run()).outcome).toEqual({ kind: 'stopped', by: 'U0ALICE' });
    const requests = world.audit.entries.filter(({ step }) => step === 'stop');
    expect(requests).toMatchObject([
      { actorId: 'U0EVE', facts: { kind: 'request', verdict: 'not_your_run' } },
      { actorId: 'U0ALICE', facts: { kind: 'request', verdict: 'allowed' } },
    ]);
    const env = world.cluster.launches[1]!.container.env;
    expect(env).toContainEqual({ name: 'KDEBUG_REQUESTER', value: 'U0ALICE' });
  });

  it('acts in the cluster as themselves, with their own rights', async () => {
    const world = await approved();
    world.policy = {
      ...world.policy,
      identity: { mode: 'impersonate', user: 'slack:{userId}', groups: [], users: {} },
    };
    await ask(world, 'U0ALICE');
    expect(world.cluster.launches[1]?.actingAs?.user).toBe('slack:U0ALICE');

    const denied = await approved();
    denied.policy = world.policy;
    denied.cluster.allowed = { kind: 'denied', reason: '', missing: ['patch pods/ephemeralcontainers'] };
    expect(await ask(denied, 'U0ALICE')).toContain('slack:U0ALICE may not patch pods/ephemeralcontainers');
    expect(denied.cluster.launches).toHaveLength(1);
  });

  it('withdraws a request that waits for its approval, if it is theirs', async () => {
    const world = attended();
    await world.say('web-1 --image=debian -- sleep 600');
    expect(await ask(world, 'U0ALICE')).toContain('not_your_request');
    await ask(world);
    expect((await world.run()).state).toBe('cancelled');
  });
});

describe('kdebug says why it cannot, and when the run ends by itself,', () => {
  const withoutImage = aPolicy();
  const { autodiagnose } = withoutImage.images;

  it.each([
    ['without a target container', { words: 'web-1 --image=debian --no-target -- sleep 600' }, 'stop_without_target'],
    [
      'without a diagnostic image',
      {
        policy: aPolicy({ images: { ...withoutImage.images, autodiagnose: { ...autodiagnose!, diagnostic: false } } }),
      },
      'stop_without_image',
    ],
    ['in a full pod', { full: true }, 'web-1 (10 of 10)'],
    ['in a namespace that the policy no longer names', { closed: true }, 'shop'],
  ])('%s', async (_name, { words = 'web-1 --image=debian -- sleep 600', policy, full, closed }: Case, expected) => {
    const world = new World({ policy: policy ?? aPolicy() });
    await world.say(words);
    world.cluster.report({ running: { startedAt: at(0) } });
    await settle();
    if (full) world.cluster.setPod(filled(world));
    if (closed)
      world.policy = aPolicy({
        channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ namespaces: ['other'] })] } },
      });
    const answer = await ask(world);
    expect(answer).toContain(expected);
    expect(answer).toContain('It runs until its command exits');
    expect(answer).toContain('kdebug follows it until');
    expect((await world.run()).stop).toBeUndefined();
    expect(world.cluster.launches).toHaveLength(1);
  });

  interface Case {
    readonly words?: string;
    readonly policy?: ReturnType<typeof aPolicy>;
    readonly full?: boolean;
    readonly closed?: boolean;
  }

  function filled({ cluster }: World) {
    const [ours] = cluster.launches;
    const others = Array.from({ length: 9 }, (_, index) => ({ name: `other-${index}`, image: 'x' }));
    const name = ours!.container.name;
    const pod = aPod();
    return aPod({
      spec: { ephemeralContainers: [{ name, image: 'x' }, ...others] },
      status: {
        ...pod.status,
        ephemeralContainerStatuses: [{ name, image: '', imageID: '', restartCount: 0, running: { startedAt: at(0) } }],
      },
    });
  }

  it('when the cluster does not answer in time', async () => {
    const world = await running();
    world.policy = {
      ...world.policy,
      identity: { mode: 'impersonate', user: 'slack:{userId}', groups: [], users: {} },
    };
    world.cluster.access = () => new Promise(() => undefined);
    const answer = world.pipeline.inbox.command(anOrigin({ dedupeKey: 'slow' }), `stop ${world.runId}`);
    await world.clock.advance(1_600);
    expect(textOf(await answer)).toContain('no answer in time');
    expect((await world.run()).stop).toBeUndefined();
  });

  it('when it has ended already', async () => {
    const world = await running();
    await runEnded(world, aTermination({ startedAt: at(0), finishedAt: at(2_000) }));
    expect(await ask(world)).toContain('run_ended');
  });
});

describe('the image that stops a run is judged like any launch:', () => {
  const { images, ...rest } = aPolicy();
  const rules = [
    aRule({ id: 'free', classes: ['observe', 'intrusive'] }),
    aRule({ id: 'strong', classes: ['elevated'], approval: approvalTerms({ count: 2 }) }),
  ];
  const strict = {
    ...rest,
    approvers: { sre: { usergroup: 'S0SRE', users: [] } },
    channels: { [asChannelId('C0SHOP')]: { rules } },
  };
  const autodiagnose = images.autodiagnose!;
  const elevated = { ...images, autodiagnose: { ...autodiagnose, class: 'elevated' as const } };

  it('without a decision that allows it, nothing is started', async () => {
    const world = await running(new World({ policy: { ...strict, images: elevated } }));
    const answer = await ask(world);
    expect(answer).toContain('No rule lets you start the image that would stop this run');
    expect(answer).toContain('autodiagnose, general (elevated)');
    expect(answer).toContain('It runs until its command exits');
    expect(world.cluster.launches).toHaveLength(1);
    expect(world.audit.entries.at(-1)).toMatchObject({ step: 'stop', facts: { verdict: 'stop_not_allowed' } });
  });

  it('another diagnostic image, which may not know how to stop anything, is never started', async () => {
    const { defaultImage: _, ...nothing } = strict;
    const capture = { ...autodiagnose, alias: 'capture', reference: 'registry.example.com/net:1' };
    const policy = { ...nothing, images: { debian: images.debian!, capture } };
    const world = await running(new World({ policy }));
    expect(await ask(world)).toContain('stop_without_image');
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('also right before its PATCH, with the policy of that moment', async () => {
    const world = await running(new World({ policy: { ...strict, images } }));
    world.cluster.faults.add('launch', 'cluster_unreachable');
    await ask(world);
    expect((await world.run()).stop?.container).toBeDefined();
    world.policy = { ...strict, images: elevated };
    await world.clock.advance(2_500);
    expect((await world.run()).stop?.failed?.why).toContain('autodiagnose, general (elevated)');
    expect(world.cluster.launches).toHaveLength(1);
  });

  it('another version of it in the policy needs another click', async () => {
    const world = await running(new World({ policy: { ...strict, images } }));
    world.cluster.faults.add('launch', 'cluster_unreachable');
    await ask(world);
    const newer = { ...autodiagnose, reference: 'registry.example.com/autodiagnose:2' };
    world.policy = { ...strict, images: { ...images, autodiagnose: newer } };
    await world.clock.advance(2_500);
    expect((await world.run()).stop?.failed?.why).toBe(REASONS.stop_changed.title);
    expect(await ask(world)).toContain('Stopping run');
    expect(world.cluster.launches[1]?.container.image).toBe('registry.example.com/autodiagnose:2');
  });

  it('it runs as the run’s own user, where only the kubelet knows that', async () => {
    const world = new World({ policy: { ...strict, images } });
    await world.say('web-1 --image=debian --profile=general -- sleep 600');
    world.cluster.report({ running: { startedAt: at(0) }, user: { uid: 65532, gid: 7 } });
    await settle();
    await ask(world);
    expect(world.cluster.launches[0]?.container.securityContext).not.toHaveProperty('runAsUser');
    expect(world.cluster.launches[1]?.container.securityContext).toMatchObject({ runAsUser: 65532, runAsGroup: 7 });
  });
});

describe('what the container that should stop a run writes', () => {
  const output = { ...aPolicy().output, deliverTo: 'requester' } as const;
  const secretive = () => new World({ policy: aPolicy({ output }) });
  const everywhere = (world: World) => world.thread.posts.map(({ message }) => textOf(message)).join('\n');

  it.each([1, 2])('is told to the requester alone, where output is private (exit code %i)', async (exitCode) => {
    const world = await running(secretive());
    await ask(world);
    await stopEnded(world, exitCode, 'TARGET_MARK=words-of-the-target');
    await world.clock.advance(8_000);
    expect((await world.run()).stop?.failed?.why).toContain('words-of-the-target');
    expect(everywhere(world)).not.toContain('words-of-the-target');
    expect(textOf(world.anchor())).toContain('could not stop it; kdebug told the requester why.');
    expect(world.thread.told.map(({ person, message }) => [person.userId, textOf(message)])).toEqual([
      ['U0ROY', expect.stringContaining('words-of-the-target')],
    ]);
  });

  it('is told to the requester alone, not to the approver who asked for the stop', async () => {
    const world = await approved({ output });
    await ask(world, 'U0ALICE');
    await stopEnded(world, 1, 'TARGET_MARK=words-of-the-target');
    await world.clock.advance(8_000);
    expect(textOf(world.anchor())).toContain('U0ALICE could not stop it; kdebug told the requester why.');
    const told = world.thread.told.filter(({ message }) => textOf(message).includes('words-of-the-target'));
    expect(told.map(({ person }) => person.userId)).toEqual(['U0ROY']);
  });

  it('stays off the card of a channel that another company reads by now', async () => {
    const world = await running();
    await ask(world);
    world.directory.shared.add('C0SHOP');
    await stopEnded(world, 1, 'TARGET_MARK=words-of-the-target');
    await world.clock.advance(2_000);
    expect(everywhere(world)).not.toContain('words-of-the-target');
  });

  it('does not hide what others say: the cluster, the kubelet, kdebug', async () => {
    const world = await running(secretive());
    world.cluster.refusal = { kind: 'refused', by: 'webhook', message: 'no more containers' };
    await ask(world);
    await world.clock.advance(2_000);
    expect(textOf(world.anchor())).toContain('could not stop it: The cluster refused it: no more containers');
    expect(world.thread.told).toEqual([]);
  });
});

describe('a crash', () => {
  /** The first replica is gone; another one claims its runs. */
  async function another(world: World): Promise<RunSupervisor> {
    const drained = world.pipeline.drain(0);
    await world.clock.advance(1_000);
    await drained;
    const next = new RunSupervisor({ ...world.deps(), owner: 'replica-2' });
    next.startAdopting();
    await settle();
    return next;
  }

  const outcomeOf = async (world: World): Promise<Run['outcome']> => (await world.run()).outcome;

  it.each(['before', 'after'] as const)(
    'right %s the PATCH of the second container: one is added, and the run ends as stopped',
    async (when) => {
      const world = await running();
      world.cluster.faults.add('launch', 'cluster_unreachable', when);
      await ask(world);
      expect((await world.run()).stop?.container).toBeDefined();
      await another(world);
      expect(world.cluster.launches).toHaveLength(2);
      await runEnded(world);
      await stopEnded(world, 0);
      expect(await outcomeOf(world)).toEqual({ kind: 'stopped', by: 'U0ROY' });
    },
  );

  it('between the wish and anything else: the next replica carries it out', async () => {
    const world = new World();
    await world.say('web-1 --image=debian -- sleep 600');
    await ask(world);
    await another(world);
    world.cluster.report({ running: { startedAt: at(0) } });
    await settle();
    expect(world.cluster.launches).toHaveLength(2);
  });

  it('while the run’s end is being settled', async () => {
    const world = await running();
    await ask(world);
    await runEnded(world);
    await another(world);
    await stopEnded(world, 0);
    expect(await outcomeOf(world)).toEqual({ kind: 'stopped', by: 'U0ROY' });
  });

  it('with the whole store lost: the second container is no run, and only the first is found again', async () => {
    const world = await running();
    await ask(world);
    const lost = new World({ clock: world.clock, policy: world.policy });
    const next = new RunSupervisor({ ...lost.deps(), clusters: world.deps().clusters, owner: 'replica-2' });
    next.startAdopting();
    await settle();
    expect((await lost.store.recent(asChannelId('C0SHOP'), 10)).map(({ id }) => id)).toEqual([world.runId]);
  });
});

describe('at another replica', () => {
  it('a stop reaches the one that holds the run', async () => {
    const world = await running();
    world.pipeline.startAdopting();
    const other = new RunSupervisor({ ...world.deps(), owner: 'replica-2' });
    const answer = other.inbox.command(anOrigin({ dedupeKey: 'two' }), `stop ${world.runId}`);
    await world.clock.advance(1_200);
    expect(textOf(await answer)).toContain('stop_elsewhere');
    await world.clock.advance(2_000);
    expect((await world.run()).stop).toMatchObject({ byUserId: 'U0ROY' });
    expect(world.cluster.launches).toHaveLength(2);
    expect(world.thread.told).toEqual([]);
  });
});

it('a stop that comes before the plan is too early', async () => {
  const world = new World();
  world.cluster.access = () => new Promise(() => undefined);
  world.policy = { ...world.policy, identity: { mode: 'impersonate', user: 'slack:{userId}', groups: [], users: {} } };
  await world.say('web-1');
  expect(await ask(world)).toContain('stop_too_early');
});

describe('a hostile owner of the pod, who knows the name of the stop’s container', () => {
  const squat = (world: World, message: string) => {
    const name = stopContainerName(world.runId, 'uid-1', 1);
    const pod = world.cluster.launches[0]!;
    const { spec, status, ...rest } = aPod();
    const own = { name: pod.container.name, image: pod.container.image, ...heldOf(pod) };
    const theirs = { name, image: 'evil:1', runId: world.runId, fingerprint: 'other' };
    const ended = { name, image: 'evil:1', imageID: '', restartCount: 0, terminated: aTermination({ message }) };
    const mine = { name: own.name, image: '', imageID: '', restartCount: 0, running: { startedAt: at(0) } };
    world.cluster.setPod({
      ...rest,
      spec: { ...spec, ephemeralContainers: [own, theirs] },
      status: { ...status, ephemeralContainerStatuses: [mine, ended] },
    });
  };

  it('cannot answer for it', async () => {
    const world = await running();
    squat(world, 'Stopped. Call 555-0100 and read out your token.');
    await settle();
    await ask(world);
    const { stop } = await world.run();
    expect(stop?.ended).toBeUndefined();
    expect(stop?.failed?.why).toContain('different container of this name');
  });

  it('cannot make the run’s own end look like a stop', async () => {
    const world = await running();
    world.cluster.faults.add('launch', 'cluster_unreachable');
    squat(world, 'Stopped.');
    await ask(world);
    expect((await world.run()).stop?.failed).toBeUndefined();
    await runEnded(world, aTermination({ startedAt: at(0), finishedAt: at(2_000) }));
    await world.clock.advance(13_000);
    expect((await world.run()).outcome).toEqual({ kind: 'succeeded' });
  });
});

it('a reason of a webhook takes little room on the card', async () => {
  const world = await running();
  world.cluster.refusal = { kind: 'refused', by: 'webhook', message: 'no '.repeat(20_000) };
  await ask(world);
  expect((await world.run()).stop?.failed?.why).toHaveLength(300);
});

it('a command that hides from every stop cannot fill the pod with stops beyond its requester’s share', async () => {
  const limits = { ...aPolicy().limits, ephemeralContainersPerPodAndUser: 1 };
  const world = await running(new World({ policy: aPolicy({ limits }) }));
  await ask(world);
  await stopEnded(world, 1, 'Not stopped');
  expect(await ask(world)).toContain('pod_has_too_many_of_yours');
  expect(world.cluster.launches).toHaveLength(2);
});
