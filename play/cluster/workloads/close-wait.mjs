// Never closes its side of connections that the other side has closed: a heap of CLOSE_WAIT sockets.
import { connect, createServer } from 'node:net';

const COUNT = 150;
const forgotten = [];

process.stdin.resume().on('end', () => process.exit(0));
const server = createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('error', () => undefined);
  socket.resume().on('end', () => {
    forgotten.push(socket);
    if (forgotten.length === COUNT) process.stdout.write('ready\n');
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  for (let each = 0; each < COUNT; each += 1) {
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => client.end());
    client.on('error', () => undefined);
  }
});
