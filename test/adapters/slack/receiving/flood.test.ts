import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_STRANGERS, MAX_UNVERIFIED_BYTES } from '../../../../src/adapters/slack/limits.ts';
import { inFullOr } from '../../../support/sample.ts';
import { startWorld, type World } from '../harness.ts';

let world: World;
let sockets: Socket[] = [];
beforeEach(async () => {
  world = await startWorld('http');
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await world.stop();
});

const CLAIM = () =>
  `x-slack-signature: v0=${'0'.repeat(64)}\r\nx-slack-request-timestamp: ${Math.floor(Date.now() / 1000)}\r\n`;
const head = (claim: string, length: number): string =>
  `POST /slack/events HTTP/1.1\r\nhost: x\r\n${claim}content-length: ${length}\r\n\r\n`;

async function open(): Promise<Socket> {
  const socket = connect(world.slack.port() ?? 0, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** The status that comes back, or `closed`. */
function status(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (data) => resolve(String(data).split(' ')[1] ?? ''));
    socket.once('close', () => resolve('closed'));
  });
}

/** Sends `bytes` of a body, and leaves the rest of it open. */
function sendBody(socket: Socket, bytes: number): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
    socket.write(Buffer.alloc(bytes, 'x'), () => resolve());
  });
}

/** Within Slack's three seconds, which a busy machine may miss once: ask until it is. */
const isAnswered = async (): Promise<boolean> =>
  (await world.local.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'pod-1' })).status === 200;

describe('what no signature vouches for', () => {
  it.each([
    ['no headers', () => ''],
    ['a signature of another form', () => CLAIM().replace('v0=', 'v1=')],
    ['a time of last week', () => CLAIM().replace(/: \d{10}/, ': 1500000000')],
  ])('with %s is refused before its body comes', async (_what, claim) => {
    const socket = await open();
    const answered = status(socket);
    socket.write(head(claim(), 1_000_000));
    expect(await answered).toBe('401');
  });

  it('with a claim of the right form is read, refused, and not kept', async () => {
    const socket = await open();
    const answered = status(socket);
    socket.write(`${head(CLAIM(), 4)}body`);
    expect(await answered).toBe('401');
  });

  it('of a thousand connections without headers is refused before any of it is kept, and others are answered', async () => {
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, async () => {
        const socket = await open();
        const answered = status(socket);
        socket.write(head('', 1_000_000));
        await sendBody(socket, 60_000);
        return answered;
      }),
    );
    await expect.poll(isAnswered).toBe(true);
    expect(answers.filter((answer) => answer !== '401' && answer !== 'closed')).toEqual([]);
  });

  it('of many connections that claim a signature holds no more than the room, and others are answered', async () => {
    const answers: string[] = [];
    const count = inFullOr(300, 100);
    await Promise.all(
      Array.from({ length: count }, async () => {
        const socket = await open();
        void status(socket).then((answer) => answers.push(answer));
        socket.write(head(CLAIM(), 500_000));
        await sendBody(socket, 400_000);
      }),
    );
    await expect.poll(isAnswered).toBe(true);
    // Whoever has no answer yet has its body in memory.
    await expect.poll(() => (count - answers.length) * 400_000).toBeLessThanOrEqual(MAX_UNVERIFIED_BYTES);
    expect(answers).toContain('503');
    // 408: on a busy machine a body may take longer than the receiver waits. The bound by itself: test/lib/streams/strangers.test.ts.
    expect(answers.filter((answer) => answer !== '503' && answer !== '408')).toEqual([]);
  });

  it('of more idle connections than there may be gives way to who comes', async () => {
    for (let count = 0; count < MAX_STRANGERS; count += 1) await open();
    await expect.poll(isAnswered).toBe(true);
  });
});
