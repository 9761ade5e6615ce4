interface Held {
  readonly owner: string;
  readonly fence: number;
}

/**
 * The leases whose answers arrived here; only these are renewed. A lease whose answer got lost lapses, and another
 * replica adopts the run, instead of a holder that does not know of it.
 */
export class HeldLeases {
  readonly #held = new Map<string, Held>();

  add(id: string, owner: string, fence: number): void {
    this.#held.set(id, { owner, fence });
  }

  /** Drops the lease, unless a newer one exists. */
  drop(id: string, fence: number): void {
    if (this.#held.get(id)?.fence === fence) this.#held.delete(id);
  }

  of(owner: string): readonly { readonly id: string; readonly fence: number }[] {
    return [...this.#held].flatMap(([id, held]) => (held.owner === owner ? [{ id, fence: held.fence }] : []));
  }
}
