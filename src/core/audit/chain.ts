import { deriveKey, hmacSha256 } from '../hash.ts';
import type { AuditEvent, AuditRecord } from './record.ts';

/** The last written record of a chain. */
export interface Link {
  readonly chain: string;
  /** -1 before the first record. */
  readonly seq: number;
  /** Before the first record: the `mac` of the previous record in the same file, or empty. */
  readonly mac: string;
}

/** The key of the audit log, derived from the sealing key (`KDEBUG_KEY`). It is never written anywhere. */
export const auditKey = (sealingKey: Uint8Array): Buffer => deriveKey(sealingKey, 'kdebug audit key');

/** `CHAIN:SEQ:MAC`, for logs and the command line. */
export const formatLink = ({ chain, seq, mac }: Link): string => `${chain}:${seq}:${mac}`;

export const LINK_FORM = /^[\w.-]+:\d+:[0-9a-f]{64}$/;

/** Parses what `formatLink` wrote; the caller must check it with `LINK_FORM`. */
export function parseLink(text: string): Link {
  const [chain = '', seq, mac = ''] = text.split(':');
  return { chain, seq: Number(seq), mac };
}

export interface Extension {
  /** One record each, without newline. */
  readonly lines: readonly string[];
  readonly link: Link;
}

/** Chains the events to `link`: each record carries the MAC of the one before and a MAC over all of itself. */
export function extendChain(key: Uint8Array, link: Link, events: readonly AuditEvent[]): Extension {
  let last = link;
  const lines = events.map((event) => {
    const seq = last.seq + 1;
    const { line, mac } = sign(key, 'record', unsignedRecord(event, { ...last, seq }));
    last = { chain: last.chain, seq, mac };
    return line;
  });
  return { lines, link: last };
}

const unsignedRecord = (event: AuditEvent, link: Link): Omit<AuditRecord, 'mac'> => ({
  v: 1,
  chain: link.chain,
  seq: link.seq,
  at: new Date(event.atMs).toISOString(),
  step: event.step,
  run: event.runId,
  channel: event.channelId,
  actor: event.actorId,
  facts: event.facts as AuditRecord['facts'],
  prev: link.mac,
});

export type OpenedRecord =
  | { readonly kind: 'unsigned' | 'changed' }
  | { readonly kind: 'genuine'; readonly record: AuditRecord };

/** Reads one line, without its newline. */
export function openRecord(key: Uint8Array, line: Buffer): OpenedRecord {
  const opened = openSigned(key, 'record', line);
  return opened.kind === 'genuine' ? { kind: 'genuine', record: opened.fields as AuditRecord } : opened;
}

/** A record of the log about itself: `genesis` and `end`. */
export const chainEvent = (step: 'genesis' | 'end', atMs: number, facts: AuditEvent['facts']): AuditEvent => ({
  step,
  atMs,
  runId: '',
  channelId: '',
  actorId: '',
  facts,
});

/** The purpose of a signature, so that one kind cannot pass for the other. */
export type Purpose = 'record' | 'head';

const MAC_FIELD = /^,"mac":"[0-9a-f]{64}"\}$/;
const MAC_FIELD_BYTES = ',"mac":"'.length + 64 + '"}'.length;

const macOf = (key: Uint8Array, purpose: Purpose, body: string | Uint8Array): string =>
  hmacSha256(key, `kdebug audit ${purpose}\n`, body);

/** `fields` (at least one) as one line of JSON. Its last field `mac` is the HMAC of every byte before it. */
function sign(key: Uint8Array, purpose: Purpose, fields: object): { readonly line: string; readonly mac: string } {
  const body = JSON.stringify(fields).slice(0, -1);
  const mac = macOf(key, purpose, body);
  return { line: `${body},"mac":"${mac}"}`, mac };
}

/**
 * Reads a line that `sign` made. `unsigned`: it has another form; `changed`: a byte or the key differs. Only a holder
 * of the key can make a `genuine` line, so its fields have the shape that `sign` got.
 */
function openSigned(
  key: Uint8Array,
  purpose: Purpose,
  line: Buffer,
): { readonly kind: 'unsigned' | 'changed' } | { readonly kind: 'genuine'; readonly fields: unknown } {
  const split = line.length - MAC_FIELD_BYTES;
  const field = split > 0 ? line.toString('latin1', split) : '';
  if (!MAC_FIELD.test(field)) return { kind: 'unsigned' };
  const body = line.subarray(0, split);
  if (macOf(key, purpose, body) !== field.slice(',"mac":"'.length, -2)) return { kind: 'changed' };
  return { kind: 'genuine', fields: JSON.parse(line.toString('utf8')) };
}

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
