/**
 * Turns of the event loop, one for each who asks, in order: between two pieces of long work everybody else is heard, however
 * many do such work at the same time.
 */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves in a turn of its own. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#last;
  }
}
