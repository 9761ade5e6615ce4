export interface Word {
  /** The word without quotes and backslashes. */
  readonly text: string;
  /** First column in the line, from 0, in UTF-16 units; includes the opening quote. */
  readonly start: number;
  /** One past the last column. */
  readonly end: number;
  /** At least one part was quoted or escaped; `''` is a quoted empty word. */
  readonly quoted: boolean;
}

export type Words =
  | { readonly kind: 'ok'; readonly words: readonly Word[] }
  /** `start` is the column of the unclosed quote. */
  | { readonly kind: 'open-quote'; readonly start: number };

/** A part of a word with uniform quoting, unquoted. */
type Piece = { readonly text: string; readonly end: number } | 'open';

/** The characters that a backslash escapes between double quotes (POSIX shell, 2.2.3); before others it is literal. */
const ESCAPED_IN_DOUBLE = '$`"\\';

/**
 * Splits a line as a POSIX shell does (single quotes, double quotes, backslash, backslash-newline), but expands
 * nothing: `$HOME`, `*`, `;`, `|` and `#` are ordinary characters. Never throws; linear in the length of the line.
 */
export function tokenize(line: string): Words {
  const words: Word[] = [];
  let at = skipSpace(line, 0);
  while (at < line.length) {
    const word = readWord(line, at);
    if (typeof word === 'number') return { kind: 'open-quote', start: word };
    words.push(word);
    at = skipSpace(line, word.end);
  }
  return { kind: 'ok', words };
}

/** Skips white space, and backslash-newlines between words. */
function skipSpace(line: string, at: number): number {
  let end = at;
  while (end < line.length) {
    const code = line.charCodeAt(end);
    if (isSpace(code)) end += 1;
    else if (code === BACKSLASH && line.charAt(end + 1) === '\n') end += 2;
    else break;
  }
  return end;
}

/** The word that begins at `start`, or the column of its unclosed quote. */
function readWord(line: string, start: number): Word | number {
  const plainEnd = endOfPlain(line, start);
  if (plainEnd === line.length || isSpace(line.charCodeAt(plainEnd))) {
    return { text: line.slice(start, plainEnd), start, end: plainEnd, quoted: false };
  }
  let text = '';
  let at = start;
  let quoted = false;
  while (at < line.length && !isSpace(line.charCodeAt(at))) {
    const piece = readPiece(line, at);
    if (piece === 'open') return at;
    quoted ||= isQuoting(line.charCodeAt(at));
    text += piece.text;
    at = piece.end;
  }
  return { text, start, end: at, quoted };
}

function readPiece(line: string, at: number): Piece {
  const first = line.charAt(at);
  if (first === "'") return readSingle(line, at);
  if (first === '"') return readDouble(line, at);
  if (first === '\\') return readEscape(line, at);
  const end = endOfPlain(line, at);
  return { text: line.slice(at, end), end };
}

function endOfPlain(line: string, at: number): number {
  let end = at;
  for (; end < line.length; end += 1) {
    const code = line.charCodeAt(end);
    if (code <= BACKSLASH && (isSpace(code) || isQuoting(code))) break;
  }
  return end;
}

function readSingle(line: string, at: number): Piece {
  const close = line.indexOf("'", at + 1);
  return close < 0 ? 'open' : { text: line.slice(at + 1, close), end: close + 1 };
}

function readDouble(line: string, at: number): Piece {
  let text = '';
  let from = at + 1;
  for (let here = from; here < line.length; here += 1) {
    const character = line.charAt(here);
    if (character === '"') return { text: text + line.slice(from, here), end: here + 1 };
    if (character !== '\\') continue;
    const next = line.charAt(here + 1);
    if (next === '\n' || (next !== '' && ESCAPED_IN_DOUBLE.includes(next))) {
      text += line.slice(from, here);
      from = next === '\n' ? here + 2 : here + 1;
    }
    here += 1;
  }
  return 'open';
}

/** A backslash outside quotes; literal at the end of the line. */
function readEscape(line: string, at: number): Piece {
  const next = line.charAt(at + 1);
  if (next === '') return { text: '\\', end: at + 1 };
  if (next === '\n') return { text: '', end: at + 2 };
  const character = String.fromCodePoint(line.codePointAt(at + 1) ?? 0);
  return { text: character, end: at + 1 + character.length };
}

const BACKSLASH = 0x5c;

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x09;

const isQuoting = (code: number): boolean => code === 0x27 || code === 0x22 || code === BACKSLASH;
