import type { FrameHeader } from './frame-lines.ts';

/** `begin` and `end` come in turn; `data` only between them, and none in a frame with a problem. */
export type FramePart =
  | { readonly kind: 'text'; readonly bytes: Buffer }
  | { readonly kind: 'begin'; readonly header: FrameHeader }
  /** Decoded from base64; still packed with `gzip+base64`. */
  | { readonly kind: 'data'; readonly bytes: Buffer }
  /** `isWhole`: every line was there, and the end line has their number. */
  | { readonly kind: 'end'; readonly isWhole: boolean };

/** A piece of a chunk, or bytes of their own. */
export interface Piece {
  readonly source: Buffer;
  readonly from: number;
  readonly to: number;
}

/** Gathers the parts of a chunk; neighbouring lines of text are one part. */
export class FrameParts {
  isTextCut = false;
  readonly #maxTextBytes: number;
  #textBytes = 0;
  #parts: FramePart[] = [];
  /** At the end of the parts, still growing. */
  #text: Piece | undefined;

  constructor(maxTextBytes: number) {
    this.#maxTextBytes = maxTextBytes;
  }

  add(part: FramePart): void {
    this.#endText();
    this.#parts.push(part);
  }

  text({ source, from, to: wanted }: Piece): void {
    const to = Math.min(wanted, from + this.#maxTextBytes - this.#textBytes);
    if (to < wanted) this.isTextCut = true;
    if (to <= from) return;
    this.#textBytes += to - from;
    const before = this.#text;
    if (before?.source === source && before.to === from) {
      this.#text = { source, from: before.from, to };
      return;
    }
    this.#endText();
    this.#text = { source, from, to };
  }

  /** All since the last call. */
  flush(): readonly FramePart[] {
    this.#endText();
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  #endText(): void {
    if (this.#text === undefined) return;
    const { source, from, to } = this.#text;
    this.#text = undefined;
    this.#parts.push({ kind: 'text', bytes: source.subarray(from, to) });
  }
}
