import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../slack/index.ts';
import { installed } from '../../slack/manifest.ts';
import { outcome, plainClient } from './bolt-app.ts';

let slack: LocalSlack;

beforeEach(async () => {
  slack = await startLocalSlack({ rates: { off: true } });
});
afterEach(async () => {
  await slack.stop();
  expect(slack.unknown).toEqual([]);
});

const post = (channel: string, more: object = {}) =>
  outcome(plainClient(slack).chat.postMessage({ channel, text: 'hi', ...more }));

describe('invitations', () => {
  it('a member invites the bot, and it can post; taken out, it cannot', async () => {
    expect(await post('C0OTHER')).toBe('not_in_channel');
    await slack.deliver.invite({ user: 'U0ROY', channel: 'C0OTHER', invited: slack.botUserId });
    expect(await post('C0OTHER')).toBe('ok');
    slack.deliver.remove({ channel: 'C0OTHER', user: slack.botUserId });
    expect(await post('C0OTHER')).toBe('not_in_channel');
  });

  it.each([
    ['by an outsider', { user: 'U0ROY', channel: 'C0SECRET', invited: 'U0JONAS' }, /sees no channel/],
    ['of nobody', { user: 'U0BOB', channel: 'C0SECRET', invited: 'U0NOBODY' }, /nobody here/],
    ['of somebody who left', { user: 'U0BOB', channel: 'C0SECRET', invited: 'U0GONE' }, /nobody here/],
    ['of a member', { user: 'U0BOB', channel: 'C0SECRET', invited: 'U0GINGER' }, /already/],
    ['into an archived channel', { user: 'U0BOB', channel: 'C0OLD', invited: 'U0GUEST' }, /archived/],
  ])('an invitation %s is refused', (_name, order, why) => {
    expect(() => slack.deliver.invite(order)).toThrow(why);
  });
});

describe('people who are not in the channel', () => {
  it('write nothing there, type no command, press no button', async () => {
    const { ts } = slack.deliver.say({ user: 'U0BOB', channel: 'C0SECRET', text: 'psst' });
    const roy = { user: 'U0ROY', channel: 'C0SECRET' };
    expect(() => slack.deliver.say({ ...roy, text: 'hi' })).toThrow(/sees no channel/);
    await expect(slack.deliver.command({ ...roy, text: 'help' })).rejects.toThrow(/sees no channel/);
    await expect(slack.deliver.action({ ...roy, ts, actionId: 'x' })).rejects.toThrow(/sees no channel/);
    await expect(slack.deliver.shortcut({ ...roy, ts, callbackId: 'debug-pod' })).rejects.toThrow(/sees no channel/);
    await expect(slack.deliver.command({ user: 'U0GUEST', channel: 'C0OTHER', text: 'help' })).rejects.toThrow(/Join/);
  });
});

describe('a channel that is shared with another company', () => {
  it.each(['is_ext_shared', 'is_pending_ext_shared'] as const)(
    'shows it posts and edits, and no private answer: %s',
    async (flag) => {
      const client = plainClient(slack);
      const { ts = '' } = await client.chat.postMessage({ channel: 'C0SHOP', text: 'before' });
      expect(slack.seenOutside).toEqual([]);
      slack.team.channels.C0SHOP![flag] = true;
      await client.chat.postEphemeral({ channel: 'C0SHOP', user: 'U0ROY', text: 'psst' });
      slack.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: 'a person’s' });
      await client.chat.postMessage({ channel: 'C0OPS', text: 'elsewhere' });
      expect(slack.seenOutside).toEqual([]);
      await client.chat.update({ channel: 'C0SHOP', ts, text: 'an edit' });
      await client.chat.postMessage({ channel: 'C0SHOP', text: 'a reply', thread_ts: ts });
      await client.chat.update({ channel: 'C0SHOP', ts, text: 'gone' });
      expect(slack.seenOutside.map(({ text }) => text)).toEqual(['an edit', 'a reply', 'gone']);
      expect((await client.conversations.info({ channel: 'C0SHOP' })).channel).toMatchObject({ [flag]: true });
    },
  );
});

describe('places that take no posts', () => {
  it('a channel where nobody may post, a channel without threads, a locked thread', async () => {
    const { ts, ...root } = slack.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: 'root' });
    const shop = slack.team.channels.C0SHOP;
    if (shop === undefined) throw new Error('no channel');
    shop.posting = 'nobody';
    expect(await post('C0SHOP')).toBe('restricted_action');
    shop.posting = 'no-threads';
    expect(await post('C0SHOP')).toBe('ok');
    expect(await post('C0SHOP', { thread_ts: ts })).toBe('restricted_action_non_threadable_channel');
    shop.posting = 'everyone';
    const stored = slack.message(root.channel, ts);
    if (stored !== undefined) stored.locked = true;
    expect(await post('C0SHOP', { thread_ts: ts })).toBe('restricted_action_thread_locked');
    expect(await post('C0SHOP')).toBe('ok');
  });

  it('direct messages, when the Messages tab is off', async () => {
    slack.team.messagesTabDisabled = true;
    expect(await post('U0ROY')).toBe('messages_tab_disabled');
    expect(await post('C0SHOP')).toBe('ok');
  });

  it('people who left, and bots, have no direct message', async () => {
    const open = (users: string) => outcome(plainClient(slack).conversations.open({ users }));
    expect(await Promise.all(['U0GONE', 'U0ROBOT', 'U0NOBODY', 'U0ROY'].map(open))).toEqual([
      'user_disabled',
      'cannot_dm_bot',
      'user_not_found',
      'ok',
    ]);
  });

  it('several people together take a scope of their own, and its history too', async () => {
    const users = 'U0ROY,U0BOB';
    expect(await outcome(plainClient(slack).conversations.open({ users }))).toBe('missing_scope');
    const wide = await startLocalSlack({ scopes: [...installed().scopes, 'mpim:write'] });
    const { channel } = await plainClient(wide).conversations.open({ users });
    const again = await plainClient(wide).conversations.open({ users: 'U0BOB,U0ROY' });
    expect(again.channel?.id).toBe(channel?.id);
    await plainClient(wide).chat.postMessage({ channel: channel?.id ?? '', text: 'hi' });
    expect(wide.notified('U0BOB')).toMatchObject([{ why: 'direct' }]);
    expect(await outcome(plainClient(wide).conversations.history({ channel: channel?.id ?? '' }))).toBe(
      'missing_scope',
    );
    await wide.stop();
  });
});

it('members of a channel come in pages of a hundred, and of fewer than were asked for', async () => {
  slack.team.channels.C0SHOP!.members = Array.from({ length: 150 }, (_, index) => `U0MANY${index}`);
  const members = (more: object) => plainClient(slack).conversations.members({ channel: 'C0SHOP', ...more });
  const first = await members({});
  expect(first.members).toHaveLength(100);
  const rest = await members({ cursor: first.response_metadata?.next_cursor });
  expect(rest.members?.at(-1)).toBe('U0MANY149');
  expect(rest.response_metadata?.next_cursor).toBe('');
  slack.team.channels.C0SHOP!.members.push(...Array.from({ length: 800 }, (_, index) => `U0MORE${index}`));
  expect((await members({ limit: 999 })).members).toHaveLength(400);
  for (const limit of [0, 1_000]) expect(await outcome(members({ limit }))).toBe('invalid_limit');
});

it('a free workspace has no user groups', async () => {
  slack.team.plan = 'free';
  expect(await outcome(plainClient(slack).usergroups.users.list({ usergroup: 'S0SRE' }))).toBe('plan_upgrade_required');
});
