import { REPORT_BEGIN } from '../report-marks.ts';
import { characterBoundary, countNewlines, NO_BYTES } from './byte-scan.ts';

/** Collects the parts of a log that a reply and the live view show. Works on bytes and decodes only those parts. */

/** `end` returns this much: enough for a report that an image wrote at the end of its log. */
const END_BYTES = 16 * 1024;
const FIRST_BYTES = 256;
const ELLIPSIS = '…';
const ELLIPSIS_BYTES = 3;
/** A longer run of combining marks is cut between its characters. */
const MAX_GRAPHEME_LENGTH = 64;
const NEWLINE = 0x0a;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

export interface ExcerptOptions {
  readonly headLines: number;
  readonly tailLines: number;
  /** In UTF-8, for head and tail together. */
  readonly maxBytes: number;
}

export interface ExcerptText {
  /** The first lines without the last newline; the whole log if `omittedLines` is 0. */
  readonly head: string;
  /** The last lines; empty if `omittedLines` is 0. A line cut at the excerpt's edge has `…` there. */
  readonly tail: string;
  /** Lines not shown in full. */
  readonly omittedLines: number;
  /** Of the whole log. An unfinished last line counts. */
  readonly lines: number;
  readonly bytes: number;
}

/**
 * Receives the chunks of one filtered log in order. It copies the bytes; memory is bounded by `maxBytes` and 48 KiB.
 */
export interface Excerpt {
  push(chunk: Buffer): void;
  /**
   * The last `lines` lines so far, within `maxBytes`. With `hidesReport`, only those before the machine-readable report
   * at the end.
   */
  tail(lines: number, hidesReport?: boolean): string;
  /** The last 16 KiB so far, starting at a whole character. */
  end(): string;
  finish(): ExcerptText;
}

/** Drops a grapheme that is cut at the start of `text`; `before` is the text in front of it. */
function dropBrokenStart(before: string, text: string): string {
  const context = before.slice(-MAX_GRAPHEME_LENGTH);
  const joined = context + text.slice(0, MAX_GRAPHEME_LENGTH);
  const segment = graphemes.segment(joined).containing(context.length);
  if (segment === undefined || segment.index === context.length) return text;
  const end = segment.index + segment.segment.length;
  return segment.segment.length < MAX_GRAPHEME_LENGTH ? text.slice(end - context.length) : text;
}

/** Drops a grapheme that is cut at the end of `text`; `after` is the text behind it. */
function dropBrokenEnd(text: string, after: string): string {
  const context = text.slice(-MAX_GRAPHEME_LENGTH);
  const segment = graphemes.segment(context + after.slice(0, MAX_GRAPHEME_LENGTH)).containing(context.length);
  if (segment === undefined || segment.index === context.length || segment.segment.length >= MAX_GRAPHEME_LENGTH)
    return text;
  return text.slice(0, text.length - (context.length - segment.index));
}

/** Returns the end of the `count`-th line (after its newline); the length if there are fewer. */
function endOfLines(bytes: Buffer, count: number): number {
  let end = 0;
  for (let line = 0; line < count; line++) {
    const newline = bytes.indexOf(NEWLINE, end);
    if (newline === -1) return bytes.length;
    end = newline + 1;
  }
  return end;
}

/** Returns the start of the last `count` lines; a newline at the very end belongs to the last line. */
function startOfLines(bytes: Buffer, count: number): number {
  let start = bytes.length;
  for (let line = 0; line < count; line++) {
    if (start <= 1) return 0;
    start = bytes.lastIndexOf(NEWLINE, start - 2) + 1;
    if (start === 0) return 0;
  }
  return start;
}

/**
 * Applied before anything is cut: the report is one line, longer than the excerpt, so a cut would lose its first bytes.
 */
function beforeReport(bytes: Buffer): Buffer {
  const begin = bytes.indexOf(`\n${REPORT_BEGIN}`);
  return begin === -1 ? bytes : bytes.subarray(0, begin + 1);
}

const withoutNewline = (text: string): string => (text.endsWith('\n') ? text.slice(0, -1) : text);

function firstBytes(bytes: Buffer, limit: number): string {
  if (bytes.length <= limit) return withoutNewline(bytes.toString('utf8'));
  const cut = characterBoundary(bytes, Math.max(0, limit - ELLIPSIS_BYTES));
  return dropBrokenEnd(bytes.toString('utf8', 0, cut), bytes.toString('utf8', cut, cut + 256)) + ELLIPSIS;
}

function lastBytes(bytes: Buffer, limit: number, isCut: boolean): string {
  if (bytes.length <= limit && !isCut) return withoutNewline(bytes.toString('utf8'));
  const from = Math.max(0, bytes.length - Math.max(0, limit - ELLIPSIS_BYTES));
  const boundary = characterBoundary(bytes, from);
  const cut = boundary < from ? Math.min(bytes.length, nextCharacter(bytes, from)) : from;
  const text = dropBrokenStart(bytes.toString('utf8', Math.max(0, cut - 256), cut), bytes.toString('utf8', cut));
  return withoutNewline(ELLIPSIS + text);
}

function nextCharacter(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++;
  return at;
}

/**
 * A buffer of at least `needed` bytes with the old content. Grows step by step: most logs are short, and there may be
 * ten thousand of them.
 */
function grow(room: Buffer, needed: number, max: number): Buffer {
  if (needed <= room.length) return room;
  const larger = Buffer.allocUnsafe(Math.min(max, Math.max(FIRST_BYTES, 2 * needed)));
  room.copy(larger);
  return larger;
}

/** The last bytes of a stream. */
class LastBytes {
  #room: Buffer = NO_BYTES;
  readonly #wanted: number;
  #length = 0;

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  get bytes(): Buffer {
    return this.#room.subarray(Math.max(0, this.#length - this.#wanted), this.#length);
  }

  push(chunk: Buffer): void {
    const added = chunk.length > this.#wanted ? chunk.subarray(chunk.length - this.#wanted) : chunk;
    const max = this.#wanted * 2;
    this.#room = grow(this.#room, Math.min(max, this.#length + added.length), max);
    if (this.#length + added.length > max) {
      const rest = this.#wanted;
      this.#room.copyWithin(0, this.#length - rest, this.#length);
      this.#length = rest;
    }
    added.copy(this.#room, this.#length);
    this.#length += added.length;
  }
}

export function createExcerpt(options: ExcerptOptions): Excerpt {
  return new LogExcerpt(options);
}

class LogExcerpt implements Excerpt {
  readonly #options: ExcerptOptions;
  /** More than is shown, to tell whether something follows, and to find the end of a grapheme. */
  readonly #headBytes: number;
  #head: Buffer = NO_BYTES;
  readonly #last: LastBytes;
  #bytes = 0;
  #newlines = 0;

  constructor(options: ExcerptOptions) {
    this.#options = options;
    this.#headBytes = options.maxBytes + MAX_GRAPHEME_LENGTH;
    this.#last = new LastBytes(Math.max(END_BYTES, this.#headBytes));
  }

  push(chunk: Buffer): void {
    if (this.#bytes < this.#headBytes) {
      this.#head = grow(this.#head, Math.min(this.#headBytes, this.#bytes + chunk.length), this.#headBytes);
      chunk.copy(this.#head, this.#bytes);
    }
    this.#last.push(chunk);
    this.#newlines += countNewlines(chunk);
    this.#bytes += chunk.length;
  }

  tail(lines: number, hidesReport = false): string {
    const recent = this.#last.bytes;
    const bytes = hidesReport ? beforeReport(recent) : recent;
    const start = startOfLines(bytes, lines);
    return lastBytes(bytes.subarray(start), this.#options.maxBytes, start === 0 && recent.length < this.#bytes);
  }

  end(): string {
    const { bytes } = this.#last;
    const from = Math.max(0, bytes.length - END_BYTES);
    return bytes.toString('utf8', from === 0 && bytes.length === this.#bytes ? 0 : nextCharacter(bytes, from));
  }

  finish(): ExcerptText {
    const lines = this.#newlines + (this.#endsLine() ? 0 : 1);
    const counts = { lines, bytes: this.#bytes };
    const { headLines, tailLines, maxBytes } = this.#options;
    if (lines <= headLines + tailLines && this.#bytes <= maxBytes) {
      return { head: withoutNewline(this.#first().toString('utf8')), tail: '', omittedLines: 0, ...counts };
    }
    return { ...this.#cutInTwo(), ...counts };
  }

  #endsLine(): boolean {
    return this.#bytes === 0 || this.#last.bytes.at(-1) === NEWLINE;
  }

  #first(): Buffer {
    return this.#head.subarray(0, Math.min(this.#bytes, this.#head.length));
  }

  #cutInTwo(): Pick<ExcerptText, 'head' | 'tail' | 'omittedLines'> {
    const { headLines, tailLines, maxBytes } = this.#options;
    const first = this.#first();
    const headBytes = first.subarray(0, endOfLines(first, headLines));
    const headRoom = Math.floor((maxBytes * headLines) / Math.max(1, headLines + tailLines));
    const headEnd = Math.min(headBytes.length, headRoom);

    const last = this.#last.bytes;
    const unshown = Math.max(0, headEnd - (this.#bytes - last.length));
    const start = Math.max(unshown, startOfLines(last, tailLines));
    const tailBytes = last.subarray(start);
    const startsInLine = start === 0 ? last.length < this.#bytes : last[start - 1] !== NEWLINE;
    const head = firstBytes(headBytes, headRoom);
    const tail = lastBytes(tailBytes, maxBytes - headEnd, startsInLine);
    return {
      head,
      tail,
      omittedLines: this.#newlines + (this.#endsLine() ? 0 : 1) - wholeLines(head, 'start') - wholeLines(tail, 'end'),
    };
  }
}

/** Lines of a part that are shown in full, without the line that the part's inner edge cuts. */
function wholeLines(part: string, edge: 'start' | 'end'): number {
  if (part === '') return 0;
  const isCut = edge === 'start' ? part.endsWith(ELLIPSIS) : part.startsWith(ELLIPSIS);
  return part.split('\n').length - (isCut ? 1 : 0);
}
