import fc from 'fast-check';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sign } from '../../../../play/slack/deliver/signed.ts';
import { knownPayload } from '../../../../src/adapters/slack/receiving/delivery.ts';
import { inFullOr } from '../../../support/sample.ts';
import { NOBODY, startWorld, type World } from '../harness.ts';
import { SHAPES, spoilt } from './payload-shapes.ts';

let world: World;
let unheard: unknown[] = [];
const onUnheard = (reason: unknown): void => void unheard.push(reason);
beforeEach(() => {
  unheard = [];
  process.on('unhandledRejection', onUnheard);
});
afterEach(async () => {
  process.off('unhandledRejection', onUnheard);
  await world?.stop();
});

const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';

async function send(body: string, type: string): Promise<number> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers = {
    'content-type': type,
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': sign(world.local.signingSecret, timestamp, body),
  };
  const answer = await request(world.local.requestUrl ?? '', { method: 'POST', headers, body });
  await answer.body.dump();
  return answer.statusCode;
}

const formOf = (payload: unknown): string => new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
const isAnswered = async (): Promise<boolean> =>
  (await world.local.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'pod-1' })).status === 200;

describe('a signed request over HTTP', () => {
  beforeEach(async () => {
    world = await startWorld('http');
  });

  it.each(Object.entries(SHAPES))('that is a %s as Slack sends it gets 200', async (_what, { body }) => {
    expect(await send(JSON.stringify(body), JSON_TYPE)).toBe(200);
  });

  it.each([
    ['JSON that is no object', '"x"', JSON_TYPE],
    ['JSON of a number', '1', JSON_TYPE],
    ['a form without a payload', 'a=b', FORM],
    ['an empty form', '', FORM],
    ['a form whose payload is no JSON', 'payload=x', FORM],
    ['a form whose payload is a list', 'payload=[]', FORM],
    ['an unknown type', JSON.stringify({ type: 'x' }), JSON_TYPE],
    ['a type that is no text', JSON.stringify({ type: {} }), JSON_TYPE],
    ['an event that is null', JSON.stringify({ type: 'event_callback', event: null }), JSON_TYPE],
    ['an event that is text', JSON.stringify({ type: 'event_callback', event: 'x' }), JSON_TYPE],
    ['an event without a type', JSON.stringify({ type: 'event_callback', event: {} }), JSON_TYPE],
    ['an event and nothing else', JSON.stringify({ event: { type: 'app_mention', channel: null } }), JSON_TYPE],
    ['a mention without ids', JSON.stringify({ type: 'event_callback', event: { type: 'app_mention' } }), JSON_TYPE],
    ['a command without ids', JSON.stringify({ command: '/kdebug' }), JSON_TYPE],
    ['a click without actions', formOf({ ...SHAPES.click?.body, actions: [] }), FORM],
    ['a click without a person', formOf({ ...SHAPES.click?.body, user: null }), FORM],
    ['a form that nobody opened', formOf({ ...SHAPES.submission?.body, view: { callback_id: 'x' } }), FORM],
    ['a shortcut of another name', formOf({ ...SHAPES.shortcut?.body, callback_id: 'other' }), FORM],
    [
      'a challenge that is no text',
      JSON.stringify({ type: 'url_verification', challenge: { toString: 1 } }),
      JSON_TYPE,
    ],
  ])('with %s gets 400, and one line of log', async (_what, body, type) => {
    expect(await send(body, type)).toBe(400);
    expect(world.log.records.filter(({ level }) => level === 'error')).toEqual([]);
    expect(world.inbox.taken).toEqual(NOBODY);
    expect(await isAnswered()).toBe(true);
  });

  it('of an event that nobody listens to is acknowledged, or Slack would send it again', async () => {
    expect(await send(JSON.stringify({ type: 'event_callback', event: { type: 'app_uninstalled' } }), JSON_TYPE)).toBe(
      200,
    );
    expect(await send(JSON.stringify({ type: 'app_rate_limited', team_id: 'T0LOCAL' }), JSON_TYPE)).toBe(200);
  });

  it('with any payload of ours spoilt gets 200 or 400, and nothing rejects unheard', async () => {
    await fc.assert(
      fc.asyncProperty(spoilt, fc.boolean(), async ({ body }, asForm) => {
        const status = asForm ? await send(formOf(body), FORM) : await send(JSON.stringify(body) ?? '', JSON_TYPE);
        expect([200, 400]).toContain(status);
        expect(unheard).toEqual([]);
      }),
      { numRuns: inFullOr(400, 60), endOnFailure: true },
    );
    expect(await isAnswered()).toBe(true);
  });
});

describe('a message over Socket Mode', () => {
  const RAW = [
    'null',
    '1',
    '"x"',
    '[]',
    '{',
    '{}',
    '{"type":"events_api"}',
    '{"type":"events_api","envelope_id":"1","payload":null}',
    '{"type":"events_api","envelope_id":"1","payload":{"event":null}}',
    '{"type":"interactive","envelope_id":"1","payload":"x"}',
    '{"type":"slack_event","envelope_id":"1","payload":{}}',
    '{"type":"error","envelope_id":"1"}',
  ];

  beforeEach(async () => {
    world = await startWorld('socket');
  });

  it('that is no envelope is left out with one line of log each, and nothing rejects unheard', async () => {
    for (const text of RAW) world.local.sockets.sendRaw(text);
    const lines = () => world.log.records.filter(({ message }) => message.includes('malformed')).length;
    await expect.poll(lines).toBe(RAW.length);
    expect(unheard).toEqual([]);
    expect(world.local.sockets.count).toBe(2);
    expect(await isAnswered()).toBe(true);
  });

  it.each(['disconnected', 'close', 'error', 'slack_event', 'ws_message'])(
    'whose event is called %s is no signal of the connection, and is acknowledged',
    async (type) => {
      expect((await world.local.deliver.event({ type })).status).toBe(200);
      expect(world.local.sockets.opened).toBe(2);
      expect(await isAnswered()).toBe(true);
    },
  );

  it.each([
    ['no object', { event: null }],
    ['without a type', { event: {} }],
    ['that lacks what we read', { event: { type: 'app_mention' } }],
  ])('that is an event %s is acknowledged, as a repeat would not help', async (_what, override) => {
    const delivery = await world.local.deliver.event({}, { override });
    expect(delivery).toMatchObject({ status: 200, body: '' });
    expect(world.log.records.filter(({ message }) => message.includes('malformed'))).toHaveLength(1);
    expect(world.inbox.taken).toEqual(NOBODY);
  });

  it('with any payload of ours spoilt is acknowledged or left out, and nothing rejects unheard', async () => {
    fc.assert(
      fc.property(spoilt, ({ envelope, body }) => {
        world.local.sockets.sendRaw(JSON.stringify({ type: envelope, envelope_id: 'e', payload: body }));
      }),
      { numRuns: inFullOr(400, 60), endOnFailure: true },
    );
    // Slack asks again by itself when it had to wait, and the socket has much to read first.
    await expect.poll(isAnswered).toBe(true);
    await expect.poll(isAnswered).toBe(true);
    expect(unheard).toEqual([]);
    expect(world.local.sockets.count).toBe(2);
  });
});

it.each(['http', 'socket'] as const)(
  'events that Slack holds back are a warning with their minute, over %s',
  async (kind) => {
    world = await startWorld(kind);
    expect(await world.local.deliver.rateLimited()).toMatchObject({ status: 200, body: '' });
    const minute = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/);
    const warnings = world.log.records.filter(({ level }) => level === 'warn');
    expect(warnings).toMatchObject([{ message: expect.stringContaining('holds back events'), fields: { minute } }]);
  },
);

it('what Bolt is given holds only what was checked: no token, no other kind, no key of a prototype', async () => {
  const strays = JSON.parse(
    '{"event":{},"name":"x","function_data":{},"bot_access_token":"xoxb-1","__proto__":{"a":1}}',
  );
  const known = knownPayload({ ...SHAPES.click?.body, ...strays });
  expect(known.kind).toBe('for-listener');
  const keys = known.kind === 'for-listener' ? Object.keys(known.body) : [];
  expect(keys).toEqual(expect.arrayContaining(['type', 'user', 'channel', 'actions']));
  for (const key of ['event', 'name', 'function_data', 'bot_access_token', '__proto__', 'state']) {
    expect(keys).not.toContain(key);
  }
});
