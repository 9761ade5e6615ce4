export interface LineSelection {
  /** At most so many lines, the last ones. */
  readonly tail: number;
  /** In bytes of UTF-8, for all selected lines together. */
  readonly maxBytes: number;
  /** A literal; case does not matter. */
  readonly grep?: string;
  /** A line that begins with this ends the selection: an image's report follows. */
  readonly until?: string;
}

export interface SelectedLines {
  /** Without the last newline. */
  readonly text: string;
  /** Lines in `text`. */
  readonly lines: number;
  /** Lines that match, also those before the last `tail`. */
  readonly matching: number;
  /** All lines read. */
  readonly total: number;
}

/** A longer line is cut for showing, not for searching. */
const MAX_LINE_LENGTH = 4_096;
const ELLIPSIS = '…';

/**
 * Selects lines of one filtered log, pushed in chunks, in linear time. Memory is bounded by `maxBytes` and one chunk. It
 * must follow the log's redaction, which needs every line from the start: a search then cannot find out secrets either.
 */
export class LineSelector {
  readonly #selection: LineSelection;
  readonly #wanted: string;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #line = '';
  /** The end of a long line that was not searched yet, because a match may begin in it. */
  #searched = '';
  #isMatch = false;
  #isEnded = false;
  #hasPart = false;
  #isCut = false;
  #lines: string[] = [];
  #first = 0;
  #bytes = 0;
  #matching = 0;
  #total = 0;

  constructor(selection: LineSelection) {
    this.#selection = selection;
    this.#wanted = selection.grep?.toLowerCase() ?? '';
  }

  push(chunk: Buffer): void {
    this.#read(this.#decoder.decode(chunk, { stream: true }));
  }

  /** Forgets everything pushed so far: the lines from here on count. Call it between two lines. */
  startHere(): void {
    this.#lines = [];
    [this.#first, this.#bytes, this.#matching, this.#total] = [0, 0, 0, 0];
  }

  end(): SelectedLines {
    this.#read(this.#decoder.decode());
    if (this.#hasPart) this.#endLine();
    const lines = this.#lines.slice(this.#first);
    return { text: lines.join('\n'), lines: lines.length, matching: this.#matching, total: this.#total };
  }

  #read(text: string): void {
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      this.#part(text.slice(from, end));
      this.#endLine();
      from = end + 1;
    }
    if (from < text.length) this.#part(text.slice(from));
  }

  #part(part: string): void {
    this.#hasPart = true;
    const searched = this.#searched + part.toLowerCase();
    this.#isMatch ||= searched.includes(this.#wanted);
    this.#searched = searched.slice(Math.max(0, searched.length - this.#wanted.length));
    const room = MAX_LINE_LENGTH - this.#line.length;
    if (part.length > room) this.#isCut = true;
    if (room > 0) this.#line += part.slice(0, room);
  }

  #endLine(): void {
    const { until } = this.#selection;
    if (until !== undefined && this.#line.startsWith(until)) this.#isEnded = true;
    if (!this.#isEnded)
      this.#count(this.#isCut ? `${this.#line}${ELLIPSIS}` : this.#line, this.#isMatch || this.#wanted === '');
    [this.#line, this.#searched] = ['', ''];
    [this.#isMatch, this.#isCut, this.#hasPart] = [false, false, false];
  }

  #count(line: string, isMatch: boolean): void {
    this.#total += 1;
    if (!isMatch) return;
    this.#matching += 1;
    this.#lines.push(line);
    this.#bytes += sizeOf(line);
    const { tail, maxBytes } = this.#selection;
    while (this.#lines.length - this.#first > tail || this.#bytes > maxBytes) {
      this.#bytes -= sizeOf(this.#lines[this.#first] ?? '');
      this.#first += 1;
    }
    if (this.#first < 1_024 || this.#first * 2 < this.#lines.length) return;
    this.#lines = this.#lines.slice(this.#first);
    this.#first = 0;
  }
}

const sizeOf = (line: string): number => Buffer.byteLength(line) + 1;
