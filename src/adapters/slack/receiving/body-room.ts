/** What one unverified body holds. */
export interface BodyPlace {
  /** It holds `bytes` now. May call `onEvicted` of any place, this one too, before it returns. */
  hold(bytes: number): void;
  /** It holds nothing any more and is never evicted. Repeatable. */
  leave(): void;
}

interface Held {
  bytes: number;
  readonly onEvicted: () => void;
}

/**
 * Memory for bodies that nobody vouches for yet: together at most `mostBytes`. When it is full, whoever holds most gives way: so
 * of N bodies one that holds less than `mostBytes / N` always stays, however slowly or widely the others send.
 */
export class BodyRoom {
  readonly #mostBytes: number;
  readonly #places = new Set<Held>();
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** `onEvicted` is called once at most, when this one has to give way; it holds nothing any more then. */
  enter(onEvicted: () => void): BodyPlace {
    const held: Held = { bytes: 0, onEvicted };
    this.#places.add(held);
    return {
      hold: (bytes) => this.#hold(held, bytes),
      leave: () => this.#remove(held),
    };
  }

  #hold(held: Held, bytes: number): void {
    if (!this.#places.has(held)) return;
    this.#bytes += bytes - held.bytes;
    held.bytes = bytes;
    while (this.#bytes > this.#mostBytes) this.#evictLargest();
  }

  #evictLargest(): void {
    let largest: Held | undefined;
    for (const held of this.#places) if (!largest || held.bytes > largest.bytes) largest = held;
    if (!largest) return;
    this.#remove(largest);
    largest.onEvicted();
  }

  #remove(held: Held): void {
    if (this.#places.delete(held)) this.#bytes -= held.bytes;
  }
}
