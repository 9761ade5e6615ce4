import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Bounds a server's connections. At most `most` of them may be strangers, which have brought nothing of Slack's yet: one more, and
 * the oldest stranger is cut off. So idle connections cannot keep Slack out. All together are at most twice as many.
 */
export class Strangers {
  /** In the order in which they came. */
  readonly #sockets = new Set<Socket>();

  constructor(server: Server, most: number) {
    server.maxConnections = 2 * most;
    server.on('connection', (socket: Socket) => {
      const [oldest] = this.#sockets;
      if (this.#sockets.size >= most) oldest?.destroy();
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** It has brought a request of Slack's. */
  vouchFor(socket: Socket): void {
    this.#sockets.delete(socket);
  }
}
