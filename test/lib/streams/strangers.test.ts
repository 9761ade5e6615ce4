import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Strangers } from '../../../src/lib/streams/strangers.ts';

const MOST = 3;

let server: Server;
let strangers: Strangers;
const sockets: Socket[] = [];
beforeEach(async () => {
  // No time of its own ends a connection.
  server = createServer({ headersTimeout: 0, requestTimeout: 0 });
  strangers = new Strangers(server, MOST);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close();
  await once(server, 'close');
});

/** Both ends of a new connection; `isCut` resolves when the server has ended it. */
async function open() {
  const accepted = once(server, 'connection');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined);
  const isCut = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  const [peer] = (await accepted) as [Socket];
  return { socket, peer, isCut };
}

it('one stranger more than there may be cuts off the oldest, and no other', async () => {
  const oldest = await open();
  const others = [await open(), await open()];
  const newest = await open();
  await oldest.isCut;
  for (const { peer } of [...others, newest]) expect(peer.destroyed).toBe(false);
});

it('who has proved who they are is not cut off', async () => {
  const oldest = await open();
  strangers.vouchFor(oldest.peer);
  const next = await open();
  for (let count = 0; count < MOST; count += 1) await open();
  await next.isCut;
  expect(oldest.peer.destroyed).toBe(false);
});

it('a stranger who left makes room', async () => {
  const gone = await open();
  const others = [await open(), await open()];
  const closed = once(gone.peer, 'close');
  gone.socket.destroy();
  await closed;
  const newest = await open();
  for (const { peer } of [...others, newest]) expect(peer.destroyed).toBe(false);
});
