import type { App } from '@slack/bolt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../slack/index.ts';
import { startBolt } from './bolt-app.ts';

let slack: LocalSlack;
let app: App;
const heard: string[] = [];

beforeAll(async () => {
  slack = await startLocalSlack();
  app = await startBolt(slack, 'http', (bolt) =>
    bolt.command('/kdebug', async ({ ack, command }) => {
      heard.push(command.text);
      await ack();
    }),
  );
});

afterAll(async () => {
  await app.stop();
  await slack.stop();
});

const order = { user: 'U0ROY', channel: 'C0SHOP' };

it.each([
  ['wrong signature', { signature: 'wrong' }],
  ['no signature', { signature: 'missing' }],
  ['a stale timestamp', { timestampOffsetSeconds: -301 }],
  ['a body changed after signing', { tamper: (body: string) => body.replace('text=', 'text=evil+') }],
] as const)('Bolt refuses %s', async (name, forgery) => {
  const delivery = await slack.deliver.command({ ...order, text: name, ...forgery });
  expect(delivery.status).toBe(401);
  expect(delivery.error).toBe('http_client_error');
  expect(heard).not.toContain(name);
});

it('a replay sends the very same bytes: Bolt alone takes it twice', async () => {
  const first = await slack.deliver.command({ ...order, text: 'replayed' });
  const second = await slack.deliver.replay(first);
  expect(second.status).toBe(200);
  expect(heard.filter((text) => text === 'replayed')).toHaveLength(2);
});

it('nobody listening is dispatch_failed', async () => {
  const lonely = await startLocalSlack({ requestUrl: 'http://127.0.0.1:9/slack/events' });
  const delivery = await lonely.deliver.command({ ...order, text: 'x' });
  expect(delivery).toMatchObject({ status: 0, error: 'dispatch_failed' });
  await lonely.stop();
});
