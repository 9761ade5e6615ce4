import { beforeEach, describe, expect, it } from 'vitest';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import { DIRECT, type Policy } from '../../../src/core/policy/policy.ts';
import type { Message } from '../../../src/core/say/message/message.ts';
import { CommandInbox } from '../../../src/flow/inbox/inbox.ts';
import { canI } from '../../../src/flow/lookup/explain.ts';
import { planOrRefusal } from '../../../src/flow/run/plan.ts';
import { anOrigin, aPod, aPolicy, aRequest, aRule, aRun } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf as plainText } from '../../support/plain-message.ts';
import { inFullOr } from '../../support/sample.ts';
import { World } from '../support/world.ts';

const MANY = inFullOr(10_000, 1_000);

let world: World;
/** Pods whose plan was begun: nothing else reads a pod's own security context. */
let planned: number;
beforeEach(() => {
  world = new World();
  planned = 0;
});

const ownerReferences = [{ kind: 'ReplicaSet', name: 'web-abc', uid: 'rs', controller: true }];

/** `count` pods, of one workload or of none. */
function pods(count: number, owned: boolean) {
  return Array.from({ length: count }, (_, index) => {
    const labels: Record<string, string> = owned ? { 'pod-template-hash': 'abc' } : {};
    const metadata = {
      name: `web-${index + 2}`,
      uid: `uid-${index + 2}`,
      labels,
      ownerReferences: owned ? ownerReferences : [],
    };
    const pod = aPod({ metadata });
    const spec = Object.defineProperty({ ...pod.spec }, 'securityContext', {
      enumerable: true,
      get: () => {
        planned += 1;
        return {};
      },
    });
    return { ...pod, spec };
  });
}

const ALL = aRequest({ target: { kind: 'all' } });
const ask = (): Promise<Message> => canI({ ...anOrigin(), receivedAtMs: world.clock.now() }, ALL, world.deps());
const textOf = (message: Message | undefined): string => JSON.stringify(message);

/** How often one pod's plan reads its security context. */
async function readsOfOne(): Promise<number> {
  world.cluster.siblings = pods(1, false);
  await ask();
  const reads = planned;
  planned = 0;
  return reads;
}

describe('can-i over thousands of pods', () => {
  it('looks at one pod of each kind', async () => {
    const reads = await readsOfOne();
    world.cluster.siblings = [...pods(MANY, true), ...pods(2, false)];
    const asked = ask();
    for (let turn = 0; turn <= MANY / 100; turn += 1) await world.clock.advance(0);
    expect(textOf(await asked)).toMatch(/Allowed|Denied|approval/);
    expect(planned).toBe(3 * reads);
  });

  it('stops working when its time is over, and not only answering', async () => {
    const reads = await readsOfOne();
    world.cluster.siblings = pods(MANY, false);
    const asked = ask();
    await settle();
    world.clock.standStill(2_001);
    for (let turn = 0; turn < MANY / 100; turn += 1) await world.clock.advance(0);
    expect(textOf(await asked)).toContain('no answer in time');
    expect(planned).toBeLessThanOrEqual(100 * reads);
  });

  it('asks the cluster for no rights when its time is over', async () => {
    world.cluster.siblings = pods(10, false);
    const all = world.cluster.pods.bind(world.cluster);
    world.cluster.pods = () => {
      world.clock.standStill(2_001);
      return all();
    };
    expect(textOf(await ask())).toContain('no answer in time');
    expect(world.cluster.calls).not.toContain('access');
  });
});

it('a batch of thousands of pods is planned a hundred pods a turn', async () => {
  const reads = await readsOfOne();
  world.cluster.siblings = pods(MANY, true);
  let before = 0;
  let most = 0;
  const { clock } = world;
  const deps = {
    ...world.deps(),
    clock: {
      now: () => clock.now(),
      elapsed: () => clock.elapsed(),
      after: (ms: number, wake: () => void) => {
        most = Math.max(most, planned - before);
        before = planned;
        return clock.after(ms, wake);
      },
    },
  };
  const made = planOrRefusal(aRun({ request: ALL }), deps);
  for (let turn = 0; turn <= MANY / 100; turn += 1) await clock.advance(0);
  expect(await made).toMatchObject({ batch: { eligible: MANY + 1 } });
  expect(planned).toBe(MANY * reads);
  expect(most).toBeLessThanOrEqual(100 * reads);
});

describe('what starts no run but costs work', () => {
  const limits = { ...aPolicy().limits, runsPerUserPerMinute: 3 };
  let inbox: CommandInbox;
  beforeEach(() => {
    world = new World({ policy: aPolicy({ limits }) });
    const starter = { refusalFor: () => undefined, start: () => undefined };
    inbox = new CommandInbox(world.deps(), starter, { change: () => Promise.reject(new Error('nothing is changed')) });
  });
  const say = async (words: string, user = 'U0ROY'): Promise<string> =>
    JSON.stringify(await inbox.command({ ...anOrigin(), requesterId: asUserId(user) }, words));

  it.each(['can-i web-1', 'can-i --all', 'whoami', 'export aaaaaaaaaa', 'apply\na: b'])(
    'counts against the rate of the person who asks: %s',
    async (words) => {
      for (let count = 0; count < 3; count += 1) expect(await say(words)).not.toContain('limit_per_person');
      expect(await say(words)).toMatch(/Try again.*limit_per_person/);
      expect(await say(words, 'U0GINGER')).not.toContain('limit_per_person');
      await world.clock.advance(60_000);
      expect(await say(words)).not.toContain('limit_per_person');
    },
  );

  it('counts all of it together, and the shortcut for a job too', async () => {
    for (const words of ['can-i web-1', 'whoami', 'apply\na: b']) await say(words);
    const person = { teamId: 'T0TEAM', userId: 'U0ROY', channelId: 'C0SHOP' };
    const shortcut = { ...person, name: 'apply-job', text: '' } as const;
    const at = { messageTs: '5.0', dedupeKey: 's', receivedAtMs: world.clock.now() };
    expect(JSON.stringify(await inbox.shortcut({ ...shortcut, ...at }))).toContain('limit_per_person');
  });

  it('does not count help and lists, and a person who was refused waits no longer for it', async () => {
    for (let count = 0; count < 9; count += 1)
      expect(await say(count % 2 === 0 ? 'help' : 'list')).not.toContain('limit');
    for (let count = 0; count < 9; count += 1) await say('whoami');
    await world.clock.advance(60_000);
    expect(await say('whoami')).not.toContain('limit_per_person');
  });
});

describe('can-i says what a diagnosis shows of the pod’s own log', () => {
  const rules = (targetLog?: 'none' | 'tail') => [aRule(targetLog ? { targetLog } : {})];
  const asked = async (channels: Policy['channels'], channelId = 'C0SHOP', isShared = false) => {
    const known = new World({ policy: aPolicy({ channels }) });
    if (isShared) known.directory.shared.add('C0SHOP');
    // Slack says nothing of direct messages.
    if (channelId !== 'C0SHOP')
      for (let times = 0; times < 5; times += 1) known.directory.faults.add('channel', 'slack_refused');
    return plainText(await known.say('can-i web-1', anOrigin({ channelId: asChannelId(channelId) })));
  };
  const [shop, errors, nothing] = [asChannelId('C0SHOP'), 'the lines that say what is wrong', 'own log: nothing'];

  it.each<readonly [string, string, Parameters<typeof asked>]>([
    ['by default', errors, [{ [shop]: { rules: rules() } }]],
    ['with none', nothing, [{ [shop]: { rules: rules('none') } }]],
    ['with tail', 'the newest lines', [{ [shop]: { rules: rules('tail') } }]],
    ['in a shared channel', nothing, [{ [shop]: { slackConnect: 'allowed', rules: rules() } }, 'C0SHOP', true]],
    [
      'in a direct message',
      errors,
      [{ [DIRECT]: { members: { users: [asUserId('U0ROY')] }, rules: rules() } }, 'D0ROY'],
    ],
  ])('%s', async (_how, words, [channels, channelId, isShared]) => {
    expect(await asked(channels, channelId, isShared)).toContain(words);
  });
});
