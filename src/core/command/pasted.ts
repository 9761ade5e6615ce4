import type { Word } from './line/tokenize.ts';
import { repairLine, repairYaml, unwrapMarkup } from './repair.ts';

const FENCE = '```';
/** Slack's marks for code, bold, italics and strikethrough in text without formatting. */
const MARKS = '`*_~';
const DOUBLE_QUOTES = '"“”„‟«»';
const SINGLE_QUOTES = "'‘’‚‛";
/** Bold code in quotes has three layers; nobody writes more. */
const MAX_LAYERS = 3;

/**
 * Removes what encloses the whole text: a code fence, one pair of marks for code, bold, italics or strikethrough, or
 * one pair of quotes around several words. A pair counts only if the same character does not occur inside. Linear.
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

/** `_A=b` may be a variable, so its `_` is no mark. */
const VARIABLE = /^_[A-Za-z0-9_]*=/;

/** An opening mark without its closing one yet. */
interface Open {
  readonly index: number;
  readonly mark: string;
}

/**
 * Removes pairs of marks around one or several words: `` `pod-1` ``, `*pod-1*`, `` --image=`debian` ``. In the command
 * after `--`, which is the user's own, only one pair of backticks around all of it goes. Quoted words stay; so do the
 * columns of all words. Linear in the length of the line.
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

/** Changes the words before `end`; returns a pair of backticks that is still open there. */
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

/** The text inside one pair around the word, or around its flag's value. */
function wholeOf(text: string): string | undefined {
  const value = /^--?[A-Za-z-]+=(?=`)/.exec(text)?.[0] ?? '';
  const marked = text.slice(value.length);
  const mark = markAt(marked);
  if (mark === undefined || marked.length <= 2 * mark.length || !marked.endsWith(mark)) return undefined;
  const inner = marked.slice(mark.length, -mark.length);
  return inner.includes(mark) || VARIABLE.test(marked) ? undefined : value + inner;
}

/** The mark that a text begins with; up to three backticks count as one. */
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

/** Removes one pair of backticks around the whole command, or from an earlier word to the command's end. */
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

/** The mark counts only if the line itself has it at the word's end, outside quotes. */
const endsWithMark = ({ text, end }: Word, line: string, mark: string): boolean =>
  text.endsWith(mark) && line.slice(0, end).endsWith(mark) && line.charAt(end - mark.length - 1) !== '\\';

/** Typed or pasted text, ready for `tokenize`. */
export interface Pasted {
  readonly line: string;
  /** The document after `apply`, or empty. */
  readonly yaml: string;
  /** The line exceeds `MAX_LINE_LENGTH` and is not repaired. */
  readonly isTooLong: boolean;
}

/** The longest line, in UTF-16 units: an approver could not read a longer one. Excludes the document of `apply`. */
export const MAX_LINE_LENGTH = 16_000;

/** The head of `apply`, up to the end of its line or the first code fence; the rest is the document. */
const APPLY = /^[\s\u200c\u200d]*apply(?=\s|```|$)(?:(?!```)[^\n])*/i;

/**
 * The prefixes that people copy along with a command: a shell's prompt, `kubectl debug`, the slash command and the
 * bot's name behind an `@`, whatever the Slack app calls them (no other first word of a command begins so). A bare
 * `kdebug` before a flag may be a pod's name, so it only goes before a word.
 */
const PREFIX =
  /^\s*(?:\$\s+)?(?:kubectl\s+debug(?=\s|$)|\/kdebug[a-z0-9_-]*(?=\s|$)|\/[a-z0-9_-]{1,31}(?=\s+\S)|(?:kdebug|@[a-z0-9._-]{1,80})(?=\s+[^\s\p{Pd}\u2212]))\s*/iu;

/**
 * Undoes what Slack, phones and copying do to a command: removes markup, enclosing marks and quotes, and prefixes, then
 * calls `repairLine` and `repairYaml`. Never throws; linear in the length of the text.
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
