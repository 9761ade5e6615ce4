import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../slack/index.ts';
import { outcome, plainClient } from './bolt-app.ts';

let slack: LocalSlack;
const client = () => plainClient(slack);

beforeEach(async () => {
  slack = await startLocalSlack();
});
afterEach(async () => {
  await slack.stop();
  expect(slack.unknown).toEqual([]);
});

async function ticket(length: number): Promise<{ url: string; id: string }> {
  const got = await client().files.getUploadURLExternal({ filename: 'log.txt', length });
  return { url: got.upload_url ?? '', id: got.file_id ?? '' };
}

const finish = (id: string, more: object = {}) =>
  client().files.completeUploadExternal({ files: [{ id, title: 'The log' }], channel_id: 'C0SHOP', ...more });

it('gives a person’s file to the bot’s token alone, and only with files:read', async () => {
  const message = await slack.share({ user: 'U0ROY', channel: 'C0SHOP', name: 'job.yaml', content: 'a: 1\n' });
  const url = slack.state.files.get(message.files[0] ?? '')?.urlPrivate ?? '';
  const get = (token: string) => fetch(url, { headers: { authorization: `Bearer ${token}` }, redirect: 'manual' });
  expect(await (await get(slack.botToken)).text()).toBe('a: 1\n');
  expect((await get('xoxb-other')).status).toBe(302);
  expect((await fetch(url, { redirect: 'manual' })).status).toBe(302);
  expect(slack.requests('download')).toHaveLength(3);
  const poor = await startLocalSlack({ scopes: ['commands'] });
  const other = await poor.share({ user: 'U0ROY', channel: 'C0SHOP', name: 'job.yaml', content: 'a: 1\n' });
  const hidden = poor.state.files.get(other.files[0] ?? '')?.urlPrivate ?? '';
  const refused = await fetch(hidden, { headers: { authorization: `Bearer ${poor.botToken}` }, redirect: 'manual' });
  expect(refused.status).toBe(302);
  await poor.stop();
});

it('uploadV2 (multipart) ends as a message in the thread with a ts of its own', async () => {
  const root = await client().chat.postMessage({ channel: 'C0SHOP', text: 'root' });
  const content = 'line\n'.repeat(10_000);
  await client().filesUploadV2({
    channel_id: 'C0SHOP',
    thread_ts: root.ts ?? '',
    filename: 'log.txt',
    title: 'The log',
    content,
    initial_comment: 'all of it',
  });
  const reply = await slack.until(() => slack.thread('C0SHOP', root.ts ?? '')[0]);
  expect(reply).toMatchObject({ text: 'all of it', botId: slack.botId });
  expect(reply?.ts).not.toBe(root.ts);
  const [file] = slack.files();
  expect(file).toMatchObject({ name: 'log.txt', title: 'The log', size: content.length });
  expect(String(await file?.content())).toBe(content);
});

it('a raw body is streamed to disk: the bytes are those that were sent', async () => {
  const block = randomBytes(1024 * 1024);
  const { url, id } = await ticket(block.length * 20);
  const hash = createHash('sha256');
  const body = Readable.from(
    (function* () {
      for (let sent = 0; sent < 20; sent += 1) {
        hash.update(block);
        yield block;
      }
    })(),
  );
  const response = await fetch(url, { method: 'POST', body: Readable.toWeb(body) as ReadableStream, duplex: 'half' });
  expect(response.status).toBe(200);
  await finish(id);
  const received = createHash('sha256');
  for await (const chunk of slack.files()[0]?.stream() ?? []) received.update(chunk);
  expect(received.digest('hex')).toBe(hash.digest('hex'));
});

it('the answer does not say where the file went, files.info does', async () => {
  const { url, id } = await ticket(3);
  await fetch(url, { method: 'POST', body: 'abc' });
  expect(await outcome(client().files.info({ file: 'F0NONE' }))).toBe('file_not_found');
  slack.state.background.delayMs = 60_000;
  const done = await finish(id);
  expect(done.files?.[0]).toMatchObject({ id, shares: {} });
  const shares = async () => (await client().files.info({ file: id })).file?.shares;
  expect(await shares()).toEqual({});
  slack.state.background.flush();
  expect((await shares())?.public?.C0SHOP?.[0]?.ts).toBe(slack.messages('C0SHOP')[0]?.ts);
});

it('a file is seen after the answer, as the bot user’s message without a certain bot_id', async () => {
  const root = await client().chat.postMessage({ channel: 'C0SHOP', text: 'root' });
  const { url, id } = await ticket(3);
  await fetch(url, { method: 'POST', body: 'abc' });
  slack.state.background.delayMs = 60_000;
  await finish(id, { thread_ts: root.ts });
  expect(slack.thread('C0SHOP', root.ts ?? '')).toEqual([]);
  await client().chat.postMessage({ channel: 'C0SHOP', text: 'later', thread_ts: root.ts ?? '' });
  slack.state.background.flush();
  const { messages } = await client().conversations.replies({ channel: 'C0SHOP', ts: root.ts ?? '' });
  expect(messages?.map(({ text }) => text)).toEqual(['root', 'later', '']);
  expect(messages?.at(-1)).toMatchObject({
    subtype: 'file_share',
    upload: true,
    user: slack.botUserId,
    files: [{ id }],
  });
  expect(messages?.at(-1)).not.toHaveProperty('bot_id');
});

it('several files with blocks are one message, buttons and all; its channel may close meanwhile', async () => {
  const files = await Promise.all([1, 2].map(() => ticket(3)));
  for (const { url } of files) await fetch(url, { method: 'POST', body: 'abc' });
  const button = { type: 'button', action_id: 'rerun', text: { type: 'plain_text', text: 'Run again' } };
  const blocks = [
    { type: 'section', text: { type: 'mrkdwn', text: 'two files, <@U0ROY>' } },
    { type: 'actions', elements: [button] },
  ];
  const args = { files: files.map(({ id }) => ({ id })), channel_id: 'C0SHOP', blocks };
  await client().apiCall('files.completeUploadExternal', args);
  const message = await slack.until(() => slack.messages('C0SHOP')[0]);
  expect(message).toMatchObject({
    files: files.map(({ id }) => id),
    blocks: [{ type: 'section' }, { type: 'actions' }],
  });
  expect(slack.notified('U0ROY')).toMatchObject([{ ts: message.ts, why: 'mention' }]);
  const { url, id } = await ticket(3);
  await fetch(url, { method: 'POST', body: 'abc' });
  slack.state.background.delayMs = 60_000;
  await finish(id);
  slack.deliver.remove({ channel: 'C0SHOP', user: slack.botUserId });
  slack.state.background.flush();
  expect(slack.messages('C0SHOP')).toHaveLength(1);
});

it('fewer or more bytes than announced are refused, and the file cannot be completed', async () => {
  const { url, id } = await ticket(10);
  expect((await fetch(url, { method: 'POST', body: 'abc' })).status).toBe(400);
  expect(await outcome(finish(id))).toBe('file_not_found');
  expect(slack.files()).toEqual([]);
});

it.each([
  ['nothing to upload', { length: 0 }, 'missing_argument'],
  ['a snippet over 1 MB', { length: 1_000_001, snippet_type: 'text' }, 'snippet_too_large'],
  ['a snippet of 1 MB', { length: 1_000_000, snippet_type: 'text' }, 'ok'],
  ['a large plain file', { length: 100 * 1024 * 1024 }, 'ok'],
  ['a file of 2 GiB', { length: 2 * 1024 ** 3 }, 'file_upload_size_restricted'],
  ['a snippet of a type that is none', { length: 1, snippet_type: 'nonsense' }, 'unknown_snippet_type'],
])('an address for %s', async (_name, args, expected) => {
  expect(await outcome(client().files.getUploadURLExternal({ filename: 'log.txt', ...args }))).toBe(expected);
});

it.each([
  ['an unknown channel', { channel_id: 'C0NOWHERE' }, 'channel_not_found'],
  ['a channel without the bot', { channel_id: 'C0OTHER' }, 'not_in_channel'],
  ['a person', { channel_id: 'U0ROY' }, 'invalid_arguments'],
  ['a channel by its name', { channel_id: 'shop-oncall' }, 'invalid_arguments'],
  ['a message with a markdown block', { blocks: [{ type: 'markdown', text: '**hi**' }] }, 'internal_error'],
])('completing into %s shares nothing', async (_name, more, expected) => {
  const { url, id } = await ticket(3);
  await fetch(url, { method: 'POST', body: 'abc' });
  expect(await outcome(finish(id, more))).toBe(expected);
  expect(slack.files()).toEqual([]);
  expect(await outcome(finish(id))).toBe('ok');
  expect(await outcome(finish(id))).toBe('file_not_found');
});

it('eleven files in one call are refused, ten are one message', async () => {
  const tickets = await Promise.all(Array.from({ length: 11 }, () => ticket(3)));
  for (const { url } of tickets) await fetch(url, { method: 'POST', body: 'abc' });
  const files = tickets.map(({ id }) => ({ id }));
  const completed = (some: typeof files) =>
    outcome(client().apiCall('files.completeUploadExternal', { files: some, channel_id: 'C0SHOP' }));
  expect(await completed(files)).toBe('invalid_arguments');
  expect(await completed(files.slice(1))).toBe('ok');
  expect((await slack.until(() => slack.messages('C0SHOP')[0])).files).toHaveLength(10);
});

describe('an update with file_ids', () => {
  const META = { event_type: 'kdebug_run', event_payload: { run: 'r1' } };
  const BLOCKS = [{ type: 'section', text: { type: 'mrkdwn', text: 'it failed' } }];

  async function uploaded(more: object = {}): Promise<string> {
    const { url, id } = await ticket(3);
    await fetch(url, { method: 'POST', body: 'abc' });
    await client().apiCall('files.completeUploadExternal', { files: [{ id }], ...more });
    return id;
  }
  const posted = async (more: object = {}) =>
    (await client().chat.postMessage({ channel: 'C0SHOP', text: 'web-1 failed', metadata: META, ...more })).ts ?? '';
  const update = (ts: string, more: object) =>
    client().apiCall('chat.update', { channel: 'C0SHOP', ts, text: 'web-1 failed', blocks: BLOCKS, ...more });

  it('puts files that are in no channel on a posted message, beside its text and metadata', async () => {
    const id = await uploaded();
    expect(slack.messages('C0SHOP')).toEqual([]);
    const root = await posted();
    const ts = await posted({ thread_ts: root });
    await update(ts, { file_ids: [id] });
    const { messages } = await client().conversations.replies({
      channel: 'C0SHOP',
      ts: root,
      include_all_metadata: true,
    });
    expect(messages?.[1]).toMatchObject({
      ts,
      text: 'web-1 failed',
      bot_id: slack.botId,
      metadata: META,
      files: [{ id }],
    });
    expect(slack.thread('C0SHOP', root)).toHaveLength(1);
    const shares = async () => (await client().files.info({ file: id })).file?.shares?.public?.C0SHOP;
    await expect.poll(shares).toMatchObject([{ ts, thread_ts: root }]);
  });

  it('replaces those that were there; one without them leaves them', async () => {
    const ts = await posted();
    const [first, second] = [await uploaded(), await uploaded()];
    await update(ts, { file_ids: [first] });
    await update(ts, {});
    expect(slack.message('C0SHOP', ts)?.files).toEqual([first]);
    await update(ts, { file_ids: [second] });
    expect(slack.message('C0SHOP', ts)?.files).toEqual([second]);
    await update(ts, { file_ids: [] });
    expect(slack.message('C0SHOP', ts)?.files).toEqual([]);
  });

  it('is refused for a file that nobody completed', async () => {
    const ts = await posted();
    const { id } = await ticket(3);
    expect(await outcome(update(ts, { file_ids: [id] }))).toBe('file_not_found');
    expect(await outcome(update(ts, { file_ids: id }))).toBe('invalid_arguments');
    expect(slack.message('C0SHOP', ts)).toMatchObject({ blocks: [], files: [] });
  });
});

it('a channel that takes no posts takes no files', async () => {
  const shop = slack.team.channels.C0SHOP;
  if (shop !== undefined) shop.posting = 'nobody';
  const { url, id } = await ticket(3);
  await fetch(url, { method: 'POST', body: 'abc' });
  expect(await outcome(finish(id))).toBe('posting_to_channel_denied');
});

it('the upload address can fail like the rest', async () => {
  const { url } = await ticket(3);
  slack.faults.queue({ method: 'upload', kind: 'http_500' });
  slack.faults.queue({ method: 'upload', kind: 'reset_before' });
  expect((await fetch(url, { method: 'POST', body: 'abc' })).status).toBe(500);
  await expect(fetch(url, { method: 'POST', body: 'abc' })).rejects.toThrow();
  expect((await fetch(url, { method: 'POST', body: 'abc' })).status).toBe(200);
});
