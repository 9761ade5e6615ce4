import type { Head, Link } from './chain.ts';
import type { Line } from './lines.ts';
import { type AuditDefect, type VerifyResult, verifyChain } from './verify.ts';

export interface LogFile {
  /** Opened when the first line is read. */
  readonly lines: AsyncIterable<Line>;
  /** Reads the head beside the log; undefined if none was signed with this key. */
  head(): Promise<Head | undefined>;
}

/**
 * Checks a log file against its signed head, even while it is written. Detects every changed, removed, added or moved
 * record, a cut tail, and a head older than its log. Cannot detect a log restored *together with* its head: for that,
 * pass a head noted elsewhere (`mustHold`).
 */
export async function verifyFile(
  key: Uint8Array,
  file: LogFile,
  mustHold: readonly Link[] = [],
): Promise<VerifyResult> {
  const before = await file.head();
  const signed = before !== undefined && before.last.seq >= 0 ? [before.last] : [];
  const result = await verifyChain(file.lines, { key, form: 'file', mustHold: [...signed, ...mustHold] });
  const after = await file.head();
  if (result.defect !== undefined && result.defect.problem !== 'nothing') return result;
  const defect = headDefect(before && after, result);
  return defect ? { ...result, defect } : result;
}

function headDefect(head: Head | undefined, { bytes }: VerifyResult): AuditDefect | undefined {
  if (head === undefined) {
    return {
      problem: 'no-head',
      text: 'the head beside the log is missing or not signed with this key, so nobody can tell whether the end was cut off',
    };
  }
  if (bytes <= head.upTo) return undefined;
  return {
    problem: 'old-head',
    text: 'the log goes on after its head: the head is an old one put back, or the machine lost its power in the very moment',
  };
}
