import type { PatternSearch } from '../../lib/patterns/linear-pattern.ts';
import { characterBoundary, createAnchorScan, firstUnplain, NO_BYTES, withPlainEnds } from './byte-scan.ts';
import { cleanText, foldRewrites } from './clean-text.ts';
import { LookAlikes, SECRET_ANCHORS } from './find-secrets.ts';
import { LineRedactor } from './line-redactor.ts';
import { LongLine, longLineSizes } from './long-line.ts';
import { searchFor } from './secret-range.ts';

/**
 * Cleans and redacts log bytes between a container and the spool: nothing after the filter sees the raw log. Four
 * classes do it. `LineFilter` splits the stream into lines. `SuspectScanner` finds the lines that could hold a secret;
 * all others pass unchanged. `LineRedactor` redacts one line and remembers secrets over several lines. `LongLine`
 * handles a line over 64 KiB piece by piece.
 */

const NEWLINE = 0x0a;
const AT_SIGN = 0x40;
/** Several lines may be long for the patterns. */
const BYTES_WITH_PATTERNS = 512;

const scanAnchors = createAnchorScan(SECRET_ANCHORS);

export interface LogFilterOptions {
  /**
   * The policy's own patterns (`output.redact`), already checked by `problemOfPattern`. Each sees one line at a time.
   */
  readonly redact: readonly string[];
}

/** Receives the chunks of one log in order. Every log needs its own filter. */
export interface LogFilter {
  /**
   * Returns what is certain so far, cleaned and redacted. The joined results do not depend on how the log is cut into
   * chunks. The result may share memory with `chunk`. Holds back the last, unfinished line, at most 72 KiB of it.
   */
  push(chunk: Buffer): Buffer;
  /** Returns the rest. */
  end(): Buffer;
  /** Secrets replaced so far by `[redacted:kind]`. */
  readonly redactions: number;
  /** Some values that were replaced, for whoever shows other texts beside this one. */
  readonly hidden: ReadonlySet<string>;
  /** With the policy's patterns: push no more bytes at once, so that a push takes a bounded time. */
  readonly bytesAtOnce: number | undefined;
  /** The cost of the policy's patterns so far: their states times characters, at most. */
  readonly steps: number;
}

/**
 * Makes the filter of one log. It removes escape sequences, control characters but tab and newline, and bidi and
 * zero-width characters; folds `\r` rewrites to their last state, applies `\b`, and replaces invalid UTF-8 by U+FFFD.
 * It redacts what `findSecrets` knows, private keys over several lines, YAML blocks, and the policy's patterns. In a
 * line over 64 KiB, a secret over 8 KiB hides the rest of its line; with patterns of the policy, both are less: with
 * 16 states of them 8 and 4 KiB, with the most 0.75 and 0.4 KiB. Linear time; memory bounded below 300 KiB.
 */
export function createLogFilter(options: LogFilterOptions): LogFilter {
  return new LineFilter(searchFor(options.redact));
}

class LineFilter implements LogFilter {
  readonly bytesAtOnce: number | undefined;
  readonly #patterns: PatternSearch;
  readonly #redactor: LineRedactor;
  readonly #longLineBytes: number;
  /** Of a long line, so that a secret is seen whole. */
  readonly #heldBytes: number;
  /** Allocated by the first line that comes in pieces: most logs have none. */
  #held = NO_BYTES;
  #heldLength = 0;
  #longLine: LongLine | undefined;
  #out: Buffer[] = [];

  constructor(patterns: PatternSearch) {
    this.#patterns = patterns;
    this.#redactor = new LineRedactor(patterns);
    const { states } = patterns;
    if (states > 0) this.bytesAtOnce = BYTES_WITH_PATTERNS;
    [this.#longLineBytes, this.#heldBytes] = longLineSizes(states);
  }

  get steps(): number {
    return this.#patterns.steps;
  }

  get redactions(): number {
    return this.#redactor.redactions;
  }

  get hidden(): ReadonlySet<string> {
    return this.#redactor.hidden;
  }

  push(chunk: Buffer): Buffer {
    let from = 0;
    if (this.#heldLength > 0 || this.#longLine !== undefined) {
      const end = chunk.indexOf(NEWLINE);
      this.#hold(end === -1 ? chunk : chunk.subarray(0, end));
      if (end === -1) return this.#flush();
      this.#endLine('\n');
      from = end + 1;
    }
    const to = chunk.lastIndexOf(NEWLINE) + 1;
    if (to > from) this.#lines(chunk.subarray(from, to));
    this.#hold(chunk.subarray(Math.max(from, to)));
    return this.#flush();
  }

  end(): Buffer {
    this.#endLine('');
    return this.#flush();
  }

  #flush(): Buffer {
    const [first, second] = this.#out;
    const output = first !== undefined && second === undefined ? first : Buffer.concat(this.#out);
    this.#out = [];
    return output;
  }

  /** Stores bytes of an unfinished line. If the line fills the buffer, it continues as a `LongLine`. */
  #hold(bytes: Buffer): void {
    if (bytes.length > 0 && this.#held.length === 0) this.#held = Buffer.allocUnsafeSlow(this.#longLineBytes);
    let from = 0;
    while (from < bytes.length) {
      const copied = bytes.copy(this.#held, this.#heldLength, from);
      from += copied;
      this.#heldLength += copied;
      if (this.#heldLength < this.#longLineBytes) return;
      const end = characterBoundary(this.#held, this.#longLineBytes);
      this.#longLine ??= this.#startLongLine();
      this.#longLine.add(this.#held.subarray(0, end));
      this.#held.copyWithin(0, end);
      this.#heldLength = this.#longLineBytes - end;
    }
  }

  #startLongLine(): LongLine {
    this.#redactor.forget();
    return new LongLine({
      redactor: this.#redactor,
      heldBytes: this.#heldBytes,
      mayHoldSecret: (bytes) => this.#mayHoldSecret(bytes),
      emit: (bytes) => this.#out.push(bytes),
    });
  }

  #endLine(newline: string): void {
    const held = this.#held.subarray(0, this.#heldLength);
    this.#heldLength = 0;
    if (this.#longLine === undefined) {
      if (newline !== '') this.#lines(Buffer.concat([held, Buffer.from(newline)]));
      else if (held.length > 0) this.#closeLine(Buffer.from(held), '');
      return;
    }
    this.#longLine.add(held);
    this.#longLine.end();
    this.#longLine = undefined;
    if (newline !== '') this.#out.push(Buffer.from(newline));
  }

  /** Whole lines. Lines without a suspect pass unchanged, as one piece. */
  #lines(raw: Buffer): void {
    const bytes = withPlainEnds(raw, this.#longLineBytes);
    const suspects = new SuspectScanner(bytes, this.#patterns);
    let from = 0;
    while (from < bytes.length) {
      const suspect = this.#redactor.isInsideSecret ? from : suspects.next(from);
      const start = suspect > from ? Math.max(from, bytes.lastIndexOf(NEWLINE, suspect - 1) + 1) : from;
      if (start > from) this.#out.push(bytes.subarray(from, start));
      if (suspect === bytes.length) return;
      from = bytes.indexOf(NEWLINE, suspect) + 1;
      this.#suspectLine(bytes.subarray(start, from));
    }
  }

  #suspectLine(bytes: Buffer): void {
    if (bytes.length <= this.#longLineBytes) {
      this.#closeLine(bytes, '\n');
      return;
    }
    this.#hold(bytes.subarray(0, -1));
    this.#endLine('\n');
  }

  #closeLine(bytes: Buffer, newline: string): void {
    const raw = bytes.toString('utf8', 0, bytes.length - newline.length);
    const clean = foldRewrites(cleanText(raw));
    const cleanBytes = clean === raw && !raw.includes('\ufffd') ? bytes : Buffer.from(clean + newline);
    const line = this.#redactor.line(clean);
    if (line !== undefined) this.#out.push(line === clean ? cleanBytes : Buffer.from(line + newline));
  }

  #mayHoldSecret(bytes: Buffer): boolean {
    if (this.#patterns.states > 0 || scanAnchors(bytes, 0, bytes.length) < bytes.length) return true;
    return bytes.includes(AT_SIGN) || firstUnplain(bytes, 0, bytes.length) < bytes.length;
  }
}

/**
 * Finds the lines of a block that must be examined. It caches the next hit of each kind, so every byte is read once per
 * kind.
 */
class SuspectScanner {
  readonly #bytes: Buffer;
  readonly #patterns: PatternSearch;
  #unplain = -1;
  #atSign = -1;
  #custom = -1;
  #isCustomIn: boolean | undefined;
  #lookAlikes: LookAlikes | undefined;

  constructor(bytes: Buffer, patterns: PatternSearch) {
    this.#bytes = bytes;
    this.#patterns = patterns;
  }

  /** The first suspect at or after `from`, the start of a line; the block's length if there is none. */
  next(from: number): number {
    const bytes = this.#bytes;
    if (this.#unplain < from) this.#unplain = this.#nextUnplain(from);
    if (this.#atSign < from) this.#atSign = this.#afterIndex(bytes.indexOf(AT_SIGN, from));
    if (this.#custom < from) this.#custom = this.#nextCustom(from);
    const limit = Math.min(this.#unplain, this.#atSign, this.#custom);
    return scanAnchors(bytes, from, limit);
  }

  /** The first line to examine because of bytes that are not plain ASCII. */
  #nextUnplain(from: number): number {
    const bytes = this.#bytes;
    const unplain = firstUnplain(bytes, from, bytes.length);
    if (unplain === bytes.length || this.#patterns.states > 0) return unplain;
    this.#lookAlikes ??= new LookAlikes(bytes, bytes.lastIndexOf(NEWLINE, unplain) + 1);
    return this.#lookAlikes.isClean ? this.#lookAlikes.next(from) : unplain;
  }

  #afterIndex(index: number): number {
    return index === -1 ? this.#bytes.length : index;
  }

  /** The first line that a pattern of the policy matches. Lines that are not plain ASCII are suspects anyway. */
  #nextCustom(from: number): number {
    const { length } = this.#bytes;
    if (this.#patterns.states === 0) return length;
    const isIn = (start: number, end: number): boolean =>
      this.#patterns.isIn(this.#bytes.toString('latin1', start, end));
    // Most blocks hold nothing: their lines need not be read one by one.
    this.#isCustomIn ??= isIn(0, length);
    for (let start = this.#isCustomIn ? from : length; start < length; ) {
      const end = this.#bytes.indexOf(NEWLINE, start);
      if (end - start === length - 1 || isIn(start, end)) return start;
      start = end + 1;
    }
    return length;
  }
}
