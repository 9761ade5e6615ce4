import type { LogCompleteness, LogGap } from '../../../core/run/run.ts';
import { defined } from '../../../lib/defined.ts';
import type { LogTimes } from './log-times.ts';
import { formatStamp, type Stamp, stepMs } from './stamp.ts';

/** The kubelet writes `<stamp> stdout F ` before a line. */
const RECORD_BYTES = 40;
/** A log that stutters for hours must not fill the record of its run. */
const MAX_GAPS = 100;

/** Keeps what decides whether a log is complete (cluster facts, "Logs"). */
export class Completeness {
  readonly #times: Pick<LogTimes, 'gapMs' | 'rotatedBytes'>;
  readonly #gaps: LogGap[] = [];
  #lines = 0;

  constructor(times: Pick<LogTimes, 'gapMs' | 'rotatedBytes'>) {
    this.#times = times;
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
    const { gapMs, rotatedBytes } = this.#times;
    if (stepMs(from, to) >= gapMs && this.fileBytes(atByte) >= rotatedBytes) this.addGap(from, to, atByte);
  }

  addGap(from: Stamp, to: Stamp, atByte: number): void {
    if (this.#gaps.length < MAX_GAPS)
      this.#gaps.push({ fromStamp: formatStamp(from), toStamp: formatStamp(to), atByte });
  }

  result(ending: Ending): LogCompleteness {
    const { limitReached, beginningMayBeMissing, interruptedBy } = ending;
    return {
      complete: !limitReached && !beginningMayBeMissing && this.#gaps.length === 0 && interruptedBy === undefined,
      limitReached,
      beginningMayBeMissing,
      gaps: this.#gaps.toSorted((a, b) => a.atByte - b.atByte),
      ...defined({ interruptedBy }),
    };
  }
}

export interface Ending {
  readonly limitReached: boolean;
  readonly beginningMayBeMissing: boolean;
  readonly interruptedBy: string | undefined;
}
