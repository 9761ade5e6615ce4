/** One counter for the whole cluster, as etcd's revision is. */
export class ResourceVersions {
  #current: number;

  constructor(start = 1000) {
    this.#current = start;
  }

  current(): number {
    return this.#current;
  }

  next(): number {
    this.#current += 1;
    return this.#current;
  }
}
