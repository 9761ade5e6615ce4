import { characterBoundary, firstUnplain, NO_BYTES } from './byte-scan.ts';
import { cleanText, foldRewrites, unfinishedEscapeStart } from './clean-text.ts';
import { type LineRedactor, replaceRanges } from './line-redactor.ts';

/** Bytes of earlier output that stay as context, because some secrets are known by what precedes them. */
const CONTEXT_BYTES = 128;

/** Lines of this many bytes or more are handled in pieces. */
const LONG_LINE_BYTES = 64 * 1024;
const HELD_BYTES = 8 * 1024;
/** With the policy's patterns, what a line costs also grows with their states: together they bound one piece to some 30 ms. */
const STATES_TIMES_BYTES = 128 * 1024;
const SHORTEST_LONG_LINE = 768;

/** From how many bytes on a line is long, and how many of one are held back, with patterns of so many states. */
export function longLineSizes(states: number): readonly [long: number, held: number] {
  const long = Math.min(LONG_LINE_BYTES, Math.max(SHORTEST_LONG_LINE, Math.floor(STATES_TIMES_BYTES / states)));
  return [long, Math.min(HELD_BYTES, long >> 1)];
}

export interface LongLineOptions {
  readonly redactor: LineRedactor;
  /** Held back, so that a secret is seen whole. A longer secret hides the rest of its line. */
  readonly heldBytes: number;
  /** `false` is certain: no secret starts in these bytes. */
  readonly mayHoldSecret: (bytes: Buffer) => boolean;
  readonly emit: (bytes: Buffer) => void;
}

/**
 * One line that is too long to examine in one piece. The result depends on where the pieces end, so the caller must cut
 * them by their offset in the line. Holds one piece and what is held back.
 */
export class LongLine {
  readonly #options: LongLineOptions;
  /** Cleaned bytes: the first `#contextLength` were emitted and are context, the rest is held back. */
  #pending: Buffer = NO_BYTES;
  #contextLength = 0;
  #hasEmitted = false;
  #escape = '';
  /** After a `\r`: the next text replaces the line. */
  #rewinding = false;
  /** Inside a secret whose end was not seen yet. */
  #inSecret = false;

  constructor(options: LongLineOptions) {
    this.#options = options;
  }

  /** Adds the next bytes of the line: no newline, and no end inside a UTF-8 sequence. They may be reused afterwards. */
  add(bytes: Buffer): void {
    if (this.#escape === '' && !this.#rewinding && firstUnplain(bytes, 0, bytes.length) === bytes.length) {
      this.#addClean(bytes);
      this.#emit(false);
      return;
    }
    const text = this.#escape + bytes.toString('utf8');
    const end = unfinishedEscapeStart(text);
    this.#escape = text.slice(end);
    this.#addText(cleanText(text.slice(0, end)));
    this.#emit(false);
  }

  /** Emits the rest. */
  end(): void {
    this.#addText(cleanText(this.#escape));
    this.#emit(true);
  }

  #addText(text: string): void {
    const end = text.indexOf('\r');
    this.#addState(end === -1 ? text : text.slice(0, end));
    if (end === -1) return;
    this.#rewinding = true;
    this.#addState(foldRewrites(text.slice(end + 1)));
    this.#rewinding ||= text.endsWith('\r');
  }

  #addState(state: string): void {
    if (state === '') return;
    if (this.#rewinding) this.#startAnew();
    this.#addClean(Buffer.from(state));
  }

  #addClean(bytes: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, bytes]);
  }

  /** Emitted text cannot be recalled: in that case the rewrite becomes a line of its own. */
  #startAnew(): void {
    if (this.#hasEmitted) {
      this.#emit(true);
      this.#options.emit(Buffer.from('\n'));
    }
    this.#pending = NO_BYTES;
    this.#contextLength = 0;
    this.#hasEmitted = false;
    this.#inSecret = false;
    this.#rewinding = false;
  }

  #emit(isLast: boolean): void {
    const { length } = this.#pending;
    const limit = isLast ? length : characterBoundary(this.#pending, Math.max(0, length - this.#options.heldBytes));
    if (this.#inSecret) this.#dropBefore(length);
    else if (limit > this.#contextLength) this.#dropBefore(this.#emitUpTo(limit, isLast));
  }

  /** Emits pending bytes up to `limit`, or to the end of a secret that reaches further; returns where it stopped. */
  #emitUpTo(limit: number, isLast: boolean): number {
    const { redactor, mayHoldSecret, emit } = this.#options;
    const pending = this.#pending;
    const startsLine = !this.#hasEmitted;
    this.#hasEmitted = true;
    if (!mayHoldSecret(pending)) {
      emit(pending.subarray(this.#contextLength, limit));
      return limit;
    }
    const text = pending.toString('utf8');
    const from = pending.toString('utf8', 0, this.#contextLength).length;
    const to = pending.toString('utf8', 0, limit).length;
    const ranges = redactor.find({ text, from, to, startsLine });
    emit(Buffer.from(replaceRanges(text, { from, to, ranges })));
    const end = ranges.at(-1)?.end ?? 0;
    this.#inSecret = end === text.length && !isLast;
    return end > to ? Buffer.byteLength(text.slice(0, end)) : limit;
  }

  #dropBefore(end: number): void {
    const start = characterBoundary(this.#pending, Math.max(0, end - CONTEXT_BYTES));
    this.#pending = this.#pending.subarray(start);
    this.#contextLength = end - start;
  }
}
