import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeMessage } from '../../../slack/index.ts';
import { openPage, type PageBed, SHOP } from './open-page.ts';

const LEAK = 'cart-leaky-0';

let page: PageBed;
beforeEach(async () => {
  page = await openPage();
  await isUp(LEAK);
  await isUp('orders-stuck-0');
});
afterEach(() => page?.stop());

const shown = (): readonly string[] =>
  page.bed.slack
    .messages(SHOP)
    .flatMap((root) => [root, ...page.bed.slack.thread(SHOP, root.ts)])
    .map((message) => describeMessage(page.bed.slack.state, message, { times: false }).join('\n'));
const until = (...parts: readonly string[]) =>
  page.bed.slack.until(() => shown().find((text) => parts.every((part) => text.includes(part))));
const killForMemory = () => page.do({ kind: 'trouble', id: 'oom', namespace: 'shop', pod: LEAK });
const isUp = (pod: string, restarts = 0) =>
  expect
    .poll(() => page.cluster.pod('shop', pod)?.status.containerStatuses?.[0])
    .toMatchObject({ restartCount: restarts, state: { running: expect.anything() } });

it('a container that was killed is watched by a button, and its next death is told with its function', async () => {
  await killForMemory();
  await isUp(LEAK, 1);
  await page.type(`/kdebug ${LEAK}`);
  await until('[Catch the next crash]', 'Exit code');
  // No person is as quick as this test: Slack tells an app only afterwards which message its file is in.
  await pause(1_000);
  const card = page.bed.slack.messages(SHOP).findLast(({ blocks }) => JSON.stringify(blocks).includes('next-image'));
  const pressed = { user: 'U0ROY', channel: SHOP, ts: card?.ts ?? '', actionId: 'next-image' };
  await page.bed.slack.deliver.action(pressed);
  await until('Looking inside with blackbox', '[Show log so far]');
  await killForMemory();
  await until('was killed for memory in ', 'death.txt');
});

it('watch takes the stacks when its condition holds, and says what it waits for', async () => {
  await page.type(`/kdebug watch ${LEAK} --when="memory>80%" --for=10m`);
  await until('Armed for 10m: memory>80%');
  await until('│ all threads were held');
  await killForMemory();
  await until('was killed for memory in ', 'tripwire.txt');
});

it('a program that nobody recorded gets no death of another one', async () => {
  await page.type('/kdebug orders-stuck-0 --image=blackbox');
  await until('orders-stuck-0: ', 'play has no recording for this pod');
});
