import type { LineKey, Stamp } from './line-identity.ts';

const FIRST_CAPACITY = 1_024;
/** Four seconds of 130,000 lines a second, the most that a container writes; 12 bytes each. */
const MAX_CAPACITY = 512 * 1_024;

/**
 * The identities of the newest delivered lines, in a ring that grows to 6 MiB and then forgets the oldest. A line older
 * than the whole ring counts as delivered.
 */
export class DeliveredLines {
  #seconds = new Uint32Array(FIRST_CAPACITY);
  #nanos = new Uint32Array(FIRST_CAPACITY);
  #hashes = new Int32Array(FIRST_CAPACITY);
  #capacity = FIRST_CAPACITY;
  #next = 0;
  #size = 0;
  #hasForgotten = false;

  push({ seconds, nanos, hash }: LineKey): void {
    if (this.#size === this.#capacity) this.#makeRoom();
    const at = this.#next;
    this.#seconds[at] = seconds;
    this.#nanos[at] = nanos;
    this.#hashes[at] = hash;
    this.#next = at + 1 === this.#capacity ? 0 : at + 1;
    if (this.#size < this.#capacity) this.#size += 1;
  }

  has(line: LineKey): boolean {
    return this.isForgotten(line) || this.#find(line, line.hash);
  }

  hasStamp(stamp: Readonly<Stamp>): boolean {
    return this.isForgotten(stamp) || this.#find(stamp, undefined);
  }

  #find(stamp: Readonly<Stamp>, hash: number | undefined): boolean {
    for (let back = 1; back <= this.#size; back += 1) {
      const at = (this.#next - back + this.#capacity) % this.#capacity;
      if (this.#nanos[at] !== stamp.nanos || this.#seconds[at] !== stamp.seconds) continue;
      if (hash === undefined || this.#hashes[at] === hash) return true;
    }
    return false;
  }

  /** The stamp is older than the whole ring. */
  isForgotten(stamp: Readonly<Stamp>): boolean {
    if (!this.#hasForgotten) return false;
    const oldest = this.#seconds[this.#next] ?? 0;
    return stamp.seconds < oldest || (stamp.seconds === oldest && stamp.nanos < (this.#nanos[this.#next] ?? 0));
  }

  /** A copy of all lines as a set, for removing one at a time: up to 10 MiB. */
  toSet(): LineSet {
    return new LineSet(this.#seconds, this.#nanos, this.#hashes, this.#size);
  }

  #makeRoom(): void {
    if (this.#capacity >= MAX_CAPACITY) {
      this.#hasForgotten = true;
      return;
    }
    // A growing ring has never wrapped around, so the old content stays in place.
    this.#next = this.#capacity;
    this.#capacity *= 2;
    this.#seconds = grown(Uint32Array, this.#seconds, this.#capacity);
    this.#nanos = grown(Uint32Array, this.#nanos, this.#capacity);
    this.#hashes = grown(Int32Array, this.#hashes, this.#capacity);
  }
}

function grown<Words extends Uint32Array | Int32Array>(
  kind: new (length: number) => Words,
  words: Words,
  length: number,
): Words {
  const larger = new kind(length);
  larger.set(words);
  return larger;
}

/** Lines that a second stream will repeat, each as often as it was delivered. Open addressing, no objects. */
export class LineSet {
  readonly #seconds: Uint32Array;
  readonly #nanos: Uint32Array;
  readonly #hashes: Int32Array;
  readonly #mask: number;
  /** Index + 1 of a line; 0: free; -1: removed. */
  readonly #slots: Int32Array;
  /** The latest stamp in the set. */
  readonly latest: Stamp = { seconds: 0, nanos: 0 };

  constructor(seconds: Uint32Array, nanos: Uint32Array, hashes: Int32Array, size: number) {
    this.#seconds = seconds.slice(0, size);
    this.#nanos = nanos.slice(0, size);
    this.#hashes = hashes.slice(0, size);
    const slots = 2 ** Math.ceil(Math.log2(Math.max(16, size * 2)));
    this.#mask = slots - 1;
    this.#slots = new Int32Array(slots);
    for (let index = 0; index < size; index += 1) this.#add(index);
  }

  has(line: LineKey): boolean {
    return this.#find(line) >= 0;
  }

  remove(line: LineKey): boolean {
    const slot = this.#find(line);
    if (slot >= 0) this.#slots[slot] = -1;
    return slot >= 0;
  }

  #add(index: number): void {
    const seconds = this.#seconds[index] ?? 0;
    const nanos = this.#nanos[index] ?? 0;
    let slot = (nanos ^ (this.#hashes[index] ?? 0)) & this.#mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask;
    this.#slots[slot] = index + 1;
    const { latest } = this;
    if (seconds < latest.seconds || (seconds === latest.seconds && nanos <= latest.nanos)) return;
    latest.seconds = seconds;
    latest.nanos = nanos;
  }

  #find(line: LineKey): number {
    let slot = (line.nanos ^ line.hash) & this.#mask;
    for (let slotted = this.#slots[slot] ?? 0; slotted !== 0; slotted = this.#slots[slot] ?? 0) {
      if (slotted > 0 && this.#isAt(slotted - 1, line)) return slot;
      slot = (slot + 1) & this.#mask;
    }
    return -1;
  }

  #isAt(index: number, line: LineKey): boolean {
    return (
      this.#nanos[index] === line.nanos && this.#hashes[index] === line.hash && this.#seconds[index] === line.seconds
    );
  }
}
