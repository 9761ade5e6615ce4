import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request, type Server } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { generate } from 'selfsigned';

/** A place in a conversation with the API server. */
export interface Barrier {
  readonly method: 'GET' | 'PATCH' | 'POST';
  /** Of path and query. */
  readonly path: RegExp;
  /** `before`: it never reaches the API server; `after`: it is done, and nobody hears of it; a number: so many bytes of the answer come through. */
  readonly at: 'before' | 'after' | number;
}

interface Armed {
  readonly barrier: Barrier;
  readonly reached: () => void;
}

/**
 * Stands between the program and a real API server, as its administrator. What a barrier stops stays stopped until the client is
 * gone; every barrier stops one request.
 */
export class ApiProxy {
  /** The text of a kubeconfig whose one context, `proxied`, leads here. */
  readonly kubeconfig: string;
  readonly #server: Server;
  readonly #upstream: { readonly url: URL; readonly agent: Agent };
  #armed: readonly Armed[] = [];

  private constructor(server: Server, certificate: string, upstream: { url: URL; agent: Agent }) {
    this.#server = server;
    this.#upstream = upstream;
    server.on('request', (asked, answer) => this.#pass(asked, answer));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const config = new KubeConfig();
    const caData = Buffer.from(certificate).toString('base64');
    config.loadFromClusterAndUser(
      { name: 'proxied', server: `https://127.0.0.1:${port}`, caData, skipTLSVerify: false },
      { name: 'proxied', token: 'none' },
    );
    config.contexts = [{ name: 'proxied', cluster: 'proxied', user: 'proxied' }];
    config.setCurrentContext('proxied');
    this.kubeconfig = config.exportConfig();
  }

  /** `kubeconfig`: the text of the administrator's, with a client certificate or a token in it. */
  static async to(kubeconfig: string): Promise<ApiProxy> {
    const config = new KubeConfig();
    config.loadFromString(kubeconfig);
    const tls: { headers: Record<string, string>; ca?: Buffer; cert?: Buffer; key?: Buffer } = { headers: {} };
    await config.applyToHTTPSOptions(tls);
    const { ca, cert, key } = tls;
    const agent = new Agent({ keepAlive: true, maxSockets: 200, ca, cert, key });
    const made = await generate([{ name: 'commonName', value: 'proxy' }], {
      keyType: 'ec',
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
      ],
    });
    const server = createServer({ key: made.private, cert: made.cert });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ApiProxy(server, made.cert, { url: new URL(config.getCurrentCluster()?.server ?? ''), agent });
  }

  /** Resolves when a request stands at the barrier. */
  stopAt(barrier: Barrier): Promise<void> {
    return new Promise((reached) => {
      this.#armed = [...this.#armed, { barrier, reached }];
    });
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    this.#upstream.agent.destroy();
    await closed;
  }

  #armedFor({ method, url = '' }: IncomingMessage): Armed | undefined {
    const found = this.#armed.find(({ barrier }) => barrier.method === method && barrier.path.test(url));
    if (found) this.#armed = this.#armed.filter((one) => one !== found);
    return found;
  }

  #pass(asked: IncomingMessage, answer: ServerResponse): void {
    const armed = this.#armedFor(asked);
    if (armed?.barrier.at === 'before') {
      asked.resume().once('end', armed.reached);
      return;
    }
    const { authorization: _none, host: _ours, ...headers } = asked.headers;
    const { url, agent } = this.#upstream;
    const sent = request(new URL(asked.url ?? '/', url), { method: asked.method, headers, agent }, (got) =>
      armed ? stop(got, answer, armed) : relay(got, answer),
    );
    sent.on('error', () => answer.destroy());
    answer.on('close', () => sent.destroy());
    asked.pipe(sent);
  }
}

function relay(got: IncomingMessage, answer: ServerResponse): void {
  answer.writeHead(got.statusCode ?? 502, got.headers);
  // A watch may have nothing to say for a long time: that it is open is an answer, too.
  answer.flushHeaders();
  got.pipe(answer);
}

function stop(got: IncomingMessage, answer: ServerResponse, { barrier, reached }: Armed): void {
  if (barrier.at === 'after' || barrier.at === 'before') {
    got.resume().once('end', reached);
    return;
  }
  let left = barrier.at;
  const { 'content-length': _all, ...headers } = got.headers;
  answer.writeHead(got.statusCode ?? 502, headers);
  got.on('data', (piece: Buffer) => {
    if (left <= 0) return;
    answer.write(piece.subarray(0, left));
    left -= piece.length;
    if (left <= 0) reached();
  });
}
