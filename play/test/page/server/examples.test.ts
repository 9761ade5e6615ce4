import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXAMPLES } from '../../../app/examples.ts';
import type { StoredMessage } from '../../../slack/index.ts';
import { openPage, type PageBed, SHOP } from './open-page.ts';

let page: PageBed;
beforeAll(async () => {
  page = await openPage();
});
afterAll(() => page?.stop());

const textOf = (message: StoredMessage): string => JSON.stringify([message.text, message.blocks]);

async function send(id: string): Promise<string> {
  const example = EXAMPLES.find((each) => each.id === id);
  if (!example) throw new Error(`no example ${id}`);
  const { user, channel, text } = example;
  expect(await page.do({ kind: 'type', user, channel, text })).toEqual({ ok: true });
  return user;
}

it.each([
  ['roy', 'autodiagnose'],
  ['jonas', 'nameserver'],
])('%s gets a result in a thread', async (id, part) => {
  await send(id);
  const { slack } = page.bed;
  const replies = () => slack.messages(SHOP).flatMap(({ ts }) => slack.thread(SHOP, ts));
  await slack.until(() => replies().find((message) => textOf(message).includes(part)));
});

it('Roy gets from a symptom to the deadlock by a button, with its threads as a file', async () => {
  await send('stuck');
  const { slack } = page.bed;
  const replies = () =>
    slack
      .messages(SHOP)
      .filter((message) => textOf(message).includes('orders-stuck-0'))
      .flatMap(({ ts }) => slack.thread(SHOP, ts));
  const symptom = await slack.until(() => replies().find((message) => textOf(message).includes('"next-image"')));
  // No person is as quick as this test: Slack tells an app only afterwards which message its file is in.
  await pause(1_000);
  const pressed = { channel: SHOP, ts: symptom.ts, actionId: 'next-image' };
  await slack.deliver.action({ user: 'U0ROY', ...pressed });
  await slack.until(() =>
    replies().find(({ files }) => files.some((id) => slack.state.files.get(id)?.name.endsWith('.threads.txt'))),
  );
  expect(replies().map(textOf).join('\n')).toContain('order-worker');
});

it('Jonas gets a flame graph and its data in one message, behind the words', async () => {
  await send('flame');
  const { slack } = page.bed;
  const replies = () => slack.messages(SHOP).flatMap(({ ts }) => slack.thread(SHOP, ts));
  const namesOf = ({ files }: StoredMessage) => files.map((id) => slack.state.files.get(id)?.name ?? '');
  const result = await slack.until(() => replies().find((message) => namesOf(message).some((n) => n.endsWith('.svg'))));
  expect(namesOf(result).map((name) => name.replace(/^kdebug-\w+\./, ''))).toEqual([
    'log',
    'cpu.png',
    'cpu.svg',
    'cpu.speedscope.json',
    'cpu.folded',
  ]);
  expect(replies().map(textOf).join('\n')).toContain('answerSearch');
});

it('Thurston gets what only the sick pod has', async () => {
  await send('compare');
  const { slack } = page.bed;
  const card = await slack.until(() =>
    slack.messages(SHOP).find((m) => textOf(m).includes('Compared with neato-5thn0')),
  );
  expect(textOf(card)).toContain('connections wait to be accepted');
});

it('Thurston gets a card that others decide', async () => {
  await send('thurston');
  const { slack } = page.bed;
  await slack.until(() => slack.messages(SHOP).find((message) => textOf(message).includes('"approve"')));
});

it('Ginger gets one message that follows all pods, and in its thread one result and its two files', async () => {
  await send('ginger');
  const { slack } = page.bed;
  const dashboard = await slack.until(() =>
    slack.messages(SHOP).find((message) => /all pods|--all/.test(textOf(message)) && /ailed/.test(textOf(message))),
  );
  await slack.until(() => slack.thread(SHOP, dashboard.ts).find(({ files }) => files.length === 2));
  expect(slack.thread(SHOP, dashboard.ts).map(({ files }) => files.length)).toEqual([0, 2]);
});

it('a guest gets one private answer, and nothing is started', async () => {
  const launches = () => page.cluster.requests.find({ verb: 'patch' }).length;
  const before = launches();
  const user = await send('refused');
  const { slack } = page.bed;
  const why = 'guests of the Slack workspace cannot use kdebug';
  await slack.until(() => slack.ephemerals(user).find((message) => textOf(message).includes(why)));
  expect(slack.ephemerals(user)).toHaveLength(1);
  expect(launches()).toBe(before);
});
