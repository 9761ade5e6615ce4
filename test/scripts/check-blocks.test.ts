import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { findingsOf, type Payload } from '../../scripts/check-blocks/validate.ts';
import { ALL_PAYLOADS } from '../support/slack-payloads.ts';

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

let server: Server | undefined;
afterEach(() => void server?.close());

/** Answers as the page of `blocks.validate` says, in turn; the last one for ever. */
async function validator(answers: readonly Answer[]) {
  const asked: URLSearchParams[] = [];
  const waited: number[] = [];
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      const answer = answers[Math.min(asked.length, answers.length - 1)];
      asked.push(new URLSearchParams(body));
      response.writeHead(answer?.status ?? 200, answer?.headers).end(JSON.stringify(answer?.body));
    });
  });
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const asking = {
    url: `http://127.0.0.1:${port}/api/blocks.validate`,
    wait: async (ms: number) => void waited.push(ms),
  };
  return { asked, waited, look: (payloads: readonly Payload[]) => findingsOf(payloads, asking) };
}

const MESSAGE: Payload = { name: 'a card', kind: 'message', content: { blocks: [] } };
const VIEW: Payload = { name: 'a form', kind: 'view', content: { type: 'modal' } };

it('asks about each payload by its own argument, a few a second', async () => {
  const { asked, waited, look } = await validator([{ body: { ok: true } }]);
  expect(await look([MESSAGE, VIEW])).toEqual([]);
  expect(asked.map((body) => Object.fromEntries(body))).toEqual([
    { message: '{"blocks":[]}' },
    { view: '{"type":"modal"}' },
  ]);
  expect(waited).toEqual([333, 333]);
});

it('names what Slack refuses, with the place', async () => {
  const errors = [
    { pointer: '/blocks/1/type', code: 'failed_constraint', message: 'unsupported type', constraint: { type: 'enum' } },
  ];
  const { look } = await validator([{ body: { ok: false, error: 'invalid_message', errors } }, { body: { ok: true } }]);
  expect(await look([MESSAGE, VIEW])).toEqual([
    { name: 'a card', problems: ['/blocks/1/type: failed_constraint: unsupported type'] },
  ]);
});

it('waits as long as Slack demands, and asks again', async () => {
  const limited = { status: 429, headers: { 'retry-after': '7' }, body: {} };
  const { asked, waited, look } = await validator([limited, { body: { ok: true } }]);
  expect(await look([MESSAGE])).toEqual([]);
  expect(asked).toHaveLength(2);
  expect(waited).toEqual([7_000, 333]);
});

it.each([
  [
    'refuses the call itself',
    { body: { ok: false, error: 'invalid_arguments' } },
    /does not validate: invalid_arguments/,
  ],
  ['is not Slack', { status: 502, body: 'bad gateway' }, /HTTP 502/],
  ['limits for ever', { status: 429, body: {} }, /still limits/],
])('ends with an error where the other side %s: nothing was checked then', async (_, answer, words) => {
  const { look } = await validator([answer]);
  await expect(look([MESSAGE])).rejects.toThrow(words);
});

it('has every message, form and Home tab, each with a name and below what the method takes', () => {
  expect(ALL_PAYLOADS.length).toBeGreaterThan(300);
  expect(new Set(ALL_PAYLOADS.map(({ name }) => name)).size).toBe(ALL_PAYLOADS.length);
  // "At most 100,000 characters."
  expect(Math.max(...ALL_PAYLOADS.map(({ content }) => JSON.stringify(content).length))).toBeLessThan(100_000);
});
