import { characterBoundary, firstUnplain } from './byte-scan.ts';
import { cleanText, foldRewrites, unfinishedEscapeStart } from './clean-text.ts';
import { type LineRedactor, replaceRanges } from './line-redactor.ts';

/** Held back of a long line, so that a secret is seen whole. A longer one hides the rest of its line. */
const HELD_BYTES = 8 * 1024;
/** Kept of what was given out, for what must stand before a secret. */
const CONTEXT_BYTES = 128;

const NOTHING = Buffer.alloc(0);

export interface LongLineOptions {
  readonly redactor: LineRedactor;
  /** Whether a secret may start in these bytes; `false` is certain. */
  readonly mayHoldSecret: (bytes: Buffer) => boolean;
  readonly give: (bytes: Buffer) => void;
}

/**
 * One line that is too long to be looked at in one piece. Its result depends on the line and on where the pieces end,
 * so the caller cuts pieces by their offset in the line. Holds a piece and 8 KiB.
 */
export class LongLine {
  readonly #options: LongLineOptions;
  /** Cleaned bytes: `#given` of them are context, the rest is held back. */
  #pending: Buffer = NOTHING;
  #given = 0;
  #anyGiven = false;
  #escape = '';
  /** A `\r` came: whatever comes next writes the line anew. */
  #rewinding = false;
  /** In a secret whose end was not seen. */
  #inSecret = false;

  constructor(options: LongLineOptions) {
    this.#options = options;
  }

  /** The next bytes, without a newline, not ending inside a UTF-8 sequence. They may be reused afterwards. */
  add(bytes: Buffer): void {
    if (this.#escape === '' && !this.#rewinding && firstUnplain(bytes, 0, bytes.length) === bytes.length) {
      this.#addClean(bytes);
      this.#give(false);
      return;
    }
    const text = this.#escape + bytes.toString('utf8');
    const end = unfinishedEscapeStart(text);
    this.#escape = text.slice(end);
    this.#addText(cleanText(text.slice(0, end)));
    this.#give(false);
  }

  /** Gives out the rest. */
  end(): void {
    this.#addText(cleanText(this.#escape));
    this.#give(true);
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

  /** What was given out cannot be taken back: then the rewrite is a line of its own. */
  #startAnew(): void {
    if (this.#anyGiven) {
      this.#give(true);
      this.#options.give(Buffer.from('\n'));
    }
    this.#pending = NOTHING;
    this.#given = 0;
    this.#anyGiven = false;
    this.#inSecret = false;
    this.#rewinding = false;
  }

  #give(isLast: boolean): void {
    const { length } = this.#pending;
    const limit = isLast ? length : characterBoundary(this.#pending, Math.max(0, length - HELD_BYTES));
    if (this.#inSecret) this.#keepFrom(length);
    else if (limit > this.#given) this.#keepFrom(this.#giveUpTo(limit, isLast));
  }

  /** Gives out what is pending up to `limit`, or to the end of a secret that reaches further; returns where it stopped. */
  #giveUpTo(limit: number, isLast: boolean): number {
    const { redactor, mayHoldSecret, give } = this.#options;
    const pending = this.#pending;
    const startsLine = !this.#anyGiven;
    this.#anyGiven = true;
    if (!mayHoldSecret(pending)) {
      give(pending.subarray(this.#given, limit));
      return limit;
    }
    const text = pending.toString('utf8');
    const from = pending.toString('utf8', 0, this.#given).length;
    const to = pending.toString('utf8', 0, limit).length;
    const ranges = redactor.find({ text, from, to, startsLine });
    give(Buffer.from(replaceRanges(text, { from, to, ranges })));
    const end = ranges.at(-1)?.end ?? 0;
    this.#inSecret = end === text.length && !isLast;
    return end > to ? Buffer.byteLength(text.slice(0, end)) : limit;
  }

  #keepFrom(end: number): void {
    const start = characterBoundary(this.#pending, Math.max(0, end - CONTEXT_BYTES));
    this.#pending = this.#pending.subarray(start);
    this.#given = end - start;
  }
}
