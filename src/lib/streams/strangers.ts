import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * At most `most` connections may be strangers, without a verified request: one more, and the oldest stranger is cut off. So idle
 * connections cannot keep those out who can prove who they are. All together are at most twice as many.
 */
export class Strangers {
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

  vouchFor(socket: Socket): void {
    this.#sockets.delete(socket);
  }
}
