import { repairLine, repairYaml, unwrapMarkup } from './repair.ts';
import type { Word } from './tokenize.ts';

const FENCE = '```';
/** How Slack writes code, bold, italics and struck text where it gives words without their formatting. */
const MARKS = '`*_~';
const DOUBLE_QUOTES = '"“”„‟«»';
const SINGLE_QUOTES = "'‘’‚‛";
/** Bold code between quotes has three layers; nobody writes more. */
const MAX_LAYERS = 3;

/**
 * The words without what stands around all of them: a code fence, one pair of marks for code, bold, italics or struck text, or one
 * pair of quotes around several words. A pair counts only where nothing like it stands between. Text that has none stays as it is.
 * Linear.
 */
export function unwrapWhole(text: string): string {
  let left = text;
  for (let layer = 0; layer < MAX_LAYERS; layer += 1) {
    const inner = insideOf(left.trim());
    if (inner === undefined) break;
    left = inner;
  }
  return left;
}

function insideOf(text: string): string | undefined {
  if (text.startsWith(FENCE)) {
    const close = text.indexOf(FENCE, FENCE.length);
    const isWhole = close > FENCE.length && close === text.length - FENCE.length;
    return isWhole ? text.slice(FENCE.length, close) : undefined;
  }
  const inner = text.slice(1, -1);
  if (inner.trim() === '') return undefined;
  const [first, last] = [text.charAt(0), text.charAt(text.length - 1)];
  if (MARKS.includes(first)) return first === last && !inner.includes(first) ? inner : undefined;
  const quotes = [DOUBLE_QUOTES, SINGLE_QUOTES].find((kind) => kind.includes(first) && kind.includes(last));
  // One word in quotes is an ordinary word.
  if (quotes === undefined || !/\s/.test(inner)) return undefined;
  return hasAny(inner, quotes) ? undefined : inner;
}

function hasAny(text: string, characters: string): boolean {
  for (const character of text) if (characters.includes(character)) return true;
  return false;
}

/** `_A=b` may be a variable, whatever stands behind it. */
const VARIABLE = /^_[A-Za-z0-9_]*=/;

/** Where a pair of marks was opened and not closed yet. */
interface Open {
  readonly index: number;
  readonly mark: string;
}

/**
 * The words of a line without pairs of marks around one or several of them: `` `pod-1` ``, `*pod-1*`, `` --image=`debian` ``. Of the
 * command after `--` only one pair of backticks around all of it goes: its words are the user's own. Words in quotes stay as they are;
 * so do the places of all words. Linear in the length of the line.
 */
export function unmarkWords(words: readonly Word[], line: string): readonly Word[] {
  const isMarked = (word: Word): boolean => hasAny(word.text, MARKS) && !word.quoted;
  if (!words.some(isMarked)) return words;
  const dashes = words.findIndex(({ text, quoted }) => text === '--' && !quoted);
  const bare = [...words];
  const open = unmarkBefore(bare, dashes < 0 ? bare.length : dashes);
  if (dashes >= 0) unmarkCommand(bare, { line, first: dashes + 1, open });
  return bare;
}

/** Changes the words before `end`; answers with a pair of backticks that is still open there. */
function unmarkBefore(words: Word[], end: number): Open | undefined {
  let open: Open | undefined;
  for (let index = 0; index < end; index += 1) {
    const word = words[index];
    if (!word || word.quoted) continue;
    const inner = wholeOf(word.text);
    if (inner !== undefined) words[index] = { ...word, text: inner };
    else if (open && word.text.endsWith(open.mark)) {
      close(words, open, index);
      open = undefined;
    } else open = openedBy(word.text, index) ?? open;
  }
  return open?.mark.startsWith('`') ? open : undefined;
}

/** What stands in one pair around the word, or around the value of its flag. */
function wholeOf(text: string): string | undefined {
  const value = /^--?[A-Za-z-]+=(?=`)/.exec(text)?.[0] ?? '';
  const marked = text.slice(value.length);
  const mark = markAt(marked);
  if (mark === undefined || marked.length <= 2 * mark.length || !marked.endsWith(mark)) return undefined;
  const inner = marked.slice(mark.length, -mark.length);
  return inner.includes(mark) || VARIABLE.test(marked) ? undefined : value + inner;
}

/** The mark that a text begins with; of backticks, all of them up to three. */
function markAt(text: string): string | undefined {
  if (text.startsWith(FENCE)) return FENCE;
  const first = text.charAt(0);
  return first !== '' && MARKS.includes(first) ? first : undefined;
}

function openedBy(text: string, index: number): Open | undefined {
  const mark = markAt(text);
  return mark === undefined || text.length === mark.length || VARIABLE.test(text) ? undefined : { index, mark };
}

function close(words: Word[], { index: from, mark }: Open, to: number): void {
  const first = words[from];
  if (first) words[from] = { ...first, text: first.text.slice(mark.length) };
  const last = words[to];
  if (last) words[to] = { ...last, text: last.text.slice(0, -mark.length) };
}

/** One pair of backticks around the whole command, or from a word before it to its end. */
function unmarkCommand(
  words: Word[],
  { line, first, open }: { readonly line: string; readonly first: number; readonly open: Open | undefined },
): void {
  const last = words.length - 1;
  const begin = words[first];
  const end = words[last];
  if (!begin || !end) return;
  const from = open ?? (begin.quoted ? undefined : openedBy(begin.text, first));
  if (!from?.mark.startsWith('`') || !endsWithMark(end, line, from.mark)) return;
  const skipped = (index: number): number => (index === from.index ? from.mark.length : 0);
  const isOnlyPair = words.every(({ text }, index) => {
    if (index < from.index) return true;
    const inner = index === last ? text.slice(skipped(index), -from.mark.length) : text.slice(skipped(index));
    return !inner.includes('`');
  });
  if (isOnlyPair && !(from.index === last && end.text.length <= 2 * from.mark.length)) close(words, from, last);
}

/** Whether the mark stands in the line itself, at the word's end and outside its quotes. */
const endsWithMark = ({ text, end }: Word, line: string, mark: string): boolean =>
  text.endsWith(mark) && line.slice(0, end).endsWith(mark) && line.charAt(end - mark.length - 1) !== '\\';

/** What a person typed or pasted, ready to be split into words. */
export interface Pasted {
  readonly line: string;
  /** The document after `apply`; empty where there is none. */
  readonly yaml: string;
  /** The line is longer than may be read, and is as it came. */
  readonly isTooLong: boolean;
}

/** The longest line, in UTF-16 units: an approver could not read a longer one. The document of `apply` is not counted. */
export const MAX_LINE_LENGTH = 16_000;

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
  if (line.length > MAX_LINE_LENGTH) return { line, yaml: '', isTooLong: true };
  const yaml = head === undefined ? '' : repairYaml(unwrapped.slice(head.length));
  return { line: repairLine(line), yaml, isTooLong: false };
}

function withoutPrefix(text: string): string {
  const prefix = PREFIX.exec(text)?.[0];
  return prefix === undefined ? text : unwrapWhole(text.slice(prefix.length));
}
