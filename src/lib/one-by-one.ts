/** Work that is done one after the other, in the order in which it was given. What fails delays nothing. */
export class OneByOne {
  #last: Promise<unknown> = Promise.resolve();

  /** Settles as `work` does. */
  run<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
