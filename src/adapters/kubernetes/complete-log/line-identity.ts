/** The time at which the runtime wrote a line, to the nanosecond (a double cannot hold both numbers). */
export interface Stamp {
  seconds: number;
  nanos: number;
}

/** `2026-01-02T03:04:05.123456789Z ` */
const UTC_LENGTH = 31;
/** `2026-01-02T03:04:05.123456789+01:00 ` */
const OFFSET_LENGTH = 36;
const DIGITS = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 22, 23, 24, 25, 26, 27, 28] as const;
const MARKS = [4, 7, 10, 13, 16, 19] as const;
const MARK_BYTES = Buffer.from('--T::.');
const PLUS = 0x2b;
const MINUS = 0x2d;
const SPACE = 0x20;
const Z = 0x5a;

/** Results of `read`: no stamp, or too few bytes to know. */
export const NO_STAMP = 0;
export const NEEDS_MORE = -1;

const byte = (bytes: Buffer, at: number): number => bytes[at] ?? 0;
const two = (bytes: Buffer, at: number): number => byte(bytes, at) * 10 + byte(bytes, at + 1) - 528;
const three = (bytes: Buffer, at: number): number =>
  byte(bytes, at) * 100 + byte(bytes, at + 1) * 10 + byte(bytes, at + 2) - 5_328;

/**
 * Reads the kubelet's stamps (RFC 3339 with nine digits, types.RFC3339NanoFixed), one per line, by position and without
 * creating strings. Caches the start of the day between lines.
 */
export class StampReader {
  /** The latest stamp; the next one overwrites it. */
  readonly stamp: Stamp = { seconds: 0, nanos: 0 };
  #day = -1;
  #daySeconds = 0;

  /** The length of the stamp at `at` with the space after it, `NO_STAMP`, or `NEEDS_MORE`. */
  read(bytes: Buffer, at: number): number {
    const available = bytes.length - at;
    if (available < UTC_LENGTH) return looksLikeStamp(bytes, at, available) ? NEEDS_MORE : NO_STAMP;
    if (!hasMarks(bytes, at)) return NO_STAMP;
    const zone = byte(bytes, at + 29);
    if (zone === Z && byte(bytes, at + 30) === SPACE) {
      this.#set(bytes, at, 0);
      return UTC_LENGTH;
    }
    if (zone !== PLUS && zone !== MINUS) return NO_STAMP;
    if (available < OFFSET_LENGTH) return NEEDS_MORE;
    const offset = two(bytes, at + 30) * 3_600 + two(bytes, at + 33) * 60;
    this.#set(bytes, at, zone === PLUS ? -offset : offset);
    return OFFSET_LENGTH;
  }

  #set(bytes: Buffer, at: number, shiftSeconds: number): void {
    const year = two(bytes, at) * 100 + two(bytes, at + 2);
    const day = year * 10_000 + two(bytes, at + 5) * 100 + two(bytes, at + 8);
    if (day !== this.#day) {
      this.#day = day;
      this.#daySeconds = Date.UTC(year, two(bytes, at + 5) - 1, two(bytes, at + 8)) / 1_000;
    }
    const time = two(bytes, at + 11) * 3_600 + two(bytes, at + 14) * 60 + two(bytes, at + 17);
    this.stamp.seconds = this.#daySeconds + time + shiftSeconds;
    this.stamp.nanos = three(bytes, at + 20) * 1_000_000 + three(bytes, at + 23) * 1_000 + three(bytes, at + 26);
  }
}

const hasMarks = (bytes: Buffer, at: number): boolean =>
  byte(bytes, at + 4) === MINUS &&
  byte(bytes, at + 7) === MINUS &&
  byte(bytes, at + 10) === 0x54 &&
  byte(bytes, at + 13) === 0x3a &&
  byte(bytes, at + 16) === 0x3a &&
  byte(bytes, at + 19) === 0x2e;

/** These bytes are too few for a stamp, but could begin one. */
function looksLikeStamp(bytes: Buffer, at: number, available: number): boolean {
  const digitsFit = DIGITS.every(
    (index) => index >= available || (byte(bytes, at + index) >= 48 && byte(bytes, at + index) <= 57),
  );
  return (
    digitsFit && MARKS.every((offset, index) => offset >= available || byte(bytes, at + offset) === MARK_BYTES[index])
  );
}

/** Milliseconds since 1970. */
export const toMs = ({ seconds, nanos }: Stamp): number => seconds * 1_000 + nanos / 1_000_000;

/** The time from `a` to `b`, in milliseconds. */
export const stepMs = (a: Stamp, b: Stamp): number => (b.seconds - a.seconds) * 1_000 + (b.nanos - a.nanos) / 1_000_000;

export const isSameStamp = (a: Stamp, b: Stamp): boolean => a.nanos === b.nanos && a.seconds === b.seconds;

/** RFC 3339 with nine digits, in UTC. */
export const formatStamp = ({ seconds, nanos }: Stamp): string =>
  `${new Date(seconds * 1_000).toISOString().slice(0, 19)}.${String(nanos).padStart(9, '0')}Z`;

/** This much of a line's content belongs to its identity. */
export const HEAD_BYTES = 256;

/** Identifies a line in two readings: its stamp and a hash of its first 256 bytes. */
export interface LineKey extends Readonly<Stamp> {
  readonly hash: number;
}

/**
 * FNV-1a, 32 bits. Stamps have nine digits and never repeated in 17.5 million lines; the hash separates lines whose
 * stamps do.
 */
export const EMPTY_HASH = 0x811c9dc5 | 0;
const PRIME = 0x01000193;

/** Continues the hash `hash`. */
export function hashOn(hash: number, bytes: Buffer, from: number, to: number): number {
  let value = hash;
  for (let at = from; at < to; at += 1) value = Math.imul(value ^ (bytes[at] ?? 0), PRIME);
  return value;
}

export const hashHead = (bytes: Buffer, from: number, to: number): number =>
  hashOn(EMPTY_HASH, bytes, from, Math.min(to, from + HEAD_BYTES));

export const isSameLine = (a: LineKey, b: LineKey): boolean => a.hash === b.hash && isSameStamp(a, b);

const TAIL_BYTES = 256;
/** A shorter end proves nothing: many lines end in "ok". */
const IDENTITY_BYTES = 8;

/** The length of a line's content and its last 256 bytes, without copying what one piece holds. */
export class LineEnd {
  length = 0;
  #bytes: Buffer = Buffer.alloc(0);
  #from = 0;
  #to = 0;

  reset(): void {
    this.length = 0;
  }

  add(bytes: Buffer, from: number, to: number): void {
    const start = Math.max(from, to - TAIL_BYTES);
    if (this.length === 0 || to - start === TAIL_BYTES) {
      this.#bytes = bytes;
      this.#from = start;
      this.#to = to;
    } else {
      this.#bytes = Buffer.concat([this.#tail(), bytes.subarray(start, to)]);
      this.#to = this.#bytes.length;
      this.#from = Math.max(0, this.#to - TAIL_BYTES);
    }
    this.length += to - from;
  }

  /** This longer line ends as `rest` does, so `rest` may be its second half. */
  mayEndWith(rest: LineEnd): boolean {
    if (rest.length < IDENTITY_BYTES || rest.length >= this.length) return false;
    const [tail, other] = [this.#tail(), rest.#tail()];
    const compared = Math.min(tail.length, other.length);
    return tail.subarray(-compared).equals(other.subarray(-compared));
  }

  #tail(): Buffer {
    return this.#bytes.subarray(this.#from, this.#to);
  }
}

/** The line being delivered, or delivered last: its identity and its end so far. */
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

  /** True if a line that begins with `head` is this one again, as far as this one has come. */
  isBeginningOf(stamp: Stamp, head: Buffer): boolean {
    if (!isSameStamp(stamp, this) || head.length < this.#hashed) return false;
    return hashOn(EMPTY_HASH, head, 0, this.#hashed) === this.hash;
  }
}
