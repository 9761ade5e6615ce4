import type { LogCompleteness, LogGap } from '../../../core/run/run.ts';
import { formatStamp, type Stamp, stepMs } from './stamp.ts';

/** The kubelet writes `<stamp> stdout F ` before a line. */
const RECORD_BYTES = 40;
/** A file is rotated when it is over 10 MiB; a little less, because parts of long lines have a stamp each that is not counted. */
const ROTATED_BYTES = 9 * 1024 * 1024;
/** A log that stutters for hours must not fill the record of its run. */
const MOST_GAPS = 100;

/** Keeps what decides whether a log is complete (cluster facts, "Logs"). */
export class Completeness {
  readonly #gapMs: number;
  readonly #gaps: LogGap[] = [];
  #lines = 0;

  constructor(gapMs: number) {
    this.#gapMs = gapMs;
  }

  get gaps(): readonly LogGap[] {
    return this.#gaps;
  }

  addLine(): void {
    this.#lines += 1;
  }

  /** The least that the kubelet's files must have held for these lines. */
  fileBytes(contentBytes: number): number {
    return contentBytes + this.#lines * RECORD_BYTES;
  }

  /** A lost file shows as a step in the stamps; before 10 MiB were written there was no second file. */
  step(from: Stamp, to: Stamp, atByte: number): void {
    if (stepMs(from, to) >= this.#gapMs && this.fileBytes(atByte) >= ROTATED_BYTES) this.addGap(from, to, atByte);
  }

  addGap(from: Stamp, to: Stamp, atByte: number): void {
    if (this.#gaps.length < MOST_GAPS)
      this.#gaps.push({ fromStamp: formatStamp(from), toStamp: formatStamp(to), atByte });
  }

  result(ending: Ending): LogCompleteness {
    const { limitReached, beginningMayBeMissing, interruptedBy } = ending;
    return {
      complete: !limitReached && !beginningMayBeMissing && this.#gaps.length === 0 && interruptedBy === undefined,
      limitReached,
      beginningMayBeMissing,
      gaps: this.#gaps,
      ...(interruptedBy !== undefined && { interruptedBy }),
    };
  }
}

export interface Ending {
  readonly limitReached: boolean;
  readonly beginningMayBeMissing: boolean;
  readonly interruptedBy: string | undefined;
}
