import type { ServerResponse } from 'node:http';
import type { PageChange, Snapshot } from '../contract.ts';

/** What may wait for a client that does not read, besides its snapshot. */
const LAG_BYTES = 1024 * 1024;
const MAX_CLIENTS = 32;
const HEARTBEAT_MS = 15_000;

/**
 * The open event streams. A change is written to each at once, as one text made once; what it costs does not grow with
 * what was before. A client that lags is cut off: it comes back by itself and begins with a new snapshot.
 */
export class Hub {
  readonly #clients = new Map<ServerResponse, { readonly limit: number }>();
  readonly #heartbeat = setInterval(() => this.#write(': still here\n\n'), HEARTBEAT_MS).unref();
  #hasBeenWatched = false;

  /** Somebody has looked since the start. */
  get hasBeenWatched(): boolean {
    return this.#hasBeenWatched;
  }

  /** How many look now. */
  get watchers(): number {
    return this.#clients.size;
  }

  /** Streams to this client from now on. The oldest client makes room beyond 32 of them. */
  connect(response: ServerResponse, snapshot: Snapshot): void {
    this.#hasBeenWatched = true;
    const first = `retry: 500\n\n${eventOf('snapshot', snapshot)}`;
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.write(first);
    this.#clients.set(response, { limit: Buffer.byteLength(first) + LAG_BYTES });
    response.on('close', () => this.#clients.delete(response));
    const oldest = this.#clients.keys().next();
    if (this.#clients.size > MAX_CLIENTS && !oldest.done) this.#drop(oldest.value);
  }

  tell(change: PageChange): void {
    if (this.#clients.size > 0) this.#write(eventOf('change', change));
  }

  close(): void {
    clearInterval(this.#heartbeat);
    for (const client of [...this.#clients.keys()]) this.#drop(client);
  }

  #write(text: string): void {
    for (const [client, { limit }] of this.#clients) {
      client.write(text);
      if (client.writableLength > limit) this.#drop(client);
    }
  }

  #drop(client: ServerResponse): void {
    this.#clients.delete(client);
    client.destroy();
  }
}

/** JSON has no line break of its own, so an event is always two lines. */
const eventOf = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
