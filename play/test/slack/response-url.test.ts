import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../slack/index.ts';
import { outcome, plainClient } from './bolt-app.ts';

let slack: LocalSlack;
let now = 1_700_000_000_000;

beforeEach(async () => {
  slack = await startLocalSlack({ now: () => now, requestUrl: 'http://127.0.0.1:9/nobody' });
});
afterEach(() => slack.stop());

async function command(): Promise<{ url: string; trigger: string }> {
  const { parcel } = await slack.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'x' });
  return { url: String(parcel.payload.response_url), trigger: String(parcel.payload.trigger_id) };
}

async function answer(url: string, body: object): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return `${response.status} ${await response.text()}`;
}

it('works five times, for a private answer or the channel, then is used up', async () => {
  const { url } = await command();
  expect(new URL(url).origin).toBe(slack.origin);
  expect(await answer(url, { text: 'for you' })).toBe('200 ok');
  expect(await answer(url, { text: 'for all', response_type: 'in_channel' })).toBe('200 ok');
  expect(slack.ephemerals('U0ROY').at(-1)?.text).toBe('for you');
  expect(slack.messages('C0SHOP').map((one) => one.text)).toEqual(['for all']);
  for (const text of ['3', '4', '5']) await answer(url, { text });
  expect(await answer(url, { text: '6' })).toBe('404 {"ok":false,"error":"used_url"}');
});

it('answers privately at the channel’s root, whatever thread it names; for all, in that thread', async () => {
  const { url } = await command();
  const { ts } = slack.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: 'root' });
  await answer(url, { text: 'for you', thread_ts: ts });
  await answer(url, { text: 'for all', thread_ts: ts, response_type: 'in_channel' });
  expect(slack.ephemerals('U0ROY').at(-1)).toMatchObject({ text: 'for you' });
  expect(slack.ephemerals('U0ROY').at(-1)?.threadTs).toBeUndefined();
  expect(slack.thread('C0SHOP', ts).map((one) => one.text)).toEqual(['for all']);
});

it('is given, and works, where the bot is no member; the command reaches the app there', async () => {
  const sent = (await slack.deliver.type({ user: 'U0ROY', channel: 'C0OTHER', text: '/kdebug pod-1' }))?.parcel;
  expect(sent?.payload).toMatchObject({ channel_id: 'C0OTHER', text: 'pod-1' });
  expect(await answer(String(sent?.payload.response_url), { text: 'for you' })).toBe('200 ok');
  expect(slack.ephemerals('U0ROY').at(-1)).toMatchObject({ text: 'for you', channel: 'C0OTHER' });
});

it('lasts 30 minutes', async () => {
  const { url } = await command();
  now += 30 * 60_000;
  expect(await answer(url, { text: 'in time' })).toBe('200 ok');
  now += 1;
  expect(await answer(url, { text: 'late' })).toBe('404 {"ok":false,"error":"expired_url"}');
});

it('refuses what a message could not say, without counting it', async () => {
  const { url } = await command();
  expect(await answer(url, {})).toBe('400 no_text');
  expect(await answer(url, { blocks: [{ type: 'banner' }] })).toBe('400 invalid_blocks');
});

it('can fail on request', async () => {
  const { url } = await command();
  slack.faults.queue({ method: 'response_url', kind: 'http_503' });
  slack.faults.queue({ method: 'response_url', kind: 'used_url' });
  expect(await answer(url, { text: 'x' })).toMatch(/^503/);
  expect(await answer(url, { text: 'x' })).toBe('404 {"ok":false,"error":"used_url"}');
});

it('a trigger opens one form within three seconds', async () => {
  const view = { type: 'modal' as const, title: { type: 'plain_text' as const, text: 'T' }, blocks: [] };
  const open = (trigger_id: string) => outcome(plainClient(slack).views.open({ trigger_id, view }));
  const { trigger } = await command();
  expect(await open('1.2.made-up')).toBe('invalid_trigger_id');
  now += 3_000;
  expect(await open(trigger)).toBe('ok');
  expect(await open(trigger)).toBe('exchanged_trigger_id');
  const late = await command();
  now += 3_001;
  expect(await open(late.trigger)).toBe('expired_trigger_id');
});
