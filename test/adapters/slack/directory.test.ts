import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../../play/slack/index.ts';
import { createClient } from '../../../src/adapters/slack/client.ts';
import { createDirectory } from '../../../src/adapters/slack/directory.ts';
import type { Identity } from '../../../src/adapters/slack/identity.ts';
import type { Directory } from '../../../src/flow/ports/directory.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { RecordingLog, realClock } from './harness.ts';

const US = { teamId: 'T0LOCAL', botUserId: 'U0KDEBUG', botId: 'B0KDEBUG', appId: 'A0KDEBUG' };

let us: Identity = US;
let local: LocalSlack;
let clock: FakeClock;
let directory: Directory;
const directoryOn = (ticking: FakeClock | typeof realClock): Directory =>
  createDirectory({
    client: createClient(local.botToken, local.apiUrl, new RecordingLog()),
    clock: ticking,
    identity: () => us,
  });
beforeEach(async () => {
  us = US;
  local = await startLocalSlack();
  clock = new FakeClock();
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
  it('are those of this moment, never older than 5 s, asked for once by all', async () => {
    const first = await Promise.all(Array.from({ length: 100 }, () => directory.members('S0SRE')));
    expect([...first[0]!]).toEqual(['U0BOB', 'U0ALICE']);
    expect(asked('usergroups.users.list')).toBe(1);
    local.team.usergroups.S0SRE!.users = ['U0ALICE'];
    await clock.advance(5_000);
    expect([...(await directory.members('S0SRE'))]).toEqual(['U0ALICE']);
  });

  it('are asked for as our workspace has the group, where it may be the organisation’s', async () => {
    await directory.members('S0SRE');
    us = { ...US, enterpriseId: 'E0ORG' };
    await clock.advance(5_000);
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

describe('a failure', () => {
  it.each([
    ['http_503', 'slack_unreachable'],
    ['ratelimited', 'slack_unreachable'],
    ['reset_after_commit', 'slack_unreachable'],
    ['truncated_json', 'slack_unreachable'],
    ['token_revoked', 'slack_token_rejected'],
    ['missing_scope', 'slack_refused'],
  ])('%s is %s, is not kept, and lets nobody in', async (kind, code) => {
    for (const method of ['users.info', 'usergroups.users.list']) local.faults.queue({ method, kind });
    await expect(directory.person('U0ROY')).rejects.toMatchObject({ code });
    await expect(directory.members('S0SRE')).rejects.toMatchObject({ code });
    expect((await directory.person('U0ROY')).kind).toBe('member');
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
    expect(await directory.channel('C0OTHER')).toEqual({ isShared: false, isMember: false, isPrivate: false });
    local.team.channels.C0OTHER!.members.push(local.botUserId);
    await clock.advance(2_001);
    expect(await directory.channel('C0OTHER')).toMatchObject({ isMember: true });
  });

  it('has members, as they are within 5 s', async () => {
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

describe('the channels of a person', () => {
  it('are those that the bot is in, too: Slack tells of no others, public or not', async () => {
    expect([...(await directory.channelsOf('U0BOB')).keys()]).toEqual(['C0SHOP', 'C0OPS', 'C0SECRET']);
    local.team.channels.C0OTHER!.members.push(local.botUserId);
    await clock.advance(5_000);
    expect([...(await directory.channelsOf('U0BOB')).keys()]).toContain('C0OTHER');
  });

  it('are found behind pages that Slack left empty because it filters afterwards', async () => {
    const { C0OLD, ...others } = local.team.channels;
    const old = Array.from({ length: 4_000 }, (_, index) => ({
      ...C0OLD!,
      id: `C0OLD${index}`,
      members: ['U0ROY', local.botUserId],
    }));
    local.team.channels = Object.fromEntries([...old, ...Object.values(others)].map((one) => [one.id, one]));
    expect([...(await directory.channelsOf('U0ROY')).keys()]).toEqual(['C0SHOP', 'C0OPS']);
    expect(asked('users.conversations')).toBe(5);
  });
});
