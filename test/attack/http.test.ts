import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { expect } from 'vitest';
import { signedRequest } from '../../play/slack/deliver/signed.ts';
import { attack } from './support/attack.ts';
import type { AttackWorld } from './support/world.ts';

const MIB = 1_024 * 1_024;
/** What the bot may hold of bodies that nobody has signed, and its heap's noise, which was seen to reach 130 MiB on a busy machine. */
const MAX_HELD_BYTES = 144 * MIB;

interface Flood {
  readonly connections: number;
  /** Of each body, all but the last byte of what its head announces. */
  readonly bytes: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends bodies that never end, and looks for three seconds at what the bot holds and whom it has answered. */
async function flood(world: AttackWorld, { connections, bytes, headers = {} }: Flood) {
  const { hostname, port, pathname } = new URL(world.bot.url ?? '');
  const fields = { host: hostname, 'content-type': 'application/json', 'content-length': bytes + 1, ...headers };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const body = Buffer.alloc(bytes, 'x');
  let answered = 0;
  const sockets: Socket[] = [];
  const before = (await world.cost()).bytes;
  let held = 0;
  for (let at = 0; at < connections; at += 1) {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    const isOver = new Promise<void>((resolve) => {
      socket.on('error', () => resolve()).on('close', () => resolve());
      socket.once('data', () => resolve());
    });
    void isOver.then(() => {
      answered += 1;
    });
    socket.write(`POST ${pathname} HTTP/1.1\r\n${head.join('')}\r\n`);
    socket.write(body);
    // Others have their turn: this process is the local Slack's as well.
    if (at % 20 === 0) await pause(1);
  }
  for (let look = 0; look < 6; look += 1) {
    await pause(500);
    held = Math.max(held, (await world.cost()).bytes - before);
  }
  for (const socket of sockets) socket.destroy();
  return { held, answered };
}

attack(
  11,
  '1,000 connections without a header of Slack are answered before their bodies are read',
  async ({ open, othersAreAnswered }) => {
    const world = await open();
    await othersAreAnswered(world, async () => {
      const { held, answered } = await flood(world, { connections: 1_000, bytes: 300 * 1_024 });
      expect(answered).toBe(1_000);
      expect(held).toBeLessThan(MAX_HELD_BYTES);
    });
  },
);

attack(
  11,
  'bodies whose signature is well formed and wrong are held up to a bound',
  async ({ open, othersAreAnswered }) => {
    const world = await open();
    await othersAreAnswered(world, async () => {
      const headers = {
        'x-slack-request-timestamp': String(Math.floor(Date.now() / 1_000)),
        'x-slack-signature': `v0=${'ab'.repeat(32)}`,
      };
      const { held } = await flood(world, { connections: 250, bytes: MIB - 1, headers });
      expect(held).toBeLessThan(MAX_HELD_BYTES);
    });
  },
);

const MALFORMED = {
  'JSON null': { type: 'application/json', body: 'null' },
  'a JSON list': { type: 'application/json', body: '[1]' },
  'half a document': { type: 'application/json', body: '{"type":' },
  '500,000 brackets': { type: 'application/json', body: '['.repeat(500_000) },
  'a form without fields': { type: 'application/x-www-form-urlencoded', body: '' },
  'a payload that is no JSON': { type: 'application/x-www-form-urlencoded', body: 'payload=%7B' },
  'a payload that is a list': { type: 'application/x-www-form-urlencoded', body: 'payload=%5B%5D' },
  'a payload without a team': {
    type: 'application/x-www-form-urlencoded',
    body: 'payload=%7B%22type%22%3A%22block_actions%22%7D',
  },
  'a view without a state': {
    type: 'application/x-www-form-urlencoded',
    body: 'payload=%7B%22type%22%3A%22view_submission%22%2C%22view%22%3Anull%7D',
  },
};

attack('point 9', 'signed but malformed requests get 400, not 500', async ({ open }) => {
  const world = await open();
  const dispatcher = new Agent();
  const wrong: string[] = [];
  for (const [kind, content] of Object.entries(MALFORMED)) {
    const signed = signedRequest(world.slack.signingSecret, Date.now(), content, {});
    const answer = await request(world.bot.url ?? '', { method: 'POST', ...signed, dispatcher });
    await answer.body.text();
    if (answer.statusCode >= 500) wrong.push(`${kind}: ${answer.statusCode}`);
  }
  await dispatcher.close();
  expect(wrong).toEqual([]);
});
