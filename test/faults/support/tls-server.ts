import { once } from 'node:events';
import { createServer } from 'node:https';
import { kubeconfigOf } from '../../../play/cluster/api/certificates.ts';

export interface TlsServer {
  /** Trusts its certificate as an authority. */
  readonly kubeconfig: string;
  close(): Promise<void>;
}

/** An API server of which nothing is ever seen but its certificate. */
export async function aTlsServer(
  certificate: () => Promise<{ readonly private: string; readonly cert: string }>,
): Promise<TlsServer> {
  const { private: key, cert } = await certificate();
  const server = createServer({ key, cert }, (_, response) => response.writeHead(500).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    kubeconfig: kubeconfigOf(`https://localhost:${port}`, cert, { user: 'admin', token: 'token' }),
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
