// Listens and hangs before it accepts anything: its clients wait in a full queue.
import { connect, createServer } from 'node:net';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

const BACKLOG = 32;
const CLIENTS = 40;

function hang() {
  const server = createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
}

function callInVain(port) {
  let connected = 0;
  for (let each = 0; each < CLIENTS; each += 1) {
    const client = connect(port, '127.0.0.1', () => {
      connected += 1;
      if (connected === BACKLOG) process.stdout.write('ready\n');
    });
    client.on('error', () => undefined);
  }
}

if (isMainThread) {
  process.stdin.resume().on('end', () => process.exit(0));
  new Worker(new URL(import.meta.url)).on('message', callInVain);
} else hang();
