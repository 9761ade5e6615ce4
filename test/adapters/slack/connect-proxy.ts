import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

const REQUEST_LINE = /(?:GET|POST) (\/[^ ?]*)[^ ]* HTTP\/1\.1\r\n/g;

/** An HTTP proxy on this machine that knows CONNECT only and notes what passes: the local Slack speaks in the clear. */
export class ConnectProxy {
  /** Paths of all requests inside of the tunnels. */
  readonly paths: string[] = [];
  /** `Proxy-Authorization` of each CONNECT. */
  readonly authorizations: (string | undefined)[] = [];
  /** What it answers instead of a tunnel. */
  refusal: string | undefined;
  readonly #server = createServer();
  readonly #sockets = new Set<Socket>();

  static async start(): Promise<ConnectProxy> {
    const proxy = new ConnectProxy();
    proxy.#server.on('connect', (request, socket) => proxy.#tunnel(request, socket as Socket));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get tunnels(): number {
    return this.authorizations.length;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #tunnel({ url = '', headers }: IncomingMessage, inner: Socket): void {
    this.authorizations.push(headers['proxy-authorization']);
    inner.on('error', () => inner.destroy());
    this.#sockets.add(inner);
    if (this.refusal !== undefined) {
      inner.end(`HTTP/1.1 ${this.refusal}\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${url}`);
    const outer = connect(Number(port), hostname, () => inner.write('HTTP/1.1 200 Connection established\r\n\r\n'));
    this.#sockets.add(outer);
    outer.on('error', () => inner.destroy());
    outer.on('close', () => inner.destroy());
    inner.on('close', () => outer.destroy());
    inner.on('data', (bytes) => {
      for (const [, path = ''] of bytes.toString('latin1').matchAll(REQUEST_LINE)) this.paths.push(path);
    });
    inner.pipe(outer).pipe(inner);
  }
}
