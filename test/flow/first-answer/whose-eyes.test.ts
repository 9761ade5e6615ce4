import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/core/container/pod.ts';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import type { Policy, Rule } from '../../../src/core/policy/policy.ts';
import {
  anOrigin,
  aPod,
  aPolicy,
  approvalTerms,
  aRule,
  aStatus,
  aTermination,
  START_MS,
} from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { World } from '../support/world.ts';

const MARK = 'words-of-the-target';
const at = (ms: number) => new Date(START_MS + ms).toISOString();
const output = { redact: [], retentionMs: 604_800_000, deliverTo: 'requester' } as const;

const crashing = (): Pod =>
  aPod({
    status: {
      containerStatuses: [
        aStatus({
          restartCount: 4,
          waiting: { reason: 'CrashLoopBackOff', message: `back-off ${MARK}` },
          lastTermination: aTermination({ exitCode: 1, reason: 'Error', message: MARK, finishedAt: at(-12_000) }),
        }),
      ],
    },
  });

const LOGS = ['web', 'web --previous'] as const;
/** A line that came once is not told first. */
const ERRORS = [60_000, 30_000].map((ms) => ({ atMs: START_MS - ms, text: `ERROR ${MARK}` }));
function speaks({ cluster }: World): void {
  for (const log of LOGS) cluster.targetLogs.set(log, ERRORS);
  cluster.warningsNow = [
    {
      type: 'Warning',
      reason: 'Unhealthy',
      message: `Liveness probe failed: ${MARK}`,
      atMs: START_MS - 1_000,
      count: 9,
      fieldPath: 'spec.containers{web}',
      involved: { kind: 'Pod', name: 'web-1', uid: 'uid-1' },
    },
    { type: 'Warning', reason: 'BackOff', message: MARK, atMs: START_MS, involved: { kind: 'Pod', name: 'gone-1' } },
  ];
}

const policyOf = (rule: Partial<Rule>, over: Partial<Policy> = {}): Policy =>
  aPolicy({
    approvers: { sre: { users: [asUserId('U0BOB')] } },
    channels: { [asChannelId('C0SHOP')]: { rules: [aRule(rule)] } },
    ...over,
  });

const seenBy = (world: World, isTheirs: (place: string) => boolean): string =>
  JSON.stringify([
    world.thread.posts.filter(({ place }) => isTheirs(place.channelId)).map(({ message }) => message),
    world.thread.files.filter(({ place }) => isTheirs(place.channelId)),
  ]);

const ASKED = ['web-1', 'gone-1', '-l app=web', 'deployment/web'];
const PODS: Readonly<Record<string, () => Pod>> = {
  running: () => labelled(aPod()),
  crashing: () => labelled(crashing()),
};
const labelled = (pod: Pod): Pod => ({
  ...pod,
  metadata: {
    ...pod.metadata,
    labels: { app: 'web', 'pod-template-hash': '5d9' },
    ownerReferences: [{ kind: 'ReplicaSet', name: 'web-5d9', controller: true }],
  },
});

describe('where output is for the requester alone', () => {
  const ends = ['posted', 'timed out', 'approved', 'withdrawn'] as const;
  it.each(Object.keys(PODS).flatMap((pod) => ASKED.flatMap((words) => ends.map((end) => [pod, words, end] as const))))(
    'nobody else sees a word of the target: a %s pod, %s, %s',
    async (pod, words, end) => {
      const isDecided = end === 'approved' || end === 'withdrawn';
      const world = new World({ policy: policyOf(isDecided ? { approval: approvalTerms() } : {}, { output }) });
      world.directory.inChannels.set('C0SHOP', new Set(['U0ROY', 'U0EVE']));
      speaks(world);
      world.cluster.setPod(PODS[pod]!());
      await world.say(words);
      await world.clock.advance(5_000);
      if (end === 'approved') await world.click('U0BOB', 'approve');
      if (end === 'withdrawn') await world.click('U0ROY', 'cancel');
      await world.clock.advance(300_000);
      const eve = anOrigin({ dedupeKey: 'eve', requesterId: asUserId('U0EVE') });
      const told = [
        await world.say(`show ${world.runId}`, { ...eve, dedupeKey: '1' }),
        await world.say('list --all', { ...eve, dedupeKey: '2' }),
        await world.say(`logs ${world.runId}`, { ...eve, dedupeKey: '3' }),
        await world.say('list --outcome=problems', { ...eve, dedupeKey: '4' }),
      ];
      await settle();
      expect(seenBy(world, (place) => place !== 'D-U0ROY')).not.toContain(MARK);
      expect(JSON.stringify(told)).not.toContain(MARK);
      expect(JSON.stringify([world.audit.entries, world.logged])).not.toContain(MARK);
    },
  );
});

/** Only the log speaks. */
function logSpeaks({ cluster }: World): void {
  for (const log of LOGS) cluster.targetLogs.set(log, ERRORS);
}
const silentWords = (pod: Pod): Pod => JSON.parse(JSON.stringify(pod).replaceAll(MARK, 'x'));

async function asked(policy: Policy, words: string, pod: Pod, prepare: (world: World) => void = () => {}) {
  const world = new World({ policy });
  logSpeaks(world);
  world.cluster.setPod(silentWords(pod));
  prepare(world);
  await world.say(words);
  await world.clock.advance(5_000);
  return world;
}

const everything = (world: World): string =>
  JSON.stringify([world.thread.posts, world.thread.files, world.thread.told, world.audit.entries, world.logged]);

const WORDS = ['web-1', '-l app=web', 'deployment/web'];
const EACH = Object.keys(PODS).flatMap((pod) => WORDS.map((words) => [pod, words] as const));

describe('the log of the target', () => {
  it.each(EACH)('is read by default, and said: a %s pod, %s', async (pod, words) => {
    const world = await asked(policyOf({}), words, PODS[pod]!());
    expect(everything(world)).toContain(MARK);
  });

  it.each(EACH)('is not read where the rule says none, and that is said: a %s pod, %s', async (pod, words) => {
    const world = await asked(policyOf({ targetLog: 'none' }), words, PODS[pod]!());
    const described = await world.say('describe web-1', anOrigin({ dedupeKey: 'two' }));
    expect(everything(world) + JSON.stringify(described)).not.toContain(MARK);
    expect(world.cluster.calls).not.toContain('readTargetLog');
    expect(JSON.stringify((await world.run()).verdict?.unseen)).toContain('targetLog in the policy');
    expect(JSON.stringify(described)).toContain('targetLog in the policy');
  });

  it.each([
    ['errors', false],
    ['tail', true],
  ] as const)('is said with its newest lines where the rule says %s: %s', async (targetLog, isShown) => {
    const pod = labelled(aPod());
    const world = await asked(policyOf({ targetLog }), 'web-1', pod, ({ cluster }) => {
      const lines = ['one', 'two', '', 'password=hunter2hunter2', 'four', 'five', 'six'];
      cluster.targetLogs.set(
        'web',
        lines.map((text) => ({ atMs: START_MS, text })),
      );
    });
    const { verdict } = await world.run();
    const described = JSON.stringify(await world.say('describe web-1', anOrigin({ dedupeKey: 'two' })));
    expect(verdict?.evidence?.[0]?.lines).toEqual(
      isShown ? ['two', 'password=[redacted:secret]', 'four', 'five', 'six'] : undefined,
    );
    expect(described.includes('Newest lines of web')).toBe(isShown);
  });

  const shared = (rule: Partial<Rule>): Policy =>
    policyOf({}, { channels: { [asChannelId('C0SHOP')]: { slackConnect: 'allowed', rules: [aRule(rule)] } } });

  it.each([
    ['that another company shares', (world: World) => world.directory.shared.add('C0SHOP')],
    [
      'that Slack does not describe',
      (world: World) => Array.from({ length: 9 }, () => world.directory.faults.add('channel', 'slack_unanswered')),
    ],
  ])('is not read by default in a channel %s', async (_which, prepare) => {
    const world = await asked(shared({}), 'web-1', crashing(), (fresh) => void prepare(fresh));
    const described = await world.say('describe web-1', anOrigin({ dedupeKey: 'two' }));
    expect(everything(world) + JSON.stringify(described)).not.toContain(MARK);
    expect(world.cluster.calls).not.toContain('readTargetLog');
  });

  it('is said in a shared channel whose rule says so', async () => {
    const world = await asked(shared({ targetLog: 'errors' }), 'web-1', crashing(), ({ directory }) =>
      directory.shared.add('C0SHOP'),
    );
    expect(JSON.stringify(world.thread.posts)).toContain(MARK);
  });

  it('goes to the requester alone where another company joins the channel before the answer is posted', async () => {
    const world = await asked(shared({}), 'web-1', PODS.running!());
    expect(world.cluster.calls).toContain('readTargetLog');
    world.directory.shared.add('C0SHOP');
    world.cluster.report({ terminated: aTermination() });
    await world.clock.advance(10_000);
    const result = world.thread.posts.find(({ meta }) => meta.kind === 'result');
    expect(result?.place.channelId).toBe('D-U0ROY');
    expect(seenBy(world, (place) => place === 'C0SHOP')).not.toContain(MARK);
    const eve = anOrigin({ requesterId: asUserId('U0EVE') });
    const told = [
      await world.say(`show ${world.runId}`, { ...eve, dedupeKey: '1' }),
      await world.say('list', { ...eve, dedupeKey: '2' }),
    ];
    expect(JSON.stringify(told)).not.toContain(MARK);
  });

  it.each(WORDS)('is said nowhere where the audit log cannot say who read it: %s, and described', async (words) => {
    const world = await asked(policyOf({}), words, PODS.crashing!(), ({ audit }) => {
      for (let times = 0; times < 2; times += 1) audit.faults.add('target-log', 'audit_unavailable');
    });
    const described = await world.say('describe web-1', anOrigin({ dedupeKey: 'two' }));
    expect(await world.run()).toMatchObject({ state: 'denied', refusal: { code: 'audit_unavailable' } });
    expect(described?.code).toBe('audit_unavailable');
    expect(everything(world) + JSON.stringify(described)).not.toContain(MARK);
  });

  it('is not on a copy for approvers in a channel that another company shares', async () => {
    const rooms = { approvers: { sre: { users: [], channel: asChannelId('C0SRE') } } };
    const policy = policyOf({ approval: approvalTerms() }, rooms);
    const withRoom = {
      ...policy,
      channels: { ...policy.channels, [asChannelId('C0SRE')]: { slackConnect: 'allowed', rules: [] } },
    } as const;
    const at = async (isShared: boolean) => {
      const world = await asked(withRoom, 'web-1', PODS.running!(), ({ directory }) => {
        if (isShared) directory.shared.add('C0SRE');
      });
      return seenBy(world, (place) => place === 'C0SRE');
    };
    expect(await at(false)).toContain(MARK);
    expect(await at(true)).toContain('Approve');
    expect(await at(true)).not.toContain(MARK);
  });
});
