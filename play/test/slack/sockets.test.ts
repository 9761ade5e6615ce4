import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type LocalSlack, startLocalSlack } from '../../slack/index.ts';
import { outcome, plainClient } from './bolt-app.ts';

let slack: LocalSlack;
const open: WebSocket[] = [];

beforeEach(async () => {
  slack = await startLocalSlack({ rates: { extraPerMinute: 100 } });
});
afterEach(async () => {
  for (const socket of open.splice(0)) socket.terminate();
  await slack.stop();
});

interface Client {
  readonly socket: WebSocket;
  readonly frames: Record<string, unknown>[];
}

/** A bare client that acknowledges everything unless told otherwise. */
async function connect(acknowledge = true): Promise<Client> {
  const { url = '' } = await plainClient(slack, slack.appToken).apps.connections.open();
  const socket = new WebSocket(url);
  open.push(socket);
  const frames: Record<string, unknown>[] = [];
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data)) as Record<string, unknown>;
    frames.push(frame);
    if (acknowledge && frame.envelope_id !== undefined) socket.send(JSON.stringify({ envelope_id: frame.envelope_id }));
  });
  socket.on('error', () => {});
  await Promise.race([once(socket, 'message'), once(socket, 'close')]);
  return { socket, frames };
}

const command = () => slack.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'x' });

it('says hello with the number of connections, and takes an address once', async () => {
  const { frames } = await connect();
  expect(frames[0]).toMatchObject({ type: 'hello', num_connections: 1, connection_info: { app_id: slack.appId } });
  const { url = '' } = await plainClient(slack, slack.appToken).apps.connections.open();
  await once(new WebSocket(url), 'open');
  const again = new WebSocket(url);
  const [error] = await once(again, 'error');
  expect(String(error)).toContain('403');
});

it('an envelope goes to exactly one connection, in turn', async () => {
  const clients = [await connect(), await connect()];
  for (let sent = 0; sent < 4; sent += 1) expect((await command()).error).toBeUndefined();
  expect(clients.map(({ frames }) => frames.filter((frame) => frame.type === 'slash_commands').length)).toEqual([2, 2]);
  const frame = clients[0]?.frames.find((one) => one.type === 'slash_commands');
  expect(frame).toMatchObject({ accepts_response_payload: true, payload: { command: '/kdebug' } });
});

it('ten connections are the most', async () => {
  for (let count = 0; count < 10; count += 1) await connect();
  const eleventh = await connect();
  expect(eleventh.frames).toMatchObject([{ type: 'disconnect', reason: 'too_many_websockets' }]);
  expect(slack.sockets.count).toBe(10);
});

it('a refresh warns, then disconnects; a connection killed under an envelope is a timeout for the sender', async () => {
  const { frames, socket } = await connect();
  await slack.sockets.refresh();
  await once(socket, 'close');
  expect(frames.slice(1).map((frame) => frame.reason)).toEqual(['warning', 'refresh_requested']);
  await slack.until(() => slack.sockets.count === 0);
  const mute = await connect(false);
  mute.socket.on('message', () => slack.sockets.kill());
  expect((await command()).error).toBe('operation_timeout');
  await slack.until(() => slack.sockets.count === 0);
  expect((await slack.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'x', via: 'socket' })).error).toBe(
    'dispatch_failed',
  );
});

it('the handshake and apps.connections.open can be refused', async () => {
  slack.faults.queue({ method: 'apps.connections.open', kind: 'http_500' });
  expect(await outcome(plainClient(slack, slack.appToken).apps.connections.open())).toBe('slack_webapi_http_error');
  slack.faults.queue({ method: 'socket', kind: 'http_409' });
  const { url = '' } = await plainClient(slack, slack.appToken).apps.connections.open();
  const [error] = await once(new WebSocket(url), 'error');
  expect(String(error)).toContain('409');
  await connect();
  slack.sockets.disableLink();
  await slack.until(() => slack.sockets.count === 0);
});

it('a frozen connection is not heard, until it is let go; others are', async () => {
  await connect();
  await connect();
  const thaw = slack.sockets.freeze(0);
  const heard: string[] = [];
  const frozen = command().then(({ status }) => heard.push(`frozen ${status}`));
  await command().then(({ status }) => heard.push(`other ${status}`));
  expect(heard).toEqual(['other 200']);
  thaw();
  await frozen;
  expect(heard).toEqual(['other 200', 'frozen 200']);
});
