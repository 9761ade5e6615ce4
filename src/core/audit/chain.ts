import { deriveKey } from '../hash.ts';
import type { AuditRecord, Happening } from './record.ts';
import { openSigned, sign } from './signed.ts';

/** A place in a chain: the record that was written last. */
export interface Link {
  readonly chain: string;
  /** -1 before the first record. */
  readonly seq: number;
  /** Before the first record: that of the record before it in the same file, or empty. */
  readonly mac: string;
}

/** The key of the audit log, from the key that seals (`KDEBUG_KEY`). It is never written anywhere. */
export const auditKey = (sealingKey: Uint8Array): Buffer => deriveKey(sealingKey, 'kdebug audit key');

/** `CHAIN:SEQ:MAC`, for logs and the command line. */
export const formatLink = ({ chain, seq, mac }: Link): string => `${chain}:${seq}:${mac}`;

export const LINK_FORM = /^[\w.-]+:\d+:[0-9a-f]{64}$/;

/** Takes what `formatLink` made and `LINK_FORM` fits. */
export function parseLink(text: string): Link {
  const [chain = '', seq, mac = ''] = text.split(':');
  return { chain, seq: Number(seq), mac };
}

export interface Extension {
  /** One record each, without newline. */
  readonly lines: readonly string[];
  readonly link: Link;
}

/** Chains the happenings to `link`: each record carries the MAC of the one before, and its own over all of it. */
export function extendChain(key: Uint8Array, link: Link, happenings: readonly Happening[]): Extension {
  let last = link;
  const lines = happenings.map((happening) => {
    const seq = last.seq + 1;
    const { line, mac } = sign(key, 'record', unsignedRecord(happening, { ...last, seq }));
    last = { chain: last.chain, seq, mac };
    return line;
  });
  return { lines, link: last };
}

const unsignedRecord = (happening: Happening, place: Link): Omit<AuditRecord, 'mac'> => ({
  v: 1,
  chain: place.chain,
  seq: place.seq,
  at: new Date(happening.atMs).toISOString(),
  step: happening.step,
  run: happening.runId,
  channel: happening.channelId,
  actor: happening.actorId,
  facts: happening.facts as AuditRecord['facts'],
  prev: place.mac,
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
export const ownHappening = (step: 'genesis' | 'end', atMs: number, facts: Happening['facts']): Happening => ({
  step,
  atMs,
  runId: '',
  channelId: '',
  actorId: '',
  facts,
});
