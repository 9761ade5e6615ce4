// What a pod has around it in any cluster and not on a test machine: its DNS, and an API server that takes connections.
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

const NAMES = { 'kubernetes.default.svc.cluster.local': [10, 96, 0, 1] };
const [A, NO_SUCH_NAME, RESPONSE] = [1, 3, 0x8580];

function answerTo(query) {
  const labels = [];
  let at = 12;
  for (let length = query[at]; length > 0; length = query[at]) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  const end = at + 5;
  const address = NAMES[labels.join('.')];
  const isAnswered = address !== undefined && query.readUInt16BE(at + 1) === A;
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(RESPONSE + (address === undefined ? NO_SUCH_NAME : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(isAnswered ? 1 : 0, 6);
  const record = isAnswered ? Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 30, 0, 4, ...address]) : Buffer.alloc(0);
  return Buffer.concat([head, query.subarray(12, end), record]);
}

const dns = createSocket('udp4', (query, { address, port }) => dns.send(answerTo(query), port, address));
dns.bind(53, '127.0.0.1');

const listen = (port, onData) =>
  createServer((socket) => socket.on('error', () => undefined).on('data', (data) => onData(socket, data))).listen(
    port,
    '127.0.0.1',
  );
// Over TCP, two bytes with its length stand before each message.
listen(53, (socket, data) => {
  const answer = answerTo(data.subarray(2));
  socket.end(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 255]), answer]));
});
listen(6443, (socket) => socket.end());
