// A small healthy web service on a loopback port of the system's choice. Ends when its parent does.
import { createServer } from 'node:http';

process.stdin.resume().on('end', () => process.exit(0));
const server = createServer((_request, response) => response.end('ok\n'));
server.listen(0, '127.0.0.1', () => process.stdout.write('ready\n'));
