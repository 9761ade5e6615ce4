import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Stands between a store and Redis. What comes back can be changed, or cut off; new connections can be refused. */
export class Middle {
  /** Sees every piece of an answer: what goes on to the store, or `cut`: the connection ends, and the answer is lost. */
  onReply: (piece: string) => string | 'cut' = (piece) => piece;
  refusing = false;
  /** Where new connections lead. */
  targetPort: number;
  /** Sees every piece of what is sent. */
  onRequest: (piece: Buffer) => void = () => {};
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(targetPort: number) {
    this.targetPort = targetPort;
    this.#server = createServer((socket) => this.#join(socket));
  }

  static async to(targetPort: number): Promise<Middle> {
    const proxy = new Middle(targetPort);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    return `redis://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #join(near: Socket): void {
    if (this.refusing) {
      near.destroy();
      return;
    }
    const far = connect(this.targetPort, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    near.on('data', (piece) => {
      this.onRequest(piece);
      far.write(piece);
    });
    far.on('data', (piece) => {
      const passed = this.onReply(piece.toString('latin1'));
      if (passed === 'cut') near.destroy();
      else near.write(Buffer.from(passed, 'latin1'));
    });
  }
}
