import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../../play/slack/index.ts';
import { createClient } from '../../../src/adapters/slack/client.ts';
import { createDirectory, type SlackDirectory } from '../../../src/adapters/slack/directory.ts';
import type { Identity } from '../../../src/adapters/slack/identity.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { RecordingLog, realClock } from './harness.ts';

const US = { teamId: 'T0LOCAL', botUserId: 'U0KDEBUG', botId: 'B0KDEBUG', appId: 'A0KDEBUG' };

let us: Identity = US;
let local: LocalSlack;
let clock: FakeClock;
let directory: SlackDirectory;
const directoryOn = (ticking: FakeClock | typeof realClock): SlackDirectory =>
  createDirectory({
    client: createClient(local.botToken, local.apiUrl, new RecordingLog()),
    clock: ticking,
    identity: () => us,
  });
beforeEach(async () => {
  us = US;
  clock = new FakeClock();
  // Its rates count by the same clock.
  local = await startLocalSlack({ now: () => clock.now() });
  directory = directoryOn(clock);
});
afterEach(async () => {
  await local.stop();
  expect(local.unknown).toEqual([]);
});

const asked = (method: string): number => local.requests(method).length;

describe('a person', () => {
  it.each([
    ['U0ROY', 'member', {}],
    ['U0GUEST', 'guest', {}],
    ['U0SINGLE', 'guest', {}],
    ['U0GONE', 'deactivated', {}],
    ['U0STRANGER', 'outsider', {}],
    ['U0ROBOT', 'bot', {}],
    ['U0ROY', 'outsider', { is_stranger: true }],
    ['U0ROY', 'outsider', { team_id: 'T0OTHER', is_restricted: true }],
    ['U0ROY', 'deactivated', { deleted: true, is_bot: true }],
    ['U0ROY', 'outsider', { team_id: 'E0ORG' }],
    ['U0ROY', 'outsider', { team_id: 'E0ORG', enterprise_user: { teams: ['T0OTHER'] } }],
    ['U0ROY', 'member', { team_id: 'E0ORG', enterprise_user: { teams: ['T0OTHER', 'T0LOCAL'] } }],
    ['U0ROY', 'bot', { is_bot: undefined }],
    ['U0ROY', 'guest', { is_restricted: undefined }],
    ['U0ROY', 'guest', { is_ultra_restricted: undefined }],
    ['U0ROY', 'outsider', { team_id: undefined }],
  ])('%s is %s when Slack says %j', async (userId, kind, said) => {
    Object.assign(local.team.users[userId]!, said);
    expect(await directory.person(userId)).toMatchObject({ userId, kind });
  });

  it.each([
    ['a member of another workspace of our organisation', 'sibling', { enterprise_id: 'E0ORG', teams: ['T0OTHER'] }],
    ['a member of ours, too', 'member', { enterprise_id: 'E0ORG', teams: ['T0OTHER', 'T0LOCAL'] }],
    ['a member of another organisation', 'outsider', { enterprise_id: 'E0OTHER', teams: ['T0OTHER'] }],
  ])('%s is %s in a workspace of an organisation', async (_who, kind, enterprise_user) => {
    us = { ...US, enterpriseId: 'E0ORG' };
    Object.assign(local.team.users.U0ROY!, { team_id: 'E0ORG', enterprise_user: { id: 'U0ROY', ...enterprise_user } });
    expect((await directory.person('U0ROY')).kind).toBe(kind);
  });

  it('has a name without tricks', async () => {
    Object.assign(local.team.users.U0ROY!, { name: `r\u202Eoy ${'x'.repeat(200)}` });
    const { name } = await directory.person('U0ROY');
    expect(name).toMatch(/^roy x+/);
    expect(name.length).toBeLessThanOrEqual(80);
  });

  it('has a name that is known from the first look on, without another', async () => {
    expect(directory.knownName('U0ROY')).toBeUndefined();
    const { name } = await directory.person('U0ROY');
    await clock.advance(3_600_000);
    expect(directory.knownName('U0ROY')).toBe(name);
    expect(asked('users.info')).toBe(1);
  });

  it('is asked for once a minute, and once by all who ask at the same time', async () => {
    await Promise.all(Array.from({ length: 50 }, () => directory.person('U0ROY')));
    local.team.users.U0ROY!.deleted = true;
    await clock.advance(59_999);
    expect((await directory.person('U0ROY')).kind).toBe('member');
    expect(asked('users.info')).toBe(1);
    await clock.advance(1);
    expect((await directory.person('U0ROY')).kind).toBe('deactivated');
    expect(asked('users.info')).toBe(2);
  });

  it.each(['U0NOBODY', 'roy', '', '__proto__', 'U0ROY&user=U0BOB'])('%j is person_unknown', async (userId) => {
    await expect(directory.person(userId)).rejects.toMatchObject({ code: 'person_unknown' });
  });

  it('is nobody when Slack answers about somebody else', async () => {
    local.team.users.U0MIXED = local.team.users.U0ROY!;
    await expect(directory.person('U0MIXED')).rejects.toMatchObject({ code: 'person_unknown' });
  });
});

describe('the members of a user group', () => {
  it('are those of the last minute, asked for once by all', async () => {
    const first = await Promise.all(Array.from({ length: 100 }, () => directory.members('S0SRE')));
    expect([...first[0]!]).toEqual(['U0BOB', 'U0ALICE']);
    local.team.usergroups.S0SRE!.users = ['U0ALICE'];
    await clock.advance(59_999);
    expect((await directory.members('S0SRE', 'shown')).size).toBe(2);
    expect(asked('usergroups.users.list')).toBe(1);
    await clock.advance(1);
    expect([...(await directory.members('S0SRE'))]).toEqual(['U0ALICE']);
  });

  it('are those of this moment where a vote decides', async () => {
    await directory.members('S0SRE');
    local.team.usergroups.S0SRE!.users = ['U0ALICE'];
    await clock.advance(1);
    expect([...(await directory.members('S0SRE', clock.elapsed()))]).toEqual(['U0ALICE']);
  });

  it('are asked for again once Slack says that they changed', async () => {
    await directory.members('S0SRE', 'shown');
    local.team.usergroups.S0SRE!.users = ['U0CAROL'];
    directory.groupChanged('S0SRE');
    expect([...(await directory.members('S0SRE', 'shown'))]).toEqual(['U0CAROL']);
  });

  it('are asked for as our workspace has the group, where it may be the organisation’s', async () => {
    await directory.members('S0SRE');
    us = { ...US, enterpriseId: 'E0ORG' };
    await clock.advance(60_000);
    await directory.members('S0SRE');
    const teams = local.requests('usergroups.users.list').map(({ args }) => args.team_id);
    expect(teams).toEqual([undefined, 'T0LOCAL']);
  });

  it('are none of a group that was disabled', async () => {
    local.team.usergroups.S0SRE!.disabled = true;
    expect((await directory.members('S0SRE')).size).toBe(0);
  });

  it.each(['S0NONE', 'sre', ''])('of %j are usergroup_unknown', async (id) => {
    await expect(directory.members(id)).rejects.toMatchObject({ code: 'usergroup_unknown' });
  });
});

describe('the 20 questions a minute about user groups', () => {
  /** As many groups as a large policy names. */
  const many = Array.from({ length: 21 }, (_, index) => `S0MANY${index}`);
  beforeEach(() => {
    for (const id of many) local.team.usergroups[id] = { ...local.team.usergroups.S0SRE!, id };
  });
  const showAll = async (howFresh?: 'shown') => {
    const answers = await Promise.allSettled(many.map((id) => directory.members(id, howFresh)));
    return answers.filter(({ status }) => status === 'fulfilled').length;
  };
  const limited = () => local.requests('usergroups.users.list').filter(({ error }) => error === 'ratelimited').length;

  it('are never exceeded, and what is only shown leaves eight of them for votes', async () => {
    expect(await showAll('shown')).toBe(12);
    for (let vote = 0; vote < 8; vote += 1) {
      await clock.advance(1);
      expect((await directory.members('S0SRE', clock.elapsed())).size).toBe(2);
    }
    await clock.advance(1);
    await expect(directory.members('S0SRE', clock.elapsed())).rejects.toMatchObject({ code: 'slack_busy' });
    expect(limited()).toBe(0);
    await clock.advance(60_000);
    expect((await directory.members('S0SRE', clock.elapsed())).size).toBe(2);
  });

  it('show what is known already where none is left, for ten minutes, and never decide by it', async () => {
    await directory.members('S0SRE', 'shown');
    local.team.usergroups.S0SRE!.users = ['U0ALICE'];
    await clock.advance(60_000);
    expect(await showAll()).toBe(20);
    expect((await directory.members('S0SRE', 'shown')).has('U0BOB')).toBe(true);
    await expect(directory.members('S0SRE')).rejects.toMatchObject({ code: 'slack_busy' });
    await expect(directory.members('S0SRE', clock.elapsed())).rejects.toMatchObject({ code: 'slack_busy' });
    await clock.advance(540_000);
    expect(await showAll()).toBe(20);
    await expect(directory.members('S0SRE', 'shown')).rejects.toMatchObject({ code: 'slack_busy' });
  });

  it('are not used up by questions about a group that does not exist, which anybody can cause by a click', async () => {
    for (let click = 0; click < 20; click += 1) {
      await clock.advance(1_000);
      await expect(directory.members('S0NONE')).rejects.toMatchObject({ code: 'usergroup_unknown' });
    }
    expect((await directory.members('S0SRE', clock.elapsed())).size).toBe(2);
    expect(asked('usergroups.users.list')).toBe(2);
  });

  it('find a group that exists again within a minute, and at once where a vote decides', async () => {
    const { S0SRE } = local.team.usergroups;
    delete local.team.usergroups.S0SRE;
    await expect(directory.members('S0SRE')).rejects.toMatchObject({ code: 'usergroup_unknown' });
    local.team.usergroups.S0SRE = S0SRE!;
    await clock.advance(1);
    expect((await directory.members('S0SRE', clock.elapsed())).size).toBe(2);
    expect((await directory.members('S0SRE')).size).toBe(2);
  });

  it('wait as long as Slack demands after a 429, which another replica may have caused', async () => {
    await directory.members('S0SRE', 'shown');
    await clock.advance(60_000);
    local.faults.queue({ method: 'usergroups.users.list', kind: 'ratelimited', retryAfterSeconds: 30 });
    expect((await directory.members('S0SRE', 'shown')).size).toBe(2);
    await expect(directory.members('S0SRE', clock.elapsed())).rejects.toMatchObject({ code: 'slack_busy' });
    expect(asked('usergroups.users.list')).toBe(2);
    await clock.advance(30_000);
    expect((await directory.members('S0SRE', clock.elapsed())).size).toBe(2);
  });
});

describe('a failure', () => {
  it.each([
    ['http_503', 'slack_unreachable'],
    ['reset_after_commit', 'slack_unreachable'],
    ['truncated_json', 'slack_unreachable'],
    ['token_revoked', 'slack_token_rejected'],
    ['missing_scope', 'slack_refused'],
  ])('%s is %s, is not kept, and lets nobody in', async (kind, code) => {
    for (const method of ['users.info', 'usergroups.users.list']) local.faults.queue({ method, kind });
    await expect(directory.person('U0ROY')).rejects.toMatchObject({ code });
    await expect(directory.members('S0SRE')).rejects.toMatchObject({ code });
    expect((await directory.person('U0ROY')).kind).toBe('member');
    await clock.advance(30_000);
    expect((await directory.members('S0SRE')).size).toBe(2);
  });

  it('to answer is slack_unreachable after 1.5 s, and the next one asks anew', async () => {
    const begunMs = clock.now();
    local.faults.queue({ method: 'users.info', kind: 'hang' });
    const waiting = directory.person('U0ROY');
    const failed = expect(waiting).rejects.toMatchObject({ code: 'slack_unreachable' });
    await clock.advance(1_500);
    await failed;
    expect(clock.now() - begunMs).toBe(1_500);
    expect((await directory.person('U0ROY')).kind).toBe('member');
  });

  it('before the start nobody is anybody', async () => {
    const client = createClient(local.botToken, local.apiUrl, new RecordingLog());
    const unstarted = createDirectory({ client, clock: realClock, identity: () => undefined });
    await expect(unstarted.person('U0ROY')).rejects.toMatchObject({ code: 'slack_unreachable' });
    expect(asked('users.info')).toBe(0);
  });
});

describe('a channel', () => {
  const change = (said: object) => Object.assign(local.team.channels.C0SHOP!, said);

  it.each([
    [false, {}],
    [true, { is_ext_shared: true }],
    [true, { is_pending_ext_shared: true }],
    [true, { is_ext_shared: true, is_archived: true }],
  ])('is shared with another company: %s, when Slack says %j', async (shared, said) => {
    change(said);
    expect(await directory.channel('C0SHOP')).toMatchObject({ isShared: shared });
  });

  it('that is archived takes no posts, although the bot is in it', async () => {
    change({ is_archived: true });
    expect(await directory.channel('C0SHOP')).toMatchObject({ isMember: false });
  });

  it('is asked about once a minute, so that a new invitation counts within 60 s', async () => {
    await directory.channel('C0SHOP');
    change({ is_ext_shared: true });
    await clock.advance(59_000);
    expect(await directory.channel('C0SHOP')).toMatchObject({ isShared: false });
    expect(asked('conversations.info')).toBe(1);
    await clock.advance(1_000);
    expect(await directory.channel('C0SHOP')).toMatchObject({ isShared: true });
  });

  it('that is private and ours is seen with groups:read', async () => {
    expect(await directory.channel('C0SECRET')).toMatchObject({ isShared: false });
    await local.stop();
    local = await startLocalSlack({ scopes: ['channels:read', 'users:read'] });
    directory = directoryOn(clock);
    expect(await directory.channel('C0SHOP')).toMatchObject({ isShared: false });
    await expect(directory.channel('C0SECRET')).rejects.toMatchObject({
      code: 'slack_refused',
      detail: 'missing_scope',
    });
  });

  it('that the bot may not see is an error, never a no', async () => {
    await expect(directory.channel('C0DARK')).rejects.toMatchObject({ code: 'slack_channel_closed' });
    await expect(directory.channel('C0NOWHERE')).rejects.toMatchObject({ code: 'slack_channel_closed' });
  });

  it('of which Slack does not say whether it is shared is an error, and so is silence', async () => {
    change({ is_ext_shared: undefined });
    await expect(directory.channel('C0SHOP')).rejects.toMatchObject({ code: 'slack_refused' });
    local.faults.queue({ method: 'conversations.info', kind: 'http_503' });
    await expect(directory.channel('C0OPS')).rejects.toMatchObject({ code: 'slack_unreachable' });
  });

  it('that is a direct message with the bot is nobody else’s, and not asked about', async () => {
    expect(await directory.channel('D0ROY')).toMatchObject({ isShared: false });
    expect(asked('conversations.info')).toBe(0);
  });

  it('that has just invited the bot is asked about again', async () => {
    expect(await directory.channel('C0OTHER')).toEqual({
      name: 'other',
      isShared: false,
      isMember: false,
      isPrivate: false,
    });
    local.team.channels.C0OTHER!.members.push(local.botUserId);
    await clock.advance(2_001);
    expect(await directory.channel('C0OTHER')).toMatchObject({ isMember: true });
  });

  it('has members, none that the bot may not see', async () => {
    expect(await directory.channelMembers('C0SECRET')).toEqual(new Set(['U0GINGER', 'U0BOB', local.botUserId]));
    await expect(directory.channelMembers('C0DARK')).rejects.toMatchObject({ code: 'slack_channel_closed' });
  });

  it('has more members than a page of Slack holds; how many are too many to be asked for is said', async () => {
    const many = Array.from({ length: 2_000 }, (_, index) => `U0MANY${index}`);
    local.team.channels.C0SHOP!.members = [...many];
    expect(await directory.channelMembers('C0SHOP')).toEqual(new Set(many));
    expect(local.requests('conversations.members').map(({ args }) => Number(args.limit))).toEqual(
      Array.from({ length: 5 }, () => 999),
    );
    local.team.channels.C0OPS!.members = [...many, 'U0ONE'];
    await expect(directory.channelMembers('C0OPS')).rejects.toMatchObject({ facts: { error: 'too_many_members' } });
  });
});

describe('whether a person and the bot are in a channel', () => {
  it('is known of the policy’s channels alone, however many others the person is in', async () => {
    const { C0OTHER } = local.team.channels;
    for (let index = 0; index < 3_000; index += 1)
      local.team.channels[`C0MANY${index}`] = { ...C0OTHER!, id: `C0MANY${index}`, members: ['U0BOB'] };
    const ids = ['C0SHOP', 'C0OPS', 'C0OTHER', 'C0DARK', 'C0SECRET'];
    const known = await Promise.all(ids.map((id) => directory.areTogetherIn(id, 'U0BOB', 'shown')));
    // The bot is not in C0OTHER, which is public, nor in C0DARK, which is private.
    expect(known).toEqual([true, true, false, false, true]);
    expect(asked('conversations.members')).toBe(ids.length);
    expect(await directory.areTogetherIn('C0SECRET', 'U0ROY', 'shown')).toBe(false);
  });

  it('is no before the bot knows itself', async () => {
    const client = createClient(local.botToken, local.apiUrl, new RecordingLog());
    const unstarted = createDirectory({ client, clock, identity: () => undefined });
    expect(await unstarted.areTogetherIn('C0SHOP', 'U0BOB')).toBe(false);
  });

  it('is known of 10,000 people, and of more it is not said that they are out', async () => {
    const many = Array.from({ length: 9_999 }, (_, index) => `U0MANY${index}`);
    local.team.channels.C0SHOP!.members = [...many, local.botUserId];
    expect(await directory.areTogetherIn('C0SHOP', 'U0MANY9998', 'shown')).toBe(true);
    expect(asked('conversations.members')).toBe(25);
    local.team.channels.C0OPS!.members = [...many, 'U0ONE', local.botUserId];
    const unknown = { code: 'slack_refused', facts: { error: 'too_many_members' } };
    await expect(directory.areTogetherIn('C0OPS', 'U0ONE', 'shown')).rejects.toMatchObject(unknown);
    const before = asked('conversations.members');
    await expect(directory.areTogetherIn('C0OPS', 'U0ONE', 'shown')).rejects.toMatchObject(unknown);
    expect(asked('conversations.members')).toBe(before);
  });

  it('that took too long is known to who asks again: the pages were read on', async () => {
    local.faults.queue({ method: 'conversations.members', kind: 'slow', ms: 50 });
    const late = directory.areTogetherIn('C0SHOP', 'U0BOB', 'shown');
    const failed = expect(late).rejects.toMatchObject({ code: 'slack_unreachable' });
    await clock.advance(1_500);
    await failed;
    expect(await directory.areTogetherIn('C0SHOP', 'U0BOB', 'shown')).toBe(true);
    expect(asked('conversations.members')).toBe(1);
  });

  it('never takes the calls that decisions need: showing has 60 of the 100 a minute', async () => {
    const { C0SHOP } = local.team.channels;
    const ids = Array.from({ length: 70 }, (_, index) => `C0MANY${index}`);
    for (const id of ids) local.team.channels[id] = { ...C0SHOP!, id };
    const known = await Promise.allSettled(ids.map((id) => directory.areTogetherIn(id, 'U0BOB', 'shown')));
    expect(known.filter(({ status }) => status === 'fulfilled')).toHaveLength(60);
    expect((await directory.channelMembers('C0SHOP', clock.elapsed())).has('U0BOB')).toBe(true);
    // The next minute asks for those first that are not known yet.
    await clock.advance(60_000);
    const again = await Promise.allSettled(ids.map((id) => directory.areTogetherIn(id, 'U0BOB', 'shown')));
    expect(again.filter(({ status }) => status === 'rejected')).toEqual([]);
  });

  it('never takes them for the choice of a channel in a form either', async () => {
    const { C0SHOP } = local.team.channels;
    const ids = Array.from({ length: 100 }, (_, index) => `C0MANY${index}`);
    for (const id of ids) local.team.channels[id] = { ...C0SHOP!, id };
    await Promise.allSettled(ids.map((id) => directory.areTogetherIn(id, 'U0BOB')));
    expect((await directory.channelMembers('C0SHOP', clock.elapsed())).has('U0BOB')).toBe(true);
  });
});
