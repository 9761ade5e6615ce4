import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

/**
 * Unpacks gzip as a stream, off the event loop. `accept` gets the pieces of at most 16 KiB in order, each after it is done
 * with the last; if it throws, the unpacking stops at once, whatever the packed bytes still hold.
 */
export class Gunzip {
  readonly #stream = createGunzip();
  readonly #done: Promise<void>;
  #wake: () => void = () => {};

  constructor(accept: (piece: Buffer) => Promise<void> | void) {
    this.#done = pipeline(this.#stream, async (pieces: AsyncIterable<Buffer>) => {
      for await (const piece of pieces) await accept(piece);
    });
    const over = (): void => this.#wake();
    this.#done.then(over, over);
  }

  /** One at a time. Resolves when it wants more, at once after it has stopped; `end` tells how it went. */
  write(packed: Uint8Array): Promise<void> {
    if (this.#stream.destroyed || this.#stream.writableEnded) return Promise.resolve();
    return new Promise((resolve) => {
      // A stream that fails forgets the callback of the write it was at.
      this.#wake = resolve;
      this.#stream.write(packed, () => resolve());
    });
  }

  /** Resolves when all is taken. Rejects when the packed bytes are not gzip or not whole, or with what `accept` threw. */
  async end(): Promise<void> {
    if (!this.#stream.destroyed) this.#stream.end();
    await this.#done;
  }

  /** Drops the rest. */
  stop(): void {
    this.#stream.destroy();
  }
}
