import { LineEnd } from './line-end.ts';
import { EMPTY_HASH, hashOn, type LineKey } from './line-key.ts';
import { HEAD_BYTES } from './line-reader.ts';
import { isSameStamp, type Stamp } from './stamp.ts';

/** The line that is being delivered, or was delivered last: its identity as it grows, and how it ends so far. */
export class OpenLine implements LineKey {
  seconds = 0;
  nanos = 0;
  hash = EMPTY_HASH;
  readonly end = new LineEnd();
  #hashed = 0;

  start(stamp: Stamp): void {
    this.seconds = stamp.seconds;
    this.nanos = stamp.nanos;
    this.hash = EMPTY_HASH;
    this.#hashed = 0;
    this.end.reset();
  }

  add(bytes: Buffer, from: number, to: number): void {
    if (this.#hashed < HEAD_BYTES) {
      const end = Math.min(to, from + HEAD_BYTES - this.#hashed);
      this.hash = hashOn(this.hash, bytes, from, end);
      this.#hashed += end - from;
    }
    this.end.add(bytes, from, to);
  }

  /** Whether a line that begins with `head` is this one again, as far as this one has come. */
  isBeginningOf(stamp: Stamp, head: Buffer): boolean {
    if (!isSameStamp(stamp, this) || head.length < this.#hashed) return false;
    return hashOn(EMPTY_HASH, head, 0, this.#hashed) === this.hash;
  }
}
