import type { Server } from 'node:http';

/** Resolves with the port once the server listens; rejects if it cannot. `port` 0: any free one; without a `host`, every address. */
export async function listen(server: Server, port: number, host?: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
