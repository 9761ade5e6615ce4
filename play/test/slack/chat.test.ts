import { afterEach, beforeEach, expect, it } from 'vitest';
import { ALL_SCOPES, type LocalSlack, startLocalSlack } from '../../slack/index.ts';
import { outcome, plainClient } from './bolt-app.ts';

let slack: LocalSlack;
const client = () => plainClient(slack);
const META = { event_type: 'kdebug_run', event_payload: { run: 'r1', kind: 'anchor', seq: 1 } };

beforeEach(async () => {
  slack = await startLocalSlack({ rates: { off: true }, scopes: ALL_SCOPES });
});
afterEach(async () => {
  await slack.stop();
  expect(slack.unknown).toEqual([]);
});

const post = (more: object = {}) => client().chat.postMessage({ channel: 'C0SHOP', text: 'hi', ...more });

it('auth.test and bots.info say who the app is', async () => {
  expect(await client().auth.test()).toMatchObject({
    team_id: slack.teamId,
    user_id: slack.botUserId,
    bot_id: slack.botId,
  });
  expect(await client().bots.info({ bot: slack.botId })).toMatchObject({
    bot: { app_id: slack.appId, user_id: slack.botUserId },
  });
});

it('timestamps are unique and strictly increasing, also within one millisecond', async () => {
  const posted = await Promise.all(Array.from({ length: 20 }, () => post()));
  const all = posted.map((one) => String(one.ts));
  expect(new Set(all).size).toBe(20);
  expect([...all].sort()).toEqual(slack.messages('C0SHOP').map((one) => one.ts));
});

it.each([
  ['an unknown channel', { channel: 'C0NOWHERE' }, 'channel_not_found'],
  ['a name of the prototype', { channel: 'constructor' }, 'channel_not_found'],
  ['a private channel without the bot', { channel: 'C0DARK' }, 'channel_not_found'],
  ['a public channel without the bot', { channel: 'C0OTHER' }, 'not_in_channel'],
  ['an archived channel', { channel: 'C0OLD' }, 'is_archived'],
  ['nothing to say', { text: '' }, 'no_text'],
  ['40,001 characters', { text: 'x'.repeat(40_001) }, 'msg_too_long'],
  ['a thread_ts that is none', { thread_ts: 'yesterday' }, 'invalid_thread_ts'],
  ['metadata without a payload', { metadata: { event_type: 'x' } }, 'invalid_metadata_format'],
  [
    'metadata with depth',
    { metadata: { event_type: 'x', event_payload: { a: { b: { c: 1 } } } } },
    'invalid_metadata_format',
  ],
  ['metadata with null', { metadata: { event_type: 'x', event_payload: { a: null } } }, 'invalid_metadata_format'],
  [
    'markdown_text beside blocks',
    { text: '', markdown_text: 'x', blocks: [{ type: 'divider' }] },
    'markdown_text_conflict',
  ],
  ['markdown_text beside text', { markdown_text: 'x' }, 'markdown_text_conflict'],
  ['12,001 characters of markdown_text', { text: '', markdown_text: 'x'.repeat(12_001) }, 'msg_too_long'],
  ['12,000 characters of markdown_text', { text: '', markdown_text: 'x'.repeat(12_000) }, 'ok'],
  ['as_user', { as_user: true }, 'as_user_not_supported'],
  ['exactly 40,000 characters', { text: 'x'.repeat(40_000) }, 'ok'],
])('chat.postMessage to %s', async (_name, args, expected) => {
  expect(await outcome(post(args as object))).toBe(expected);
  expect(slack.messages('C0SHOP')).toHaveLength(expected === 'ok' ? 1 : 0);
});

it('a private channel with the bot, and a person by id (their direct message), can be spoken to', async () => {
  expect(await outcome(post({ channel: 'C0SECRET' }))).toBe('ok');
  const { channel } = await post({ channel: 'U0ROY' });
  expect(channel).toBe('D00ROY');
  const opened = await client().conversations.open({ users: 'U0ROY' });
  expect(opened.channel?.id).toBe(channel);
});

it('with chat:write.public the bot may post where it is no member', async () => {
  const wide = await startLocalSlack({ scopes: ['chat:write', 'chat:write.public'] });
  expect(await outcome(plainClient(wide).chat.postMessage({ channel: 'C0OTHER', text: 'hi' }))).toBe('ok');
  expect(await outcome(plainClient(wide).chat.postMessage({ channel: 'C0DARK', text: 'hi' }))).toBe(
    'channel_not_found',
  );
  await wide.stop();
});

it('an update keeps metadata that it does not name, replaces it when it does, and removes it with {}', async () => {
  const { ts = '' } = await post({ metadata: META });
  const stored = () => slack.message('C0SHOP', ts);
  await client().chat.update({ channel: 'C0SHOP', ts, text: 'two' });
  expect(stored()).toMatchObject({ text: 'two', metadata: META, revisions: 1, edited: {} });
  const next = { ...META, event_payload: { run: 'r1', seq: 2 } };
  await client().chat.update({ channel: 'C0SHOP', ts, text: 'three', metadata: next });
  expect(stored()?.metadata).toEqual(next);
  await client().apiCall('chat.update', { channel: 'C0SHOP', ts, text: 'four', metadata: {} });
  expect(stored()?.metadata).toBeUndefined();
});

it('an update with text alone takes the blocks away, one with blocks alone keeps the text and shows no "edited"', async () => {
  const blocks = [{ type: 'divider' as const }];
  const { ts = '' } = await post({ blocks });
  await client().apiCall('chat.update', {
    channel: 'C0SHOP',
    ts,
    blocks: [{ type: 'header', text: { type: 'plain_text', text: 'H' } }],
  });
  expect(slack.message('C0SHOP', ts)).toMatchObject({ text: 'hi', blocks: [{ type: 'header' }] });
  expect(slack.message('C0SHOP', ts)?.edited).toBeUndefined();
  await client().chat.update({ channel: 'C0SHOP', ts, text: 'plain' });
  expect(slack.message('C0SHOP', ts)?.blocks).toEqual([]);
});

it.each([
  ['chat.update', 'cant_update_message'],
  ['chat.delete', 'cant_delete_message'],
])('%s touches own messages only', async (method, expected) => {
  const { ts } = slack.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: 'mine' });
  expect(await outcome(client().apiCall(method, { channel: 'C0SHOP', ts, text: 'x' }))).toBe(expected);
  expect(await outcome(client().apiCall(method, { channel: 'C0SHOP', ts: '1600000000.000001', text: 'x' }))).toBe(
    'message_not_found',
  );
});

it.each([
  ['as another user', { as_user: true }, 'as_user_not_supported'],
  ['that broadcasts the reply, too', { reply_broadcast: true }, 'no_dual_broadcast_content_update'],
])('an update %s is refused', async (_, more, expected) => {
  const { ts = '' } = await post();
  expect(await outcome(client().apiCall('chat.update', { channel: 'C0SHOP', ts, text: 'two', ...more }))).toBe(
    expected,
  );
  expect(slack.message('C0SHOP', ts)?.text).toBe('hi');
});

it('an update takes 4,000 characters of text and no more', async () => {
  const { ts = '' } = await post();
  expect(await outcome(client().chat.update({ channel: 'C0SHOP', ts, text: 'x'.repeat(4_000) }))).toBe('ok');
  expect(await outcome(client().chat.update({ channel: 'C0SHOP', ts, text: 'x'.repeat(4_001) }))).toBe('msg_too_long');
});

it('a deleted message is gone, a deleted root with replies stays as a tombstone', async () => {
  const alone = await post();
  const root = await post();
  await post({ thread_ts: root.ts });
  await client().chat.delete({ channel: 'C0SHOP', ts: alone.ts ?? '' });
  await client().chat.delete({ channel: 'C0SHOP', ts: root.ts ?? '' });
  expect(slack.messages('C0SHOP')).toMatchObject([{ ts: root.ts, tombstone: true, text: 'This message was deleted.' }]);
  expect(await outcome(client().chat.update({ channel: 'C0SHOP', ts: root.ts ?? '', text: 'x' }))).toBe(
    'message_not_found',
  );
});

it('an ephemeral message is for members only and is in no history', async () => {
  const tell = (user: string, channel = 'C0SHOP') => client().chat.postEphemeral({ channel, user, text: 'psst' });
  expect(await outcome(tell('U0NOBODY'))).toBe('user_not_in_channel');
  expect(await outcome(tell('U0ROY', 'C0SECRET'))).toBe('user_not_in_channel');
  expect(await outcome(tell('U0ROY', 'C0OTHER'))).toBe('not_in_channel');
  expect(slack.team.channels.C0SHOP?.members).toContain('U0GONE');
  expect(await outcome(tell('U0GONE'))).toBe('user_not_in_channel');
  expect(await outcome(tell('U0ROY'))).toBe('ok');
  expect(slack.ephemerals('U0ROY').map((one) => one.text)).toEqual(['psst']);
  expect((await client().conversations.history({ channel: 'C0SHOP' })).messages).toEqual([]);
});

it('an ephemeral message in a thread is shown only once the thread has a reply; the answer does not tell', async () => {
  const { ts = '' } = await post();
  const tell = (text: string) => client().chat.postEphemeral({ channel: 'C0SHOP', user: 'U0ROY', text, thread_ts: ts });
  expect((await tell('too early')).message_ts).toBeDefined();
  await post({ thread_ts: ts });
  await tell('now');
  expect(slack.ephemerals('U0ROY').map((one) => one.text)).toEqual(['now']);
});

it('gives text back with entities and names of emoji, and rich text as it was sent', async () => {
  const words = { type: 'plain_text', text: '✅ a < b' };
  const rich = {
    type: 'rich_text',
    elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: '⏳ <' }] }],
  };
  const { ts } = await post({
    text: '⚠️ a < b & c &amp; <@U0ROY> <https://x.y|z>',
    blocks: [{ type: 'header', text: words }, rich, { type: 'context', elements: [{ ...words, emoji: false }] }],
  });
  const { messages } = await client().conversations.history({ channel: 'C0SHOP' });
  expect(messages?.[0]).toMatchObject({
    text: ':warning: a &lt; b &amp; c &amp; <@U0ROY> <https://x.y|z>',
    blocks: [
      { text: { text: ':white_check_mark: a &lt; b', emoji: true } },
      rich,
      { elements: [{ text: '✅ a &lt; b', emoji: false }] },
    ],
  });
  expect(slack.message('C0SHOP', ts ?? '')?.text).toContain('a < b');
});

it('history pages from the newest, replies from the root; metadata only when asked for', async () => {
  const first = await post({ metadata: META });
  const root = await post({ text: 'root' });
  for (const text of ['a', 'b', 'c']) await post({ text, thread_ts: root.ts });
  const history = await client().conversations.history({ channel: 'C0SHOP', include_all_metadata: true, limit: 1 });
  expect(history.messages).toMatchObject([{ text: 'root', reply_count: 3 }]);
  const rest = await client().conversations.history({
    channel: 'C0SHOP',
    include_all_metadata: true,
    limit: 1,
    cursor: history.response_metadata?.next_cursor ?? '',
  });
  expect(rest.messages).toMatchObject([{ ts: first.ts, metadata: META }]);
  expect(rest.has_more).toBe(false);
  const plain = await client().conversations.history({ channel: 'C0SHOP', oldest: first.ts ?? '' });
  expect(plain.messages?.map((one) => one.text)).toEqual(['root']);
  const thread = await client().conversations.replies({ channel: 'C0SHOP', ts: root.ts ?? '' });
  expect(thread.messages?.map((one) => one.text)).toEqual(['root', 'a', 'b', 'c']);
  expect(await outcome(client().conversations.replies({ channel: 'C0SHOP', ts: '1600000000.000001' }))).toBe(
    'thread_not_found',
  );
  expect(await outcome(client().conversations.history({ channel: 'C0OTHER' }))).toBe('not_in_channel');
});

it('people, groups, permalinks and reactions answer as documented', async () => {
  expect(await client().users.info({ user: 'U0GUEST' })).toMatchObject({
    user: { is_restricted: true, tz: 'Europe/Berlin' },
  });
  expect(await outcome(client().users.info({ user: 'U0NOBODY' }))).toBe('user_not_found');
  expect((await client().usergroups.users.list({ usergroup: 'S0SRE' })).users).toEqual(['U0BOB', 'U0ALICE']);
  expect(await outcome(client().usergroups.users.list({ usergroup: 'S0NONE' }))).toBe('no_such_subteam');
  const { ts = '' } = await post();
  const link = await client().chat.getPermalink({ channel: 'C0SHOP', message_ts: ts });
  expect(link.permalink).toContain(`/C0SHOP/p${ts.replace('.', '')}`);
  expect(await outcome(client().reactions.add({ channel: 'C0SHOP', timestamp: ts, name: 'eyes' }))).toBe('ok');
  expect(await outcome(client().reactions.add({ channel: 'C0SHOP', timestamp: ts, name: 'eyes' }))).toBe(
    'already_reacted',
  );
});

it('tokens: none, wrong, of the wrong kind, without the scope', async () => {
  const bare = await fetch(`${slack.apiUrl}auth.test`, { method: 'POST' });
  expect(await bare.json()).toEqual({ ok: false, error: 'not_authed' });
  expect(await outcome(plainClient(slack, 'xoxb-wrong').auth.test())).toBe('invalid_auth');
  expect(await outcome(client().apps.connections.open())).toBe('not_allowed_token_type');
  const narrow = await startLocalSlack({ scopes: ['channels:read'] });
  const refused = await plainClient(narrow)
    .chat.postMessage({ channel: 'C0SHOP', text: 'x' })
    .catch((error) => error.data);
  expect(refused).toMatchObject({ error: 'missing_scope', needed: 'chat:write', provided: 'channels:read' });
  const hidden = await plainClient(narrow)
    .conversations.info({ channel: 'C0SECRET' })
    .catch((error) => error.data);
  expect(hidden).toMatchObject({ error: 'missing_scope', needed: 'groups:read' });
  expect(await outcome(plainClient(narrow).conversations.info({ channel: 'C0SHOP' }))).toBe('ok');
  await narrow.stop();
});

it('an unknown method is refused as Slack does, and named so that a test can fail on it', async () => {
  expect(await outcome(client().apiCall('chat.whisper', {}))).toBe('unknown_method');
  expect(slack.unknown.splice(0)).toEqual(['chat.whisper']);
});

it('a token in the address is none', async () => {
  const asked = await fetch(`${slack.apiUrl}users.info?user=U0ROY&token=${slack.botToken}`);
  expect(await asked.json()).toEqual({ ok: false, error: 'not_authed' });
  const body = new URLSearchParams({ token: slack.botToken });
  const posted = await fetch(`${slack.apiUrl}users.info?user=U0ROY`, { method: 'POST', body });
  expect(await posted.json()).toMatchObject({ ok: true, user: { id: 'U0ROY' } });
});

it.each([
  ['users.info', { user: 'U0ROY' }],
  ['bots.info', { bot: 'B0NOBODY' }],
  ['conversations.info', { channel: 'C0SHOP' }],
  ['conversations.members', { channel: 'C0SHOP' }],
  ['conversations.replies', { channel: 'C0SHOP', ts: 'root' }],
  ['usergroups.users.list', { usergroup: 'S0SRE' }],
  ['chat.getPermalink', { channel: 'C0SHOP', message_ts: 'root' }],
  ['files.info', { file: 'F0NONE' }],
])('%s reads no JSON body', async (method, given) => {
  const { ts = '' } = await post();
  const args = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value === 'root' ? ts : value]));
  const asked = async (type: string, body: string) => {
    const headers = { 'content-type': type, authorization: `Bearer ${slack.botToken}` };
    return (await fetch(`${slack.apiUrl}${method}`, { method: 'POST', headers, body })).json();
  };
  const byForm = await asked('application/x-www-form-urlencoded', new URLSearchParams(args).toString());
  const byJson = await asked('application/json', JSON.stringify(args));
  expect(byJson).toEqual(await asked('application/x-www-form-urlencoded', ''));
  expect(byJson).not.toEqual(byForm);
});

it('JSON bodies are taken like forms', async () => {
  const response = await fetch(`${slack.apiUrl}chat.postMessage`, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${slack.botToken}` },
    body: JSON.stringify({
      channel: 'C0SHOP',
      text: 'json',
      blocks: [{ type: 'divider' }],
      metadata: META,
      unfurl_links: false,
    }),
  });
  expect(await response.json()).toMatchObject({ ok: true, message: { text: 'json', metadata: META } });
  expect(slack.messages('C0SHOP')[0]).toMatchObject({ unfurlLinks: false });
});
