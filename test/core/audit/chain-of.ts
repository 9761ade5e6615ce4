import { auditKey, chainEvent, extendChain, type Link } from '../../../src/core/audit/chain.ts';
import { type Line, linesOf } from '../../../src/core/audit/lines.ts';
import { type AuditEvent, cleanAuditEvent } from '../../../src/core/audit/record.ts';
import { START_MS } from '../../support/builders.ts';

export const SEALING_KEY = Buffer.alloc(32, 7);
export const KEY = auditKey(SEALING_KEY);

export const aHappening = (index: number, facts: AuditEvent['facts'] = {}): AuditEvent => ({
  step: 'request',
  atMs: START_MS + index,
  runId: `run${index}`,
  channelId: 'C0SHOP',
  actorId: 'U0ROY',
  facts: { command: `pod-${index} --image=debian`, index, ...facts },
});

export interface Started {
  readonly chain?: string;
  /** Of the file so far. */
  readonly after?: Link;
  readonly destination?: 'file' | 'stdout';
  readonly facts?: AuditEvent['facts'];
  readonly end?: boolean;
}

/** The records of one start: genesis, then one for each happening. */
export function aChain(happenings: readonly AuditEvent[], started: Started = {}) {
  const { chain = 'bot-1', after, destination = 'file', facts = {}, end = false } = started;
  const genesis = chainEvent('genesis', START_MS, { destination, ...facts });
  const all = [genesis, ...happenings.map((each) => cleanAuditEvent(each, []))];
  if (end) all.push(chainEvent('end', START_MS, {}));
  return extendChain(KEY, { chain, seq: -1, mac: after?.mac ?? '' }, all);
}

export const someHappenings = (count: number): AuditEvent[] =>
  Array.from({ length: count }, (_, index) => aHappening(index));

/** The file as its reader sees it. */
export async function* fileOf(data: Uint8Array, chunkBytes = 65_536): AsyncGenerator<Line> {
  const buffer = Buffer.from(data);
  async function* chunks() {
    for (let at = 0; at < buffer.length; at += chunkBytes) yield buffer.subarray(at, at + chunkBytes);
  }
  yield* linesOf(chunks());
}

export const textOf = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(''));
