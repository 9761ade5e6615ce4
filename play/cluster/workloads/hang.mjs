// Accepts connections and never answers one.
import { createServer } from 'node:http';

process.stdin.resume().on('end', () => process.exit(0));
const server = createServer(() => undefined);
server.listen(0, '127.0.0.1', () => process.stdout.write('ready\n'));
