/**
 * Bytes to filter in one turn of the event loop. The slowest logs take about 0.5 µs a byte, and a held-back line of up
 * to 64 KiB may come on top.
 */
export const PIECE_BYTES = 16 * 1024;

/** Gives out turns of the event loop, in order, so that other work runs between two pieces of long work. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves in a separate turn. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#last;
  }
}

/** Cuts the bytes of one log into pieces of a turn each, wherever their chunks end. */
export class Pieces {
  readonly #turns: Turns;
  #sinceTurn = 0;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** Calls `work` with each piece, after it is done with the one before. */
  async each(bytes: Buffer, work: (piece: Buffer) => Promise<void> | void): Promise<void> {
    for (let from = 0; from < bytes.length; ) {
      if (this.#sinceTurn >= PIECE_BYTES) {
        await this.#turns.next();
        this.#sinceTurn = 0;
      }
      const piece = bytes.subarray(from, from + PIECE_BYTES - this.#sinceTurn);
      from += piece.length;
      this.#sinceTurn += piece.length;
      await work(piece);
    }
  }
}
