/** One lease that this process knows it has. */
interface Held {
  readonly owner: string;
  readonly fence: number;
}

/**
 * The leases whose answers arrived here. Only these are renewed: one that was given while its answer got lost lapses by itself,
 * and the run is adopted, instead of being held by somebody who does not know it.
 */
export class HeldLeases {
  readonly #held = new Map<string, Held>();

  add(id: string, owner: string, fence: number): void {
    this.#held.set(id, { owner, fence });
  }

  /** Drops the lease, unless there is a newer one by now. */
  drop(id: string, fence: number): void {
    if (this.#held.get(id)?.fence === fence) this.#held.delete(id);
  }

  of(owner: string): readonly { readonly id: string; readonly fence: number }[] {
    return [...this.#held].flatMap(([id, held]) => (held.owner === owner ? [{ id, fence: held.fence }] : []));
  }
}
