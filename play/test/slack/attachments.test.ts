import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { alertPost, postAlert } from '../../app/alert.ts';
import { type LocalSlack, startLocalSlack } from '../../slack/index.ts';
import { outcome, plainClient } from './bolt-app.ts';

let slack: LocalSlack;
let socket: WebSocket | undefined;
let server: Server | undefined;

beforeEach(async () => {
  slack = await startLocalSlack({ rates: { off: true } });
});
afterEach(async () => {
  socket?.terminate();
  server?.close();
  await slack.stop();
  expect(slack.unknown).toEqual([]);
});

const PRESS = { user: 'U0ROY', channel: 'C0SHOP', label: 'Diagnose' };
const fire = () => postAlert(slack, alertPost('C0SHOP', 'shop/web-1'));
const alertNow = (ts: string) => slack.message('C0SHOP', ts);

describe('what answers a press on a button of an attachment', () => {
  /** A bare Socket Mode client whose acknowledgements have this beside the envelope's id. */
  async function overSocket(more: object): Promise<void> {
    const { url = '' } = await plainClient(slack, slack.appToken).apps.connections.open();
    socket = new WebSocket(url);
    const answering = socket;
    answering.on('message', (data) => {
      const { envelope_id } = JSON.parse(String(data)) as { envelope_id?: string };
      if (envelope_id !== undefined) answering.send(JSON.stringify({ envelope_id, ...more }));
    });
    await once(answering, 'message');
  }

  /** An app that answers every request with this body. */
  async function overHttp(body: string): Promise<void> {
    server = createServer((request, response) => {
      request.resume();
      response.end(body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    slack.requestUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  it.each([
    ['an envelope’s id alone', () => overSocket({})],
    ['an empty body', () => overHttp('')],
  ])('leaves the message as it is when it is %s', async (_, answering) => {
    await answering();
    const ts = await fire();
    const before = structuredClone(alertNow(ts));
    expect(await slack.deliver.attachment({ ...PRESS, ts })).toMatchObject({ status: 200, body: '' });
    expect(alertNow(ts)).toEqual(before);
  });

  it.each([
    ['a text over Socket Mode', () => overSocket({ payload: { text: 'seen' } }), 'seen'],
    ['an empty object over Socket Mode', () => overSocket({ payload: {} }), '{}'],
    ['a text over HTTP', () => overHttp('seen'), 'seen'],
    ['an empty object over HTTP', () => overHttp('{}'), '{}'],
  ])('replaces the message when it is %s', async (_, answering, text) => {
    await answering();
    const ts = await fire();
    await slack.deliver.attachment({ ...PRESS, ts });
    expect(alertNow(ts)).toMatchObject({ text, blocks: [], attachments: [] });
  });

  it('never comes over Socket Mode where Slack brings such a press over HTTP alone', async () => {
    slack.habits.attachmentButtons = 'http';
    await overSocket({ payload: {} });
    const ts = await fire();
    const press = await slack.deliver.attachment({ ...PRESS, ts });
    expect([press.status, press.error, press.via]).toEqual([0, undefined, 'socket']);
    expect(alertNow(ts)?.attachments).toHaveLength(1);
    await overHttp('');
    expect(await slack.deliver.attachment({ ...PRESS, ts, via: 'http' })).toMatchObject({ status: 200 });
  });
});

describe('the attachments of a post', () => {
  const look = { type: 'button', name: 'look', text: 'Diagnose', value: 'shop/web-1' };
  const link = { type: 'button', text: 'Runbook', url: 'https://runbooks.example/crash' };
  const withActions = (...actions: object[]) => ({ text: 'x', callback_id: 'kdebug-alert', actions });
  const looks = (count: number) => Array.from({ length: count }, (_, index) => ({ ...look, name: `look-${index}` }));
  const button = { type: 'button', action_id: 'go', text: { type: 'plain_text', text: 'Go' } };

  it.each([
    ['a button and a link', withActions(look, link), 'ok'],
    ['a link alone, without callback_id', { text: 'x', actions: [link] }, 'ok'],
    ['five buttons', withActions(...looks(5)), 'ok'],
    ['six buttons', withActions(...looks(6)), 'invalid_attachments'],
    ['a button without a name', withActions({ ...look, name: undefined }), 'invalid_attachments'],
    [
      'a button that is nothing: a link without its address',
      withActions(look, { type: 'button', text: 'Runbook' }),
      'invalid_attachments',
    ],
    ['a link to nowhere', withActions(look, { ...link, url: 'runbook' }), 'invalid_attachments'],
    ['a button without words', withActions({ ...look, text: '' }), 'invalid_attachments'],
    ['buttons without callback_id', { text: 'x', actions: [look] }, 'invalid_attachments'],
    ['no attachment at all', 'x', 'invalid_attachments'],
    ['blocks', { blocks: [{ type: 'actions', elements: [button] }] }, 'ok'],
    ['blocks that are none', { blocks: [{ type: 'banner' }] }, 'invalid_attachments'],
    ['blocks that are no list', { blocks: 'x' }, 'invalid_attachments'],
    ['90 kB', { text: 'x'.repeat(90_000) }, 'ok'],
    ['200 kB', { text: 'x'.repeat(200_000) }, 'attachment_payload_limit_exceeded'],
  ])('%s', async (_, attachment, expected) => {
    const post = { channel: 'C0SHOP', text: 'x', attachments: [attachment] };
    expect(await outcome(plainClient(slack).apiCall('chat.postMessage', post))).toBe(expected);
    expect(slack.messages('C0SHOP')).toHaveLength(expected === 'ok' ? 1 : 0);
  });
});
