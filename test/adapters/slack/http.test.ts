import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sign } from '../../../play/slack/deliver/signed.ts';
import { startWorld, type World } from './harness.ts';

const FORM = 'application/x-www-form-urlencoded';
let world: World;
beforeAll(async () => {
  world = await startWorld('http');
});
afterAll(() => world.stop());
beforeEach(() => {
  world.inbox.commands.length = 0;
});

const nowS = (): number => Math.floor(Date.now() / 1000);
const command = (): string =>
  new URLSearchParams({
    command: '/kdebug',
    team_id: 'T0LOCAL',
    channel_id: 'C0SHOP',
    user_id: 'U0ROY',
    api_app_id: 'A0KDEBUG',
    text: 'pod-1',
    trigger_id: '1.2',
  }).toString();

interface Sending {
  readonly body?: string;
  readonly type?: string;
  readonly timestamp?: string;
  readonly signature?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly path?: string;
  readonly method?: 'GET' | 'POST';
}

async function send({
  body = command(),
  type = FORM,
  timestamp = String(nowS()),
  signature,
  headers,
  path,
  method,
}: Sending): Promise<number> {
  const all = {
    'content-type': type,
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': signature ?? sign(world.local.signingSecret, timestamp, body),
    ...headers,
  };
  const url = new URL(path ?? '/slack/events', world.local.requestUrl);
  const verb = method ?? 'POST';
  const answer = await request(url, { method: verb, headers: all, ...(verb === 'GET' ? {} : { body }) });
  await answer.body.dump();
  return answer.statusCode;
}

it('a well-signed command is taken, also up to five minutes off in both directions', async () => {
  expect(await send({})).toBe(200);
  expect(await send({ timestamp: String(nowS() - 295) })).toBe(200);
  expect(await send({ timestamp: String(nowS() + 295) })).toBe(200);
  expect(world.inbox.commands).toHaveLength(3);
});

describe('a request that is not certainly from Slack, now, is refused with 401', () => {
  it.each([
    ['301 s old', () => ({ timestamp: String(nowS() - 302) })],
    ['301 s ahead', () => ({ timestamp: String(nowS() + 302) })],
    ['no number', () => ({ timestamp: 'NaN' })],
    ['infinite', () => ({ timestamp: 'Infinity' })],
    ['a fraction', () => ({ timestamp: `${nowS()}.5` })],
    ['with an exponent', () => ({ timestamp: '1e10' })],
    ['negative', () => ({ timestamp: `-${nowS()}` })],
    ['hexadecimal', () => ({ timestamp: `0x${nowS().toString(16)}` })],
    ['empty', () => ({ timestamp: '' })],
  ])('timestamp %s, though signed', async (_what, sending) => {
    expect(await send(sending())).toBe(401);
    expect(world.inbox.commands).toEqual([]);
  });

  it.each([
    ['none', ''],
    ['of another secret', sign('other', String(nowS()), command())],
    ['of another version', sign('x', '1', '').replace('v0', 'v1')],
    ['cut off', 'v0=abcdef'],
    ['twice', 'v0=a, v0=b'],
  ])('signature %s', async (_what, signature) => {
    expect(await send({ signature })).toBe(401);
    expect(world.inbox.commands).toEqual([]);
  });

  it('a doubled header', async () => {
    const timestamp = String(nowS());
    const signature = sign(world.local.signingSecret, timestamp, command());
    expect(await send({ timestamp, headers: { 'x-slack-signature': [signature, signature] } })).toBe(401);
    expect(await send({ signature, headers: { 'x-slack-request-timestamp': [timestamp, timestamp] } })).toBe(401);
  });

  it('any one byte of the body changed', async () => {
    const timestamp = String(nowS());
    const body = command();
    const signature = sign(world.local.signingSecret, timestamp, body);
    for (let index = 0; index < body.length; index += 1) {
      const changed = `${body.slice(0, index)}${body[index] === 'x' ? 'y' : 'x'}${body.slice(index + 1)}`;
      expect(await send({ timestamp, signature, body: changed })).toBe(401);
    }
    expect(world.inbox.commands).toEqual([]);
  });

  it('an unsigned ssl_check with a command smuggled in', async () => {
    expect(await send({ body: `${command()}&ssl_check=1`, signature: 'v0=0' })).toBe(401);
    expect(world.inbox.commands).toEqual([]);
  });
});

describe('a request that cannot be read is refused, and the next one is served', () => {
  const big = 1024 * 1024 + 1;
  it.each([
    ['longer than 1 MiB', 413, { body: `${command()}&pad=${'x'.repeat(big)}` }],
    ['at another path', 404, { path: '/other' }],
    ['at an impossible path', 404, { path: '/%%' }],
    ['with another method', 405, { method: 'GET' as const }],
    ['of null', 400, { type: 'application/json', body: 'null' }],
    ['of a list', 400, { type: 'application/json', body: '[]' }],
    ['of broken JSON', 400, { type: 'application/json', body: '{' }],
    ['with a payload of null', 400, { body: 'payload=null' }],
    ['of another type', 400, { type: 'text/xml', body: '<x/>' }],
    [
      'nested a hundred thousand times',
      400,
      { type: 'application/json', body: `${'['.repeat(100_000)}${']'.repeat(100_000)}` },
    ],
  ])('%s: %i', async (_what, status, sending) => {
    expect(await send(sending)).toBe(status);
    expect(world.inbox.commands).toEqual([]);
    expect(await send({})).toBe(200);
  });

  it('longer than 1 MiB without saying how long: 413', async () => {
    async function* endless(): AsyncGenerator<Buffer> {
      for (let count = 0; count < 20; count += 1) yield Buffer.alloc(64 * 1024, 'x');
    }
    const headers = { 'x-slack-request-timestamp': String(nowS()), 'x-slack-signature': `v0=${'0'.repeat(64)}` };
    const body = Readable.from(endless());
    const answer = await request(world.local.requestUrl ?? '', { method: 'POST', headers, body });
    await answer.body.dump();
    expect(answer.statusCode).toBe(413);
  });

  it('broken off in the middle', async () => {
    const socket = connect(world.slack.port() ?? 0, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('POST /slack/events HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf');
    socket.destroy();
    await once(socket, 'close');
    expect(await send({})).toBe(200);
  });
});

it("Slack's look at the certificate is answered: it asks for 200", async () => {
  expect(await send({ method: 'GET', path: '/slack/events?ssl_check=1', signature: '' })).toBe(200);
  expect(await send({ method: 'GET', path: '/slack/events?ssl_check=0', signature: '' })).toBe(405);
  expect(await send({ body: 'ssl_check=1&token=x' })).toBe(200);
  expect(world.inbox.commands).toEqual([]);
});

describe('a refused request is counted', () => {
  it.each([
    ['signature', () => ({ signature: sign('other', String(nowS()), command()) })],
    ['clock', () => ({ timestamp: String(nowS() - 302) })],
    ['form', () => ({ signature: '' })],
  ])('as one for its %s', async (reason, sending) => {
    const counted = async (): Promise<number> => {
      const line = new RegExp(`^kdebug_requests_refused_total{reason="${reason}"} (\\d+)$`, 'm');
      return Number(line.exec(await world.metrics.text())?.[1]);
    };
    const before = await counted();
    await send(sending());
    expect(await counted()).toBe(before + 1);
  });
});

it("Slack's address check is answered", async () => {
  const body = JSON.stringify({ type: 'url_verification', challenge: 'c1' });
  expect(await send({ type: 'application/json', body })).toBe(200);
});

it('a request that no listener takes is not acknowledged as if one had', async () => {
  const payload = {
    type: 'shortcut',
    callback_id: 'other',
    team: { id: 'T0LOCAL' },
    user: { id: 'U0ROY' },
    trigger_id: '1',
  };
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  expect(await send({ body })).toBe(400);
});

it('an exact replay has the same key, so that it collapses', async () => {
  const delivery = await world.local.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'pod-9' });
  expect((await world.local.deliver.replay(delivery)).status).toBe(200);
  const keys = world.inbox.commands.map(({ origin }) => origin.dedupeKey);
  expect(new Set(keys).size).toBe(1);
});

it('our log never holds what Slack sent: no response_url, no words, no secret', async () => {
  await world.local.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'canary-words' });
  const logged = JSON.stringify(world.log.records);
  for (const secret of ['canary-words', '/hooks/', world.local.botToken, world.local.signingSecret])
    expect(logged).not.toContain(secret);
});
