import type { CommandError } from './command.ts';

/** Columns of a code block that a phone in landscape and a desktop's thread show without wrapping. */
const WIDTH = 76;
/** How many columns of a long line stay visible before the wrong word. */
const LEAD = 24;

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const NARROW = /\p{Mn}|\p{Me}|\p{Cf}/u;

/**
 * Two lines for a monospaced block: the command line with the wrong word, and carets under that word. A line longer than 76
 * columns is cut to a window around the word, `…` marking the cuts; line breaks and tabs show as one space. No line is
 * wider than 76 columns; characters that take two columns or none are counted so.
 */
export function pointAt(error: CommandError): string {
  const { from, to } = windowOf(error);
  const before = from > 0 ? '…' : '';
  const after = to < error.text.length ? '…' : '';
  const line = before + flat(error.text.slice(from, to)) + after;
  const indent = columns(before + flat(error.text.slice(from, Math.max(from, error.start))));
  const marked = columns(flat(error.text.slice(Math.max(from, error.start), Math.min(to, error.end))));
  return `${line}\n${' '.repeat(indent)}${'^'.repeat(Math.max(1, Math.min(marked, WIDTH - indent)))}`;
}

/** The part of the text to show, cut between code points. */
function windowOf({ text, start, end }: CommandError): { from: number; to: number } {
  if (text.length <= WIDTH && columns(text) < WIDTH) return { from: 0, to: text.length };
  const fits = end <= WIDTH - 2 && columns(text.slice(0, end)) <= WIDTH - 2;
  const from = onBoundary(text, fits ? 0 : Math.max(0, start - LEAD));
  let to = from;
  let room = WIDTH - 3;
  while (to < text.length) {
    const character = String.fromCodePoint(text.codePointAt(to) ?? 0);
    room -= columns(flat(character));
    if (room < 0) break;
    to += character.length;
  }
  return { from, to };
}

const onBoundary = (text: string, at: number): number => (/[\udc00-\udfff]/.test(text.charAt(at)) ? at + 1 : at);

const flat = (text: string): string => text.replace(/\s/g, ' ');

function columns(text: string): number {
  let total = 0;
  for (const character of text) total += NARROW.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return total;
}
