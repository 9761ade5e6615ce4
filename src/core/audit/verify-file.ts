import type { Link } from './chain.ts';
import type { Head } from './head.ts';
import type { Line } from './lines.ts';
import { type VerifyResult, verifyChain, type Wrong } from './verify.ts';

export interface LogFile {
  /** Opened when first asked for a line. */
  readonly lines: AsyncIterable<Line>;
  /** Reads the head beside the log; undefined when there is none that was signed with this key. */
  head(): Promise<Head | undefined>;
}

/**
 * Checks a log file against the signed head beside it; the log may be written meanwhile. Finds every change, removal,
 * addition and move of records, the removal of any number at the end, and a head that is older than its log. What it
 * cannot find by itself is a log put back *with* its head to what both once were: give it a head that was noted
 * down elsewhere (`mustHold`).
 */
export async function verifyFile(
  key: Uint8Array,
  file: LogFile,
  mustHold: readonly Link[] = [],
): Promise<VerifyResult> {
  const before = await file.head();
  const own = before !== undefined && before.last.seq >= 0 ? [before.last] : [];
  const verdict = await verifyChain(file.lines, { key, form: 'file', mustHold: [...own, ...mustHold] });
  const after = await file.head();
  if (verdict.wrong !== undefined && verdict.wrong.problem !== 'nothing') return verdict;
  const wrong = wrongHead(before && after, verdict);
  return wrong ? { ...verdict, wrong } : verdict;
}

function wrongHead(head: Head | undefined, { bytes }: VerifyResult): Wrong | undefined {
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
