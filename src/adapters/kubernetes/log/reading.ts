import { LineReader } from './line-reader.ts';
import type { LogStream } from './log-stream.ts';
import type { Merge } from './merge.ts';

const NOTHING = Buffer.alloc(0);

/** The reading of one stream into the merge, which may stop it or hold it at a line. */
export class Reading {
  readonly stream: LogStream;
  readonly #merge: Merge;
  /** Keeps its place in the stream, for who reads on after this reading. */
  readonly reader: LineReader;
  #left: Buffer[] = [];
  #isFinished = false;

  constructor(stream: LogStream, merge: Merge) {
    this.stream = stream;
    this.#merge = merge;
    this.reader = new LineReader({ mayBeginWithin: stream.sinceSeconds !== undefined });
  }

  /** What there is to read now; to be given back chunk by chunk. */
  take(): Buffer[] {
    const left = this.#left;
    this.#left = [];
    return this.stream.isEmpty ? left : [...left, ...this.stream.take()];
  }

  /** Reads `chunks[index]`. False when the reading goes no further: the merge has stopped it, or holds it (then the rest is kept). */
  read(chunks: Buffer[], index: number): boolean {
    this.reader.needsHead = this.#merge.needsHead;
    const goesOn = this.reader.read(chunks[index] ?? NOTHING, this.#merge);
    if (!this.#merge.isHeld) return goesOn;
    // The held line is with the reader; reading nothing tries it again.
    this.#left = [NOTHING, ...chunks.slice(index + 1)];
    return false;
  }

  /** The stream has ended and is empty: reads what was held back, once. Undefined when that was done. False as `read`. */
  finish(): boolean | undefined {
    if (this.#isFinished) return undefined;
    const goesOn = this.#merge.finishing(() => this.reader.finish(this.#merge));
    this.#isFinished = !this.#merge.isHeld;
    if (this.reader.nodeWords !== undefined) this.stream.refuse(this.reader.nodeWords);
    return goesOn;
  }
}
