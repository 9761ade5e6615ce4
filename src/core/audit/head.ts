import { type Link, openSigned, sign } from './chain.ts';

/**
 * The signed end of a log file, kept in a file beside it; it reveals a cut tail. It is written before a batch of
 * records (with a new `upTo`) and after it (with all fields new), so at every moment the log contains the record
 * `last`, which ends at `bytes`, and is not longer than `upTo`.
 */
export interface Head {
  /** Grows by one with every write. */
  readonly generation: number;
  readonly last: Link;
  readonly bytes: number;
  readonly upTo: number;
}

/** The size of a disk sector. Two slots are written in turn, so one of them is whole at any time. */
const SLOT_BYTES = 512;
export const HEAD_BYTES = 2 * SLOT_BYTES;

/** The text to write for this head, and its position in the file. */
export function headSlot(key: Uint8Array, head: Head): { readonly position: number; readonly text: string } {
  const { line } = sign(key, 'head', { v: 1, ...head });
  if (Buffer.byteLength(line) >= SLOT_BYTES) throw new RangeError('the name of the chain is too long');
  return { position: (head.generation % 2) * SLOT_BYTES, text: `${line.padEnd(SLOT_BYTES - 1)}\n` };
}

/** The newest head in the file; undefined if none was written with this key. */
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
