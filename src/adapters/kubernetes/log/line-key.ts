import { HEAD_BYTES } from './line-reader.ts';
import { isSameStamp, type Stamp } from './stamp.ts';

/** What makes a line the same in two readings: its stamp and a hash of its first 256 bytes. */
export interface LineKey extends Readonly<Stamp> {
  readonly hash: number;
}

/** FNV-1a, 32 bits. Stamps have nine digits and never repeated in 17.5 million lines; the hash tells apart those that do. */
export const EMPTY_HASH = 0x811c9dc5 | 0;
const PRIME = 0x01000193;

/** Goes on hashing at `hash`. */
export function hashOn(hash: number, bytes: Buffer, from: number, to: number): number {
  let value = hash;
  for (let at = from; at < to; at += 1) value = Math.imul(value ^ (bytes[at] ?? 0), PRIME);
  return value;
}

export const hashHead = (bytes: Buffer, from: number, to: number): number =>
  hashOn(EMPTY_HASH, bytes, from, Math.min(to, from + HEAD_BYTES));

export const isSameLine = (a: LineKey, b: LineKey): boolean => a.hash === b.hash && isSameStamp(a, b);
