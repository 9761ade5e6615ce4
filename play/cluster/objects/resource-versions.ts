/** One counter for the whole cluster, as etcd's revision is. */
export class ResourceVersions {
  #current: number;

  constructor(start = 1000) {
    this.#current = start;
  }

  current(): number {
    return this.#current;
  }

  /** As a restore of an older etcd does. */
  setBack(version: number): void {
    this.#current = Math.min(this.#current, version);
  }

  next(): number {
    this.#current += 1;
    return this.#current;
  }
}
