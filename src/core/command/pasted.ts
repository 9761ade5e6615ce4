import { unwrapWhole } from './marks.ts';
import { repairLine, repairYaml, unwrapMarkup } from './repair.ts';

/** What a person typed or pasted, ready to be split into words. */
export interface Pasted {
  readonly line: string;
  /** The document after `apply`; empty where there is none. */
  readonly yaml: string;
  /** The line is longer than may be read, and is as it came. */
  readonly isTooLong: boolean;
}

/** The longest line, in UTF-16 units: an approver could not read a longer one. The document of `apply` is not counted. */
export const LONGEST_LINE = 16_000;

/** The head of `apply`, up to the end of its line or the first code fence; the document is the rest. */
const APPLY = /^[\s\u200c\u200d]*apply(?=\s|```|$)(?:(?!```)[^\n])*/i;

/**
 * What people copy with a command: a shell's prompt, `kubectl debug`, `/kdebug`. A bare `kdebug` before a flag may be a pod's
 * name, so it goes only before a word.
 */
const PREFIX = /^\s*(?:\$\s+)?(?:kubectl\s+debug(?=\s|$)|\/kdebug(?=\s|$)|@?kdebug(?=\s+[^\s\p{Pd}\u2212]))\s*/iu;

/**
 * Undoes what Slack, phones and copying do to a command: markup, marks and quotes around all of it, what stands before it, and then
 * what `repairLine` and `repairYaml` do. Never throws; time is linear in the length of the text.
 */
export function readPasted(text: string): Pasted {
  const unwrapped = withoutPrefix(unwrapWhole(unwrapMarkup(text)));
  const head = APPLY.exec(unwrapped)?.[0];
  const line = head ?? unwrapped;
  if (line.length > LONGEST_LINE) return { line, yaml: '', isTooLong: true };
  const yaml = head === undefined ? '' : repairYaml(unwrapped.slice(head.length));
  return { line: repairLine(line), yaml, isTooLong: false };
}

function withoutPrefix(text: string): string {
  const prefix = PREFIX.exec(text)?.[0];
  return prefix === undefined ? text : unwrapWhole(text.slice(prefix.length));
}
