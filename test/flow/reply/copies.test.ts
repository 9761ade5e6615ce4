import { describe, expect, it } from 'vitest';
import { MemoryRunStore } from '../../../src/adapters/store/index.ts';
import type { ActionName } from '../../../src/core/actions.ts';
import { KdebugError } from '../../../src/core/errors.ts';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import type { Approval, ApproverGroup, Policy } from '../../../src/core/policy/policy.ts';
import { RunSupervisor } from '../../../src/flow/supervisor.ts';
import { anOrigin, aPolicy, aRule, aTermination } from '../../support/builders.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';
import { BATCH_RULE, BatchWorld } from '../batch/batch-world.ts';
import type { Said } from '../support/fakes.ts';
import { World } from '../support/world.ts';

const TERM_MS = 900_000;
const terms = (parts: Partial<Approval> = {}): Approval => ({
  from: ['sre'],
  count: 1,
  expiresMs: TERM_MS,
  reason: 'optional',
  voteReason: 'optional',
  grants: 'allowed',
  ...parts,
});

const SRE: ApproverGroup = { usergroup: 'S0SRE', users: [asUserId('U0CAROL')] };
const ROOM: ApproverGroup = { users: [], channel: asChannelId('C0APPROVERS') };

interface Parts {
  readonly group?: ApproverGroup;
  readonly terms?: Partial<Approval>;
  readonly policy?: Partial<Policy>;
  /** Who is in the channel of the run; the approvers are Alice, Bob (the group) and Carol. */
  readonly here?: readonly string[];
  readonly before?: (world: World) => void;
}

const guarded = ({ group = SRE, terms: given, policy }: Parts): Policy =>
  aPolicy({
    channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ id: 'attach', approval: terms(given) })] } },
    approvers: { sre: group },
    ...policy,
  });

async function pending(parts: Parts = {}): Promise<World> {
  const clock = new FakeClock();
  const world = new World({ policy: guarded(parts), clock, store: new MemoryRunStore({ clock, leaseMs: 3_500 }) });
  world.directory.inChannels.set('C0SHOP', new Set(parts.here ?? ['U0ROY']));
  parts.before?.(world);
  await world.say('web-1 --reason=hang');
  expect((await world.run()).state).toBe('pending-approval');
  return world;
}

const copies = ({ thread }: Pick<World, 'thread'>): readonly Said[] =>
  thread.posts.filter(({ meta }) => meta.kind === 'copy');
const reminders = ({ thread }: Pick<World, 'thread'>): readonly Said[] =>
  thread.posts.filter(({ meta }) => meta.kind === 'reminder');
const places = (posts: readonly Said[]): readonly string[] => posts.map(({ place }) => place.channelId).toSorted();
const textOf = (said: Said | undefined): string => JSON.stringify(said?.message ?? null);
const buttonsOf = (said: Said | undefined) => said?.message.parts.filter(({ kind }) => kind === 'actions');
const actionsOf = (said: Said | undefined): readonly string[] =>
  said?.message.parts.flatMap((part) => (part.kind === 'actions' ? part.buttons.map(({ action }) => action) : [])) ??
  [];
/** Only who asked may withdraw, and they have no copy. */
const ofApprovers = (said: Said | undefined) => actionsOf(said).filter((action) => action !== 'cancel');
const card = (world: World): string => JSON.stringify(world.anchor());
const copyIn = (world: World, channelId: string): Said => {
  const found = copies(world).find(({ place }) => place.channelId === channelId);
  if (!found) throw new Error(`no copy in ${channelId}`);
  return found;
};
const at = ({ ref }: Said) => ({ channelId: ref.channelId, messageTs: ref.ts });

/** Another replica on the same store and the same Slack, which takes over what lapses. */
function another(world: World): RunSupervisor {
  const bot = new RunSupervisor({ ...world.deps(), owner: 'replica-2' });
  bot.startAdopting();
  return bot;
}

describe('people who may decide', () => {
  it('get nothing but the card when they are in its channel', async () => {
    const world = await pending({ here: ['U0ROY', 'U0ALICE', 'U0BOB', 'U0CAROL'] });
    expect(world.thread.posts).toHaveLength(1);
    expect(card(world)).not.toContain('direct message');
    expect(world.thread.calls).not.toContain('update');
  });

  it('get the whole card in a direct message when they are not, with its buttons and the way to it', async () => {
    const world = await pending({ here: ['U0ROY', 'U0ALICE'] });
    expect(places(copies(world))).toEqual(['D-U0BOB', 'D-U0CAROL']);
    const copy = copyIn(world, 'D-U0BOB');
    expect(actionsOf(copy)).toEqual(ofApprovers(world.thread.posts[0]));
    expect(textOf(copy)).toContain('uid uid-1');
    expect(textOf(copy)).toContain('https://local.slack.com/archives/C0SHOP/p10');
    expect(card(world)).toContain('Also sent to 2 approvers in a direct message.');
  });

  it('get it all where the channel is private, whoever is in it', async () => {
    const world = await pending({
      here: ['U0ROY', 'U0ALICE', 'U0BOB', 'U0CAROL'],
      before: ({ directory }) => directory.hidden.add('C0SHOP'),
    });
    expect(places(copies(world))).toEqual(['D-U0ALICE', 'D-U0BOB', 'D-U0CAROL']);
  });

  it.each(['slack_refused', 'slack_channel_closed'] as const)(
    'get it all where nobody can say who is in the channel (%s)',
    async (code) => {
      const world = await pending({ before: ({ directory }) => directory.faults.add('channelMembers', code) });
      expect(copies(world)).toHaveLength(3);
    },
  );

  it('are never who asked, with whichever account, nor guests, outsiders, bots and the deactivated', async () => {
    const users = { [asUserId('U0ROY')]: 'roy', [asUserId('U0BOB')]: 'roy' };
    const world = await pending({
      group: { usergroup: 'S0SRE', users: ['U0ROY', 'U0G', 'U0O', 'U0D', 'U0X'].map(asUserId) },
      policy: { identity: { mode: 'serviceAccount', users, unmapped: 'allow' } },
      before: ({ directory }) => {
        directory.kinds.set('U0G', 'guest').set('U0O', 'outsider').set('U0D', 'deactivated').set('U0X', 'bot');
      },
    });
    expect(places(copies(world))).toEqual(['D-U0ALICE']);
  });

  it('are written to twenty at most, and the card says how many are not', async () => {
    const group = Array.from({ length: 32 }, (_, n) => `U0SRE${n}`);
    const world = await pending({
      group: { usergroup: 'S0SRE', users: [] },
      before: ({ directory }) => directory.groups.set('S0SRE', new Set(group)),
    });
    expect(copies(world)).toHaveLength(20);
    expect(card(world)).toContain('Also sent to 20 approvers in a direct message. Not sent to 12 more approvers');
  });

  it('are looked for among forty at most: a group of guests uses up nobody else’s questions', async () => {
    const group = Array.from({ length: 300 }, (_, n) => `U0GUEST${n}`);
    let looks = 0;
    const world = await pending({
      group: { usergroup: 'S0SRE', users: [] },
      before: ({ directory }) => {
        directory.groups.set('S0SRE', new Set(group));
        directory.person = async (userId) => {
          if (userId.startsWith('U0GUEST')) looks += 1;
          return { userId, teamId: 'T0TEAM', kind: 'guest', name: userId };
        };
      },
    });
    expect(looks).toBe(40);
    expect(copies(world)).toEqual([]);
    expect(card(world)).toContain('Not sent to 260 more approvers');
  });

  it('are asked the same of a batch', async () => {
    const policy = guarded({ group: { users: [asUserId('U0BOB')] } });
    const rules = [{ ...BATCH_RULE, approval: terms() }];
    const world = new BatchWorld(3, { policy: { ...policy, channels: { [asChannelId('C0SHOP')]: { rules } } } });
    world.directory.inChannels.set('C0SHOP', new Set(['U0ROY']));
    await world.say('deployment/web -n shop --image=debian');
    expect(places(copies(world))).toEqual(['D-U0BOB']);
    const [copy] = copies(world);
    expect(textOf(copy)).toContain('"approve"');
    await world.clock.advance(TERM_MS / 2 + 2_000);
    expect(reminders(world)).toHaveLength(1);
    await world.click('reject', 'U0BOB');
    await settle();
    expect(textOf(copy)).toMatch(/Rejected.*U0BOB/);
    expect(buttonsOf(copy)).toEqual([]);
  });
});

describe('approvers whom Slack does not tell at once', () => {
  const GROUP: ApproverGroup = { usergroup: 'S0SRE', users: [asUserId('U0CAROL')] };

  /** Slack tells who is in the group only once `told.now`; `asked` has the moment of each question. */
  async function untold(code: string, parts: Partial<Parts> = {}) {
    const told = { now: false };
    const asked: number[] = [];
    const world = await pending({
      group: GROUP,
      ...parts,
      before: ({ directory, clock }) => {
        const members = directory.members.bind(directory);
        directory.members = async (...which) => {
          asked.push(clock.now());
          if (told.now) return members(...which);
          throw Object.assign(new KdebugError('slack_unreachable'), { code });
        };
      },
    });
    world.pipeline.startAdopting();
    return { world, told, asked };
  }

  it('are looked for in the group as it is, not as it was last shown', async () => {
    const world = await pending({ before: ({ directory }) => directory.lastKnown.set('S0SRE', new Set(['U0EVE'])) });
    expect(places(copies(world))).toEqual(['D-U0ALICE', 'D-U0BOB', 'D-U0CAROL']);
  });

  it.each(['slack_busy', 'slack_unreachable'])(
    'hear of it as soon as it does (%s), the others before',
    async (code) => {
      const { world, told } = await untold(code);
      await world.clock.advance(60_000);
      expect(places(copies(world))).toEqual(['D-U0CAROL']);
      told.now = true;
      await world.clock.advance(65_000);
      expect(places(copies(world))).toEqual(['D-U0ALICE', 'D-U0BOB', 'D-U0CAROL']);
      expect((await world.run()).asked).toMatchObject({ waiting: [], copies: [{}, {}, {}] });
      expect((await world.run()).asked).not.toHaveProperty('again');
      await world.clock.advance(TERM_MS / 2);
      expect(reminders(world)).toHaveLength(3);
      await world.pipeline.drain(0);
    },
  );

  it('are asked for at most every five seconds after three tries, and no more once it is decided', async () => {
    const { world, asked } = await untold('slack_busy');
    await world.clock.advance(300_000);
    const gaps = asked.slice(3).map((atMs, index) => atMs - (asked[index + 2] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(5_000);
    expect(gaps.length).toBeGreaterThan(4);
    expect(asked.length).toBeLessThan(15);
    await world.click('U0CAROL', 'reject');
    const before = asked.length;
    await world.clock.advance(TERM_MS);
    expect(asked).toHaveLength(before);
    await world.pipeline.drain(0);
  });

  it('hold the run at no replica: a click counts at any of them, and another one looks further', async () => {
    const { world, told } = await untold('slack_busy');
    await world.clock.advance(30_000);
    expect(world.pipeline.active).toBe(0);
    await world.pipeline.drain(0);
    told.now = true;
    const bot = another(world);
    await world.clock.advance(65_000);
    expect(places(copies(world))).toEqual(['D-U0ALICE', 'D-U0BOB', 'D-U0CAROL']);
    await bot.drain(0);
  });

  it('are twenty at most, with those who have heard of it', async () => {
    const people = (from: number) => Array.from({ length: 15 }, (_, n) => asUserId(`U0SRE${n + from}`));
    const { world, told } = await untold('slack_busy', { group: { usergroup: 'S0SRE', users: people(100) } });
    world.directory.groups.set('S0SRE', new Set(people(200)));
    await world.clock.advance(5_000);
    expect(copies(world)).toHaveLength(15);
    told.now = true;
    await world.clock.advance(65_000);
    expect(copies(world)).toHaveLength(20);
    expect(card(world)).toContain('Not sent to 10 more approvers');
    await world.pipeline.drain(0);
  });

  it('are looked for again in their own channel, which gets one card', async () => {
    let isTold = false;
    const world = await pending({
      group: ROOM,
      before: ({ directory }) => {
        directory.inChannels.set('C0APPROVERS', new Set(['U0BOB']));
        const channel = directory.channel.bind(directory);
        directory.channel = async (channelId) => {
          if (channelId !== 'C0APPROVERS' || isTold) return channel(channelId);
          throw new KdebugError('slack_unreachable', { facts: { kind: 'slow' } });
        };
      },
    });
    world.pipeline.startAdopting();
    await world.clock.advance(5_000);
    expect(copies(world)).toEqual([]);
    isTold = true;
    await world.clock.advance(65_000);
    expect(places(copies(world))).toEqual(['C0APPROVERS']);
    expect(card(world)).toMatch(/Also shown in .*C0APPROVERS/);
    expect(card(world)).not.toContain('/invite');
    await world.pipeline.drain(0);
  });
});

describe('a click on a copy', () => {
  it('counts like one on the card, and the record says where it was', async () => {
    const world = await pending();
    expect(await world.click('U0BOB', 'approve', at(copyIn(world, 'D-U0BOB')))).toEqual({ kind: 'nothing' });
    expect(world.cluster.launches).toHaveLength(1);
    expect(world.audit.entries.find(({ step }) => step === 'vote')).toMatchObject({
      actorId: 'U0BOB',
      channelId: 'C0SHOP',
      facts: { verdict: 'granted', clickedIn: 'D-U0BOB' },
    });
  });

  it.each([
    ['U0EVE', 'vote_by_outsider'],
    ['U0ROY', 'vote_by_requester'],
  ])('of %s is refused as it is on the card', async (userId, reason) => {
    const world = await pending();
    const answer = await world.click(userId, 'approve', at(copyIn(world, 'D-U0BOB')));
    expect(JSON.stringify(answer)).toContain(reason);
    expect(world.audit.entries.at(-1)?.facts).toMatchObject({ clickedIn: 'D-U0BOB', verdict: reason });
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('of somebody who has left the group since does not count', async () => {
    const world = await pending();
    world.directory.groups.set('S0SRE', new Set(['U0ALICE']));
    const answer = await world.click('U0BOB', 'approve', at(copyIn(world, 'D-U0BOB')));
    expect(JSON.stringify(answer)).toContain('vote_by_outsider');
  });

  it('after the plan has changed is void', async () => {
    const world = await pending();
    world.policy = guarded({ terms: { count: 2 } });
    const answer = await world.click('U0BOB', 'approve', at(copyIn(world, 'D-U0BOB')));
    expect(JSON.stringify(answer)).toContain('approval_changed');
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('is stale in a direct message that was never a copy', async () => {
    const world = await pending();
    const answer = await world.click('U0BOB', 'approve', { channelId: 'D-U0BOB', messageTs: '77.7' });
    expect(JSON.stringify(answer)).toContain('button_stale');
  });
});

describe('the copies', () => {
  it('say who approved it, without buttons, while it runs', async () => {
    const world = await pending();
    await world.click('U0BOB', 'approve');
    for (const copy of copies(world)) {
      expect(textOf(copy)).toMatch(/Approved.*U0BOB/);
      expect(buttonsOf(copy)).toEqual([]);
    }
    expect((await world.run()).state).not.toBe('finished');
    world.cluster.report({ terminated: aTermination() });
    await settle();
    expect((await world.run()).delivery.closed).toBe(true);
  });

  it.each<[string, string, ActionName, RegExp]>([
    ['rejected', 'U0CAROL', 'reject', /Rejected.*U0CAROL/],
    ['withdrawn', 'U0ROY', 'cancel', /Withdrawn.*U0ROY/],
  ])('say that it was %s', async (_, userId, action, words) => {
    const world = await pending();
    await world.click(userId, action);
    expect(copies(world)).toHaveLength(3);
    for (const copy of copies(world)) {
      expect(textOf(copy)).toMatch(words);
      expect(buttonsOf(copy)).toEqual([]);
    }
  });

  it('say that it expired', async () => {
    const world = await pending();
    world.pipeline.startAdopting();
    await world.clock.advance(TERM_MS + 5_000);
    for (const copy of copies(world)) expect(textOf(copy)).toContain('Expired');
    await world.pipeline.drain(0);
  });

  it("give way to everybody's last words once it is decided, and not before", async () => {
    const world = await pending({ terms: { count: 2 } });
    const lanes = () => new Set(copies(world).map(({ lane }) => lane));
    await world.click('U0BOB', 'approve');
    expect(lanes()).toEqual(new Set(['final']));
    await world.click('U0ROY', 'cancel');
    expect(lanes()).toEqual(new Set(['progress']));
    expect(world.thread.posts[0]?.lane).toBe('final');
  });

  it('show the first of two votes', async () => {
    const world = await pending({ terms: { count: 2 } });
    await world.click('U0BOB', 'approve');
    for (const copy of copies(world)) expect(textOf(copy)).toMatch(/Approved.*U0BOB/);
    expect(buttonsOf(copyIn(world, 'D-U0ALICE'))).toHaveLength(1);
  });

  it('are edited by another replica after a restart, as it is decided there', async () => {
    const world = await pending();
    const bot = another(world);
    const click = {
      action: 'reject',
      value: world.runId,
      teamId: 'T0TEAM',
      userId: 'U0BOB',
      dedupeKey: 'two',
    } as const;
    await bot.inbox.action({ ...click, ...at(copyIn(world, 'D-U0BOB')) });
    await settle();
    expect(copies(world)).toHaveLength(3);
    for (const copy of copies(world)) expect(textOf(copy)).toMatch(/Rejected/);
    await bot.drain(0);
  });

  it('are not sent again when the answer to one was lost: it is looked for', async () => {
    const world = new World({ policy: guarded({}) });
    world.directory.inChannels.set('C0SHOP', new Set(['U0ROY']));
    const post = world.thread.post.bind(world.thread);
    let isLost = false;
    world.thread.post = async (place, message, meta, sure) => {
      const ref = await post(place, message, meta, sure);
      if (meta.kind !== 'copy' || isLost) return ref;
      isLost = true;
      throw Object.assign(new Error('lost'), { code: 'slack_unanswered' });
    };
    await world.say('web-1 --reason=hang');
    await world.clock.advance(3_000);
    expect(copies(world)).toHaveLength(3);
    expect((await world.run()).asked).toMatchObject({ waiting: [], copies: [{}, {}, {}] });
  });

  it('are found by who takes over from a process that died among them', async () => {
    const world = new World({
      policy: guarded({}),
      ...(() => {
        const clock = new FakeClock();
        return { clock, store: new MemoryRunStore({ clock, leaseMs: 3_500 }) };
      })(),
    });
    world.directory.inChannels.set('C0SHOP', new Set(['U0ROY']));
    const save = world.store.save.bind(world.store);
    // It dies right after its first messages: none of them is on record.
    world.store.save = (run, fence) => (run.asked?.copies.length ? new Promise(() => {}) : save(run, fence));
    await world.say('web-1 --reason=hang');
    expect(copies(world)).toHaveLength(3);
    world.store.save = save;
    const bot = another(world);
    await world.clock.advance(6_000);
    expect(copies(world)).toHaveLength(3);
    expect((await world.run()).asked).toMatchObject({ waiting: [] });
    expect((await world.run()).asked?.copies).toHaveLength(3);
    await bot.drain(0);
  });

  it.each(['slack_refused', 'slack_channel_closed'] as const)(
    'that Slack refuses (%s) hold nothing up, and the card says so',
    async (code) => {
      const world = await pending({ before: ({ thread }) => thread.faults.add('openDirect', code) });
      expect(copies(world)).toHaveLength(2);
      expect(card(world)).toContain('1 approver could not be reached.');
      expect(await world.click('U0BOB', 'approve')).toEqual({ kind: 'nothing' });
      expect(world.cluster.launches).toHaveLength(1);
    },
  );

  it('that Slack does not answer are tried three times, and votes count meanwhile', async () => {
    const world = await pending({
      before: ({ thread }) => {
        for (let n = 0; n < 9; n += 1) thread.faults.add('openDirect', 'slack_unanswered');
      },
    });
    await world.clock.advance(1_000);
    expect(await world.click('U0BOB', 'approve')).toEqual({ kind: 'nothing' });
    expect(world.cluster.launches).toHaveLength(1);
    await world.clock.advance(10_000);
    expect(copies(world)).toEqual([]);
    world.cluster.report({ terminated: aTermination() });
    await world.clock.advance(10_000);
    expect((await world.run()).delivery.closed).toBe(true);
    expect(world.thread.calls.filter((call) => call === 'openDirect').length).toBeLessThanOrEqual(9);
  });

  it('leave the run free for other replicas as soon as they are sent', async () => {
    const world = await pending();
    expect(world.pipeline.active).toBe(0);
  });
});

describe('half of the time later', () => {
  const half = async (world: World): Promise<void> => {
    world.pipeline.startAdopting();
    await world.clock.advance(TERM_MS / 2 + 3_000);
  };

  it('those in the channel are mentioned once, in the thread of the card', async () => {
    const world = await pending({ here: ['U0ROY', 'U0ALICE', 'U0BOB', 'U0CAROL'] });
    await world.clock.advance(TERM_MS / 2 - 5_000);
    expect(reminders(world)).toEqual([]);
    await half(world);
    expect(reminders(world)).toMatchObject([{ place: { channelId: 'C0SHOP', threadTs: '1.0' } }]);
    expect(textOf(reminders(world)[0])).toMatch(/S0SRE.*U0CAROL.*still needs a decision/);
    await world.clock.advance(TERM_MS / 4);
    expect(reminders(world)).toHaveLength(1);
    await world.pipeline.drain(0);
  });

  it('those with a direct message are reminded in its thread, and nobody in the channel', async () => {
    const world = await pending();
    await half(world);
    const threads = copies(world).map(({ ref }) => ({ channelId: ref.channelId, threadTs: ref.ts }));
    expect(reminders(world).map(({ place }) => place)).toEqual(threads);
    await world.pipeline.drain(0);
  });

  it('it happens once with two replicas, also when the first died right after the first of them', async () => {
    const world = await pending();
    const save = world.store.save.bind(world.store);
    let begun = 0;
    // The intent is kept, and nothing after it.
    world.store.save = (run, fence) => {
      if (run.asked?.remindedAtMs !== undefined) begun += 1;
      return begun > 1 ? new Promise(() => {}) : save(run, fence);
    };
    world.pipeline.startAdopting();
    await world.clock.advance(TERM_MS / 2 + 1_000);
    expect(reminders(world)).toHaveLength(3);
    world.store.save = save;
    void world.pipeline.drain(0);
    const bot = another(world);
    await world.clock.advance(20_000);
    expect(reminders(world)).toHaveLength(3);
    expect((await world.run()).asked).toMatchObject({ waiting: [] });
    await bot.drain(0);
  });

  it('nothing is said of what is decided', async () => {
    const world = await pending();
    await world.click('U0BOB', 'reject');
    await half(world);
    expect(reminders(world)).toEqual([]);
    await world.pipeline.drain(0);
  });

  it('who has voted already is left alone', async () => {
    const world = await pending({ terms: { count: 2 } });
    await world.click('U0BOB', 'approve');
    await half(world);
    expect(places(reminders(world))).toEqual(['D-U0ALICE', 'D-U0CAROL']);
    await world.pipeline.drain(0);
  });
});

describe('approvers by channel', () => {
  const room = (parts: Parts = {}) =>
    pending({
      group: ROOM,
      ...parts,
      before: (world) => {
        world.directory.inChannels.set('C0APPROVERS', new Set(['U0BOB', 'U0ALICE', 'U0ROY']));
        parts.before?.(world);
      },
    });

  it('are asked in their channel, with the whole card, and not one by one', async () => {
    const world = await room();
    expect(places(copies(world))).toEqual(['C0APPROVERS']);
    expect(actionsOf(copies(world)[0])).toEqual(ofApprovers(world.thread.posts[0]));
    expect(card(world)).toContain('the members of ');
    expect(card(world)).toMatch(/Also shown in .*C0APPROVERS/);
  });

  it('decide by a click there, or on the card', async () => {
    const world = await room();
    expect(await world.click('U0BOB', 'approve', at(copyIn(world, 'C0APPROVERS')))).toEqual({ kind: 'nothing' });
    expect(world.cluster.launches).toHaveLength(1);
    expect(textOf(copyIn(world, 'C0APPROVERS'))).toMatch(/Approved.*U0BOB/);
  });

  it('are its members at the click: who has left it, or never was in it, decides nothing', async () => {
    const world = await room();
    world.directory.inChannels.set('C0APPROVERS', new Set(['U0ALICE']));
    for (const userId of ['U0BOB', 'U0EVE'])
      expect(JSON.stringify(await world.click(userId, 'approve'))).toContain('vote_by_outsider');
    expect(world.cluster.launches).toHaveLength(0);
  });

  it.each(['guest', 'outsider', 'deactivated'] as const)('are full members: a %s in it is none', async (kind) => {
    const world = await room({ before: ({ directory }) => directory.kinds.set('U0BOB', kind) });
    expect(JSON.stringify(await world.click('U0BOB', 'approve'))).toContain('vote_by_outsider');
  });

  it('are nobody where kdebug is not in their private channel: card and click say so', async () => {
    const world = await room({
      before: ({ directory }) => {
        directory.notIn.add('C0APPROVERS');
        directory.hidden.add('C0APPROVERS');
      },
    });
    expect(copies(world)).toEqual([]);
    expect(card(world)).toMatch(/C0APPROVERS.*\/invite @kdebug/);
    expect(JSON.stringify(await world.click('U0BOB', 'approve'))).toContain('approvers_channel_closed');
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('are not shown it where people of another company read along', async () => {
    const world = await room({ before: ({ directory }) => directory.shared.add('C0APPROVERS') });
    expect(copies(world)).toEqual([]);
  });

  it('see no second card where the run is in their own channel', async () => {
    const world = await pending({ group: { users: [], channel: asChannelId('C0SHOP') }, here: ['U0ROY', 'U0BOB'] });
    expect(copies(world)).toEqual([]);
    expect(await world.click('U0BOB', 'approve')).toEqual({ kind: 'nothing' });
  });

  it('are reminded by a message of its own, which says in the end what was decided', async () => {
    const world = await room();
    world.pipeline.startAdopting();
    await world.clock.advance(TERM_MS / 2 + 3_000);
    expect(reminders(world)).toMatchObject([{ place: { channelId: 'C0APPROVERS' } }]);
    expect(textOf(reminders(world)[0])).toContain('Open the request');
    await world.click('U0BOB', 'reject');
    expect(textOf(reminders(world)[0])).toMatch(/Rejected/);
    await world.pipeline.drain(0);
  });
});

describe('whoami', () => {
  it('names the groups that a channel makes somebody a member of, and those that it cannot see', async () => {
    const world = new World({ policy: guarded({ group: ROOM }) });
    const ask = () => world.say('whoami', anOrigin({ requesterId: asUserId('U0BOB') }));
    world.directory.inChannels.set('C0APPROVERS', new Set(['U0BOB']));
    expect(JSON.stringify(await ask())).toContain('"sre"');
    world.directory.notIn.add('C0APPROVERS');
    world.directory.hidden.add('C0APPROVERS');
    expect(JSON.stringify(await ask())).toContain('sre (not known: kdebug is not in its channel)');
  });
});
