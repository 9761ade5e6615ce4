import { EMOJI_STYLE, removerOfInvisible } from '../../lib/invisible.ts';
import { shorten } from '../../lib/text.ts';
import { FOREIGN_LINE_LENGTH } from '../line-lengths.ts';

/**
 * Removes from log text everything that controls a terminal or is invisible (reference S28). The result holds no
 * control character but tab, newline and (from `cleanText` only) carriage return, and no bidi or zero-width character.
 */

/** Set column 1: some progress bars send this instead of a carriage return. */
const COLUMN_ONE = /(?:\x1b\[|\x9b)[01]?G/g;

/**
 * Control strings (OSC, DCS, SOS, PM, APC) with their terminator; CSI sequences; two-character escapes with
 * intermediates (ECMA-48). A control string without an end loses only its introducer, so it cannot hide the rest. It
 * may not contain another introducer: otherwise every introducer of a line would scan the rest of the line.
 */
const ESCAPES =
  /(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\r\n]*(?:\x07|\x1b\\|\x9c)|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]/g;

/** An escape sequence that may continue after the end of the text. */
const UNFINISHED_ESCAPE =
  /(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\r\n]*\x1b?$|(?:\x1b\[|\x9b)[0-?]*[ -/]*$|\x1b[ -/]*$/y;
const INTRODUCERS = ['\x1b', '\x90', '\x98', '\x9b', '\x9d', '\x9e', '\x9f'] as const;
const MAX_HELD_ESCAPE_LENGTH = 4096;

/** Backspaces and rewrites stay: they are carried out afterwards. */
const withoutInvisible = removerOfInvisible(`\t\n\r\b${EMOJI_STYLE}`);
const LINE_SEPARATORS = /[\u2028\u2029]/g;
/**
 * A quick look for anything to do: what the above would change, above U+FFFF by the first half of its pair. By properties, with the
 * flag `u`, it takes a quarter longer on text that is not ASCII. The test compares it with the list of `lib/invisible.ts`.
 */
const UNCLEAN =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each code unit counts alone, as there is no flag `u`.
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ud804\ud80d\ud82f\ud834\udb40-\udb43]|\u034f/;

function applyBackspaces(text: string): string {
  const result: string[] = [];
  for (const character of text) {
    if (character !== '\b') result.push(character);
    else if (result.length > 0 && result.at(-1) !== '\r' && result.at(-1) !== '\n') result.pop();
  }
  return result.join('');
}

/** Neither `cleanText` nor `foldRewrites` changes the text; `true` is certain. */
export const isClean = (text: string): boolean => !UNCLEAN.test(text);

/** Cleans text but leaves `\r` to `foldRewrites`. Linear in its length. */
export function cleanText(text: string): string {
  if (isClean(text)) return text;
  const visible = withoutInvisible(text.replace(COLUMN_ONE, '\r').replace(ESCAPES, '')).replace(LINE_SEPARATORS, ' ');
  return visible.includes('\b') ? applyBackspaces(visible) : visible;
}

/** Text that others wrote, clean, on one line of bounded length. */
export function foreignLine(text: string, length = FOREIGN_LINE_LENGTH): string {
  const clean = cleanText(text.slice(0, 4 * length))
    .replace(/\s+/g, ' ')
    .trim();
  return shorten(clean, length);
}

/** Keeps what a terminal shows in the end: the last rewrite (`\r`) that wrote anything. */
export function foldRewrites(line: string): string {
  if (!line.includes('\r')) return line;
  return line.split('\r').findLast((state) => state !== '') ?? '';
}

/** One line as a terminal shows it in the end. */
export const cleanLine = (line: string): string => (isClean(line) ? line : foldRewrites(cleanText(line)));

/** Returns the start of an escape sequence that the end of the text may cut; the text's length if there is none. */
export function unfinishedEscapeStart(text: string): number {
  const earliest = Math.max(0, text.length - MAX_HELD_ESCAPE_LENGTH);
  let before = text.length;
  // A control string may end in a cut `ESC \`: then its own start is the last introducer but one.
  const starts: number[] = [];
  for (let tries = 0; tries < 2; tries++) {
    const start = Math.max(
      ...INTRODUCERS.map((introducer) => (before > 0 ? text.lastIndexOf(introducer, before - 1) : -1)),
    );
    if (start < earliest) break;
    starts.unshift(start);
    before = start;
  }
  for (const start of starts) {
    UNFINISHED_ESCAPE.lastIndex = start;
    if (UNFINISHED_ESCAPE.test(text)) return start;
  }
  return text.length;
}
