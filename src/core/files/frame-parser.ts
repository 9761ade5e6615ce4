import {
  type FrameHeader,
  type FrameLine,
  MAX_LINE_BYTES,
  mayBeCut,
  mayBeFrames,
  readFrameLine,
  readLongLine,
} from './frame-lines.ts';
import { type FramePart, FrameParts, type Piece } from './frame-parts.ts';

/**
 * Takes the files of a diagnostic image out of its log (docs/diagnostic-images.md, "Files"): separates the marked lines
 * from the text around them. It knows nothing of limits, names and hashes, which `FileGate` and `RunFiles` check.
 */

const NEWLINE = 0x0a;

/** A frame whose end line has not come. */
interface OpenFrame {
  /** Undefined: its begin line is lost, or has no name. */
  readonly name: string | undefined;
  lastLine: number;
  /** A line is missing, so the receiver has its `end` already; what comes is left out. */
  isBroken: boolean;
}

/**
 * Receives the chunks of one raw log in order. How the log is cut into chunks changes nothing but the cuts of `text`.
 * Text between the lines of a frame, of another stream of the image, stays text. A frame ends, incomplete, at the next
 * begin line, at the report or at the end of the log; text behind it is not lost. Holds back an unfinished line of up
 * to 8 KiB. Linear time.
 */
export class FrameParser {
  readonly #parts: FrameParts;
  #frame: OpenFrame | undefined;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** The destination of the rest of a line whose beginning is decided. */
  #rest: 'text' | 'nothing' | undefined;

  /** Text over `maxTextBytes` is left out; files are not. */
  constructor(maxTextBytes: number) {
    this.#parts = new FrameParts(maxTextBytes);
  }

  /** Some text was left out. */
  get isTextCut(): boolean {
    return this.#parts.isTextCut;
  }

  /** The parts share memory with `chunk`. */
  push(chunk: Buffer): readonly FramePart[] {
    for (let from = 0; from < chunk.length; ) {
      const newline = chunk.indexOf(NEWLINE, from);
      const to = newline === -1 ? chunk.length : newline + 1;
      this.#piece({ source: chunk, from, to }, newline !== -1);
      from = to;
    }
    return this.#parts.flush();
  }

  /** The rest; an open frame is incomplete. */
  end(): readonly FramePart[] {
    if (this.#heldBytes > 0) {
      const line = Buffer.concat(this.#held);
      if (this.#frame === undefined || !mayBeCut(line.toString('latin1'))) this.#line(wholeOf(line));
    }
    this.#close();
    return this.#parts.flush();
  }

  #piece(piece: Piece, isEnded: boolean): void {
    if (this.#rest !== undefined) {
      if (this.#rest === 'text') this.#parts.text(piece);
      if (isEnded) this.#rest = undefined;
    } else if (this.#heldBytes > 0) this.#hold(piece, isEnded);
    else if (!isEnded) this.#hold(piece, false);
    else if (mayBeFrames(piece.source[piece.from] ?? 0, piece.to - piece.from)) this.#line(piece);
    else this.#parts.text(piece);
  }

  #hold({ source, from, to }: Piece, isEnded: boolean): void {
    // A copy: the caller may reuse the chunk.
    this.#held.push(Buffer.from(source.subarray(from, to)));
    this.#heldBytes += to - from;
    if (!isEnded && this.#heldBytes <= MAX_LINE_BYTES) return;
    const line = wholeOf(Buffer.concat(this.#held));
    this.#held = [];
    this.#heldBytes = 0;
    if (isEnded) this.#line(line);
    else this.#rest = this.#longLine(line);
  }

  /** A whole line, with its newline unless it is the log's last. */
  #line(piece: Piece): void {
    const { source, from, to } = piece;
    const end = source[to - 1] === NEWLINE ? to - 1 : to;
    if (end - from > MAX_LINE_BYTES) this.#longLine(piece);
    else this.#accept(readFrameLine(source.toString('latin1', from, end)), piece);
  }

  #longLine(piece: Piece): 'text' | 'nothing' {
    const { source, from, to } = piece;
    const line = readLongLine(source.toString('latin1', from, Math.min(to, from + MAX_LINE_BYTES)));
    this.#accept(line, piece);
    return line.kind === 'text' ? 'text' : 'nothing';
  }

  #accept(line: FrameLine, piece: Piece): void {
    switch (line.kind) {
      case 'begin':
        this.#begin(line.header);
        break;
      case 'bad-begin':
        this.#badBegin(line.name);
        break;
      case 'end':
        this.#end(line.name, line.lines);
        break;
      case 'bad-end':
        // Without a frame it is an image's own words.
        if (this.#frame === undefined) this.#parts.text(piece);
        this.#close();
        break;
      case 'numbered':
        this.#numbered(line, piece);
        break;
      case 'lost':
        this.#loseLine();
        break;
      default:
        if (line.kind === 'report') this.#close();
        this.#parts.text(piece);
    }
  }

  #begin(header: FrameHeader): void {
    this.#close();
    this.#frame = { name: header.name, lastLine: 0, isBroken: false };
    this.#parts.add({ kind: 'begin', header });
  }

  #badBegin(name: string | undefined): void {
    this.#close();
    this.#frame = { name, lastLine: 0, isBroken: true };
    if (name !== undefined) this.#lost(name);
  }

  #numbered({ number, base64, isLong }: Extract<FrameLine, { kind: 'numbered' }>, piece: Piece): void {
    const frame = this.#frame;
    if (frame === undefined && !isLong) this.#parts.text(piece);
    else if (frame === undefined || number !== frame.lastLine + 1) this.#loseLine();
    else if (!frame.isBroken) {
      frame.lastLine = number;
      this.#parts.add({ kind: 'data', bytes: Buffer.from(base64, 'base64') });
    }
  }

  #end(name: string, lines: number): void {
    const frame = this.#frame;
    if (frame !== undefined && !frame.isBroken && frame.name === name && frame.lastLine === lines) {
      this.#frame = undefined;
      this.#parts.add({ kind: 'end', isWhole: true });
      return;
    }
    // Of a frame whose begin line is lost, the name is known here only.
    if (frame?.name === undefined) this.#frame = undefined;
    else this.#close();
    if (frame?.name !== name) this.#lost(name);
  }

  /** A line of a frame that cannot be used. */
  #loseLine(): void {
    if (this.#frame === undefined) this.#frame = { name: undefined, lastLine: 0, isBroken: true };
    else this.#break(this.#frame);
  }

  #break(frame: OpenFrame): void {
    if (!frame.isBroken) this.#parts.add({ kind: 'end', isWhole: false });
    frame.isBroken = true;
  }

  /** Ends the open frame, whose end line is lost. */
  #close(): void {
    const frame = this.#frame;
    this.#frame = undefined;
    if (frame === undefined) return;
    if (frame.name === undefined) this.#lost('');
    else this.#break(frame);
  }

  /** A file of which no more than this is known. */
  #lost(name: string): void {
    const header = { name, bytes: 0, sha256: '', encoding: 'base64', problem: 'incomplete' } as const;
    this.#parts.add({ kind: 'begin', header });
    this.#parts.add({ kind: 'end', isWhole: false });
  }
}

const wholeOf = (line: Buffer): Piece => ({ source: line, from: 0, to: line.length });

/** A short text that may be the end of a log, without the lines of files; also of files that began before it. */
export function withoutFrames(text: string): string {
  const parser = new FrameParser(Number.POSITIVE_INFINITY);
  const parts = [...parser.push(Buffer.from(text)), ...parser.end()];
  return parts.map((part) => (part.kind === 'text' ? part.bytes.toString('utf8') : '')).join('');
}
