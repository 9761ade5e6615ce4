import { type Link, openSigned, sign } from './chain.ts';

/**
 * The signed end of a log file, kept in a file beside it: what shows that its tail was cut off. It is written before a
 * batch of records (with `upTo` moved on) and after it (with all of it moved on), so at every moment
 * the log holds the record `last`, which ends at `bytes`, and is not longer than `upTo`.
 */
export interface Head {
  /** Rises by one with every writing. */
  readonly generation: number;
  readonly last: Link;
  readonly bytes: number;
  readonly upTo: number;
}

/** Half a disk sector's worth would do; two slots are written in turn, so one is whole at any time. */
const SLOT_BYTES = 512;
export const HEAD_BYTES = 2 * SLOT_BYTES;

/** Where in its file, and what, to write for this head. */
export function headSlot(key: Uint8Array, head: Head): { readonly position: number; readonly text: string } {
  const { line } = sign(key, 'head', { v: 1, ...head });
  if (Buffer.byteLength(line) >= SLOT_BYTES) throw new RangeError('the name of the chain is too long');
  return { position: (head.generation % 2) * SLOT_BYTES, text: `${line.padEnd(SLOT_BYTES - 1)}\n` };
}

/** The newest head in the file, or undefined when none in it was written with this key. */
export function readHead(key: Uint8Array, file: Buffer): Head | undefined {
  const heads = [0, SLOT_BYTES].flatMap((start) => {
    const line = file
      .subarray(start, start + SLOT_BYTES)
      .toString('latin1')
      .trimEnd();
    const opened = openSigned(key, 'head', Buffer.from(line, 'latin1'));
    return opened.kind === 'genuine' ? [opened.fields as Head] : [];
  });
  return heads.sort((a, b) => b.generation - a.generation)[0];
}
