import { beforeEach, describe, expect, it } from 'vitest';
import { view } from '../../../src/adapters/slack/views/view.ts';
import { asChannelId, asRunId, asUserId } from '../../../src/core/ids.ts';
import {
  anOrigin,
  aPlan,
  aPod,
  aPolicy,
  aRule,
  aRun,
  aStatus,
  aTermination,
  START_MS,
} from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

let world: World;
beforeEach(() => {
  world = new World();
});

const say = async (words: string, origin = anOrigin()): Promise<string> => textOf(await world.say(words, origin));
const READS = ['pod', 'podSecurity', 'warnings', 'node'];
const reads = (): readonly string[] => world.cluster.calls.filter((call) => READS.includes(call));
const decisions = () => world.audit.entries.filter(({ step }) => step === 'decision').map(({ facts }) => facts);

describe('describe', () => {
  it('answers with the state of the pod, what may be run in it, and starts nothing', async () => {
    const answer = await say('describe web-1 -n shop');
    expect(answer).toContain('shop/web-1: Nothing found so far: ready');
    expect(answer).toMatch(/autodiagnose: allowed with .*restricted.* \(rule look\)/);
    expect(answer).toContain('nothing was started');
    expect(world.cluster.launches).toEqual([]);
    expect(world.cluster.calls).not.toContain('launch');
    expect(world.thread.posts).toEqual([]);
    expect(await world.store.recent(asChannelId('C0SHOP'), 10)).toEqual([]);
  });

  it('uses the channel’s own namespace where none is named', async () => {
    expect(await say('describe web-1')).toContain('shop/web-1');
  });

  it('records who described what, or was refused it', async () => {
    await say('describe web-1');
    await say('describe web-1 -n vault');
    expect(decisions()).toEqual([
      { kind: 'allow', code: undefined, command: 'describe web-1' },
      { kind: 'deny', code: 'namespace_not_allowed', command: 'describe web-1 -n vault' },
    ]);
  });

  it('shows nothing where that cannot be recorded', async () => {
    world.audit.faults.add('decision', 'audit_unavailable');
    expect(await say('describe web-1')).toContain('audit_unavailable');
    expect(reads()).toEqual([]);
  });

  it('says without events and node what it could not read', async () => {
    world.cluster.faults.add('warnings', 'cluster_forbidden');
    const answer = await say('describe web-1');
    expect(answer).toContain('its warnings and probes: the right is missing');
    expect(answer).toContain('its node: the right is missing');
  });

  it('redacts the words of the pod', async () => {
    world.policy = aPolicy({ output: { ...aPolicy().output, redact: ['hunter2'] } });
    const since = new Date(START_MS - 300_000).toISOString();
    const unmetConditions = [
      { type: 'Ready', reason: 'Why', message: 'the word hunter2', since },
      { type: 'example.com/gate', reason: 'hunter2', message: '', since },
    ];
    world.cluster.setPod(aPod({ status: { unmetConditions } }));
    const words = await say('describe web-1');
    expect(words).toMatch(/the word \[redacted[^\]]*\]/);
    expect(words).not.toContain('hunter2');
    world.cluster.setPod(aPod({ status: { phase: 'Failed', reason: 'Evicted', message: 'hunter2' } }));
    expect(await say('describe web-1')).not.toContain('hunter2');
  });

  it('counts as a look-up of this person', async () => {
    world.policy = aPolicy({ limits: { ...aPolicy().limits, runsPerUserPerMinute: 2 } });
    for (let count = 0; count < 2; count += 1) expect(await say('describe web-1')).toContain('shop/web-1');
    const before = reads().length;
    expect(await say('describe web-1')).toContain('limit_per_person');
    expect(reads()).toHaveLength(before);
    expect(await say('describe web-1', anOrigin({ requesterId: asUserId('U0BOB') }))).toContain('shop/web-1');
  });

  it('answers in time when the cluster does not', async () => {
    world.cluster.pod = () => new Promise(() => {});
    const asked = world.say('describe web-1');
    await settle();
    await world.clock.advance(2_000);
    expect(textOf(await asked)).toContain('no answer in time');
  });

  it('does not wait long for what is only useful', async () => {
    world.cluster.warnings = () => new Promise(() => {});
    const asked = world.say('describe web-1');
    await settle();
    await world.clock.advance(1_000);
    expect(textOf(await asked)).toContain('shop/web-1: Nothing found so far: ready');
  });
});

describe('the verdict of describe', () => {
  it('costs no more API calls than that of the question: at most five', async () => {
    const names = ['web', 'a', 'b', 'c'];
    const running = { running: { startedAt: new Date(START_MS).toISOString() } };
    world.cluster.setPod(aPod({ status: { containerStatuses: names.map((name) => aStatus({ name, ...running })) } }));
    await say('describe web-1');
    const free = ['pod', 'podSecurity', 'pods', 'access'];
    expect(world.cluster.calls.filter((call) => !free.includes(call))).toHaveLength(5);
  });

  it('is that of the question about the same pod, with its last words, read under the same right', async () => {
    const crashed = aStatus({
      restartCount: 4,
      waiting: { reason: 'CrashLoopBackOff', message: '' },
      lastTermination: aTermination({ exitCode: 1, reason: 'Error', finishedAt: new Date(START_MS).toISOString() }),
    });
    world.cluster.setPod(aPod({ status: { containerStatuses: [crashed] } }));
    world.cluster.targetLogs.set('web --previous', [{ atMs: START_MS, text: 'panic: DATABASE_URL is not set' }]);
    const described = await say('describe web-1');
    await say('web-1', anOrigin({ dedupeKey: 'question' }));
    const [question] = await world.store.recent(asChannelId('C0SHOP'), 1);
    expect(question?.verdict?.line).toContain('panic: DATABASE_URL is not set');
    expect(described).toContain(question?.verdict?.line ?? 'no line');
    expect(world.audit.entries.filter(({ step }) => step === 'target-log')).toHaveLength(2);
  });
});

describe('what a channel may not see', () => {
  /** The words of an answer without the name of the namespace. */
  const neutral = (answer: string, namespace: string): string => answer.replaceAll(namespace, 'NS');

  it('looks like a pod that does not exist, and the cluster is not called', async () => {
    const missing = neutral(await say('describe web-9 -n shop'), 'shop');
    const before = reads().length;
    const hidden = neutral(await say('describe web-9 -n vault'), 'vault');
    expect(reads()).toHaveLength(before);
    expect(hidden).toBe(missing);
    expect(hidden).toContain("There's no pod named web-9 in NS that this channel may see.");
  });

  it('looks the same when the namespace itself is gone', async () => {
    const missing = await say('describe web-9 -n shop');
    world.cluster.faults.add('podSecurity', 'namespace_not_found');
    expect(await say('describe web-1 -n shop')).toBe(missing.replaceAll('web-9', 'web-1'));
  });

  it.each([
    [
      'a channel outside the policy',
      'describe web-1',
      anOrigin({ channelId: asChannelId('C0OTHER') }),
      'channel_unknown',
    ],
    ['a cluster that is not there', 'describe web-1 --cluster=prd', anOrigin(), 'cluster_unknown'],
  ])('is refused before the cluster is called: %s', async (_, words, origin, code) => {
    expect(await say(words, origin)).toContain(code);
    expect(world.cluster.calls).toEqual([]);
  });

  it('is refused in a channel that another company reads', async () => {
    world.directory.shared.add('C0SHOP');
    expect(await say('describe web-1')).toContain('channel_shared');
    expect(world.cluster.calls).toEqual([]);
  });

  it('is refused to a person without the cluster’s own rights, whether the pod exists or not', async () => {
    const identity = { mode: 'impersonate', user: 'slack:{userId}', groups: [], users: {} } as const;
    world.policy = aPolicy({ identity });
    world.cluster.allowed = { kind: 'denied', reason: '', missing: ['get pods'] };
    const [there, missing] = [await say('describe web-1'), await say('describe web-9')];
    expect(there).toContain('access_denied');
    expect(missing).toBe(there);
    expect(reads()).toEqual([]);
    expect(decisions().map(({ code }) => code)).toEqual(['access_denied', 'access_denied']);
  });

  it('is refused to a person whom the policy does not map', async () => {
    world.policy = aPolicy({ identity: { mode: 'serviceAccount', users: {}, unmapped: 'deny' } });
    expect(await say('describe web-1')).toContain('identity_unmapped');
    expect(world.cluster.calls).toEqual([]);
  });
});

describe('the debug containers that a pod holds', () => {
  const ended = aRun({
    id: asRunId('cccccccccc'),
    state: 'finished',
    outcome: { kind: 'succeeded' },
    containerName: 'kdebug-c',
    plan: aPlan(),
    delivery: { anchor: { channelId: 'C0SHOP', ts: '1.0' } },
  });
  const holding = (name: string, runId: string) =>
    world.cluster.setPod(
      aPod({
        spec: { ephemeralContainers: [{ name, image: 'tools:1', runId }] },
        status: { containerStatuses: [aStatus({ ready: true, running: { startedAt: '' } })] },
      }),
    );

  it('are named by their runs, with a link to them', async () => {
    await world.store.create(ended, 'replica-1');
    holding('kdebug-c', ended.id);
    const message = await world.say('describe web-1');
    expect(textOf(message)).toContain('cccccccccc autodiagnose by U0ROY: Succeeded');
    expect(JSON.stringify(view(message!).blocks)).toContain('https://local.slack.com/archives/C0SHOP/p10');
  });

  it.each([
    ['another channel', { origin: anOrigin({ channelId: asChannelId('C0OTHER') }) }, 'kdebug-c'],
    ['another pod', { plan: aPlan({ podUid: 'uid-9' }) }, 'kdebug-c'],
    ['another container: anybody who may patch the pod can write its id there', {}, 'kdebug-d'],
  ] as const)('show nothing of a run of %s', async (_, parts, name) => {
    await world.store.create({ ...ended, ...parts }, 'replica-1');
    holding(name, ended.id);
    const answer = await say('describe web-1');
    expect(answer).toContain('tools:1 not started, of a batch, or of another channel');
    expect(answer).not.toContain('cccccccccc');
  });

  it('are named without their runs while the store is away', async () => {
    world.store.read = () => new Promise(() => {});
    holding('kdebug-c', ended.id);
    const asked = world.say('describe web-1');
    await settle();
    await world.clock.advance(500);
    expect(textOf(await asked)).toContain('tools:1 not started');
  });
});

it('says what needs an approval, by whom', async () => {
  const approval = {
    from: ['sre'],
    count: 2,
    expiresMs: 60_000,
    reason: 'required',
    voteReason: 'optional',
    grants: 'denied',
  } as const;
  const attach = aRule({ id: 'attach', classes: ['elevated'], profiles: ['sysadmin'], approval });
  world.policy = aPolicy({
    approvers: { sre: { users: [asUserId('U0BOB')] } },
    channels: { [asChannelId('C0SHOP')]: { rules: [aRule(), attach] } },
  });
  expect(await say('describe web-1')).toContain('any 2 of sre must approve sysadmin (rule attach), with a --reason');
});
