import { beforeEach, describe, expect, it } from 'vitest';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import { homeFor } from '../../../src/flow/home/home.ts';
import { anOrigin, aPolicy, approvalTerms, aRule } from '../../support/builders.ts';
import { textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

const SHOP = asChannelId('C0SHOP');
const VAULT = asChannelId('C0VAULT');
const sre = { usergroup: 'S0SRE', users: [] };
const approval = approvalTerms();

let world: World;
beforeEach(() => {
  const channels = {
    [SHOP]: { rules: [aRule({ classes: ['observe'], approval })] },
    [VAULT]: { rules: [aRule({ approval })] },
  };
  world = new World({ policy: aPolicy({ approvers: { sre }, channels, owner: '@platform' }) });
  world.directory.inChannels.set('C0VAULT', new Set(['U0ROY']));
});

const visit = (userId: string) => homeFor({ teamId: 'T0TEAM', userId, channelId: `D0${userId}` }, world.deps());
const seenBy = async (userId: string) => textOf(await visit(userId));

describe('the Home tab', () => {
  it('shows an approver what waits for them, where, for whom and until when, with a link to the card', async () => {
    await world.say('web-1');
    expect((await world.run()).state).toBe('pending-approval');
    const text = await seenBy('U0BOB');
    expect(text).toContain('1 request waiting for your approval');
    expect(text).toMatch(/U0ROY asks for \/kdebug web-1 Open in C0SHOP, until 2026-11-21T07:45/);
    expect(JSON.stringify(await visit('U0BOB'))).toContain('https://local.slack.com/archives/');
  });

  it('never shows people their own request as one to approve, nor one they voted on, nor what others decide', async () => {
    await world.say('web-1', anOrigin({ requesterId: asUserId('U0BOB') }));
    expect(await seenBy('U0BOB')).toContain('Nothing waits for your approval');
    expect(await seenBy('U0ALICE')).toContain('1 request waiting');
    expect(await seenBy('U0ROY')).not.toMatch(/waits? (for your|for approval)/);
    await world.click('U0ALICE', 'reject');
    expect(await seenBy('U0ALICE')).toContain('Nothing waits for your approval');
  });

  it('links an approver who is not in the channel to their own copy, never to the card', async () => {
    await world.say('web-1', anOrigin({ channelId: VAULT }));
    await world.clock.advance(2_000);
    const copy = (await world.run()).asked?.copies.find(({ userId }) => userId === 'U0ALICE');
    expect(copy).toBeDefined();
    expect(JSON.stringify(await visit('U0ALICE'))).toContain(`/archives/${copy?.channelId}/`);
    expect(JSON.stringify(await visit('U0ALICE'))).not.toContain('/archives/C0VAULT/');
  });

  it('shows people their own runs in every channel, newest first, and nobody else’s', async () => {
    await world.say('web-1');
    await world.clock.advance(1_000);
    await world.say('web-2', anOrigin({ channelId: VAULT, dedupeKey: 'two', receivedAtMs: world.clock.now() }));
    const text = await seenBy('U0ROY');
    expect(text.indexOf('/kdebug web-2')).toBeLessThan(text.indexOf('/kdebug web-1'));
    expect(text).toContain('Waiting for approval: /kdebug web-1');
    expect(text).toMatch(/Denied: \/kdebug web-2/);
    expect(await seenBy('U0DAN')).not.toContain('Your latest runs');
  });

  it('says what the channels may do that one is in, how to begin, and whom to ask', async () => {
    const text = await seenBy('U0BOB');
    expect(text).toContain('C0SHOP');
    expect(text).not.toContain('C0VAULT');
    expect(text).toMatch(/Look at pods in shop: 1 approval from sre/);
    expect(text).toContain('Type /kdebug POD in C0SHOP');
    expect(text).toContain('ask @platform');
  });

  it('tells who is in no channel of the policy whom to ask', async () => {
    expect(await seenBy('U0ZED')).toContain('None of your channels may use kdebug. Ask @platform');
  });

  it('shows what it knows when Slack does not answer, and says that something is missing', async () => {
    await world.say('web-1');
    world.directory.faults.add('areTogetherIn C0VAULT', 'slack_unreachable');
    const text = await seenBy('U0BOB');
    expect(text).toContain('Type /kdebug POD in C0SHOP');
    expect(text).toContain('1 request waiting');
    expect(text).toContain('Slack was too slow to load everything');
    world.directory.faults.add('members', 'slack_unreachable');
    expect(await seenBy('U0BOB')).not.toContain('U0ROY asks');
  });

  it('shows no channel that kdebug is not in', async () => {
    world.directory.notIn.add('C0SHOP');
    expect(await seenBy('U0BOB')).toContain('None of your channels may use kdebug');
  });

  it('counts the channels that are too large to look for a person, without their names', async () => {
    world.directory.large.add('C0VAULT').add('C0SHOP');
    const text = await seenBy('U0BOB');
    expect(text).toContain('kdebug could not see whether you are in 2 other channels of its policy. If you are, type');
    expect(text).not.toMatch(/C0VAULT|You are in no channel|Open this page again/);
  });

  it('shows who was in a group a while ago what waited, where Slack takes no questions; their vote does not count', async () => {
    await world.say('web-1');
    world.directory.lastKnown.set('S0SRE', new Set(['U0EVE']));
    expect(await seenBy('U0EVE')).toContain('1 request waiting');
    expect(JSON.stringify(await world.click('U0EVE', 'approve'))).toContain('vote_by_outsider');
    expect(world.cluster.launches).toHaveLength(0);
  });

  it('says that it took too long when the store does (home_late)', async () => {
    const deps = {
      ...world.deps(),
      store: Object.assign(Object.create(world.store), { recent: () => new Promise(() => {}) }),
    };
    const late = homeFor({ teamId: 'T0TEAM', userId: 'U0ROY', channelId: 'D0ROY' }, deps);
    await world.clock.advance(2_000);
    expect(await late).toMatchObject({ code: 'home_late' });
  });
});

it('a person who opens it again and again is shown what they saw before', async () => {
  const visitor = { teamId: 'T0TEAM', userId: 'U0ROY', channelId: 'D0ROY' };
  const pages = [];
  for (let count = 0; count < 8; count += 1) pages.push(await world.pipeline.inbox.home(visitor));
  expect(pages.filter((page) => page === undefined)).toHaveLength(2);
  expect(await world.pipeline.inbox.home({ ...visitor, userId: 'U0BOB' })).toBeDefined();
});
