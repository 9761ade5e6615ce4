import type { LineReader, LineTaker, Verdict } from './line-reader.ts';
import type { LogStream } from './log-stream.ts';
import type { LogTimes } from './log-times.ts';
import { type Stamp, stepMs } from './stamp.ts';

/** A follow that was left because it was silent, although it had not ended. */
export interface Retired {
  readonly stream: LogStream;
  /** It goes on where the reading stopped. */
  readonly reader: LineReader;
  /** The line before which everything of its file was taken to be read. */
  readonly next: Readonly<Stamp>;
  /** It was only held up after all: lines of its file are missing. */
  readonly onLate: () => void;
}

/**
 * Follows that were silent for so long that their file was taken to be read to its end. They are listened to further: one that still
 * brings a line older than the next file's first proves that lines were left out.
 */
export class RetiredStreams {
  readonly #marginMs: number;
  #retired: Retired[] = [];
  #isLast = false;
  #waitedTicks = 0;

  constructor(marginMs: number) {
    this.#marginMs = marginMs;
  }

  add(retired: Retired): void {
    this.#retired.push(retired);
  }

  tick(): void {
    this.#waitedTicks += 1;
  }

  /** Hears what has come since; forgets those about which all is known. */
  listen(): void {
    this.#retired = this.#retired.filter((retired) => !this.#isDecided(retired));
  }

  /** All else is over: true once all of them have ended, or, after a moment, those that have not are said to be in doubt. */
  isOver(times: Pick<LogTimes, 'tickMs' | 'exhaustedMs'>): boolean {
    if (this.#retired.length === 0) return true;
    if (!this.#isLast) this.#waitedTicks = 0;
    this.#isLast = true;
    if (this.#waitedTicks * times.tickMs < times.exhaustedMs) return false;
    for (const { onLate } of this.#retired) onLate();
    return true;
  }

  close(): void {
    for (const { stream } of this.#retired) stream.close();
    this.#retired = [];
  }

  #isDecided({ stream, reader, next, onLate }: Retired): boolean {
    const verdict = new FirstLine(next, this.#marginMs);
    const goesOn = stream.take().every((chunk) => reader.read(chunk, verdict));
    if (goesOn && !stream.end) return false;
    if (verdict.isLate || stream.end?.error) onLate();
    stream.close();
    return true;
  }
}

/** Looks at the first stamp only: at the end of its file a follow may also go on into a newer one, which says nothing. */
class FirstLine implements LineTaker {
  readonly #next: Readonly<Stamp>;
  readonly #marginMs: number;
  isLate = false;

  constructor(next: Readonly<Stamp>, marginMs: number) {
    this.#next = next;
    this.#marginMs = marginMs;
  }

  begin(stamp: Stamp | undefined): Verdict {
    if (!stamp) return 'pass';
    this.isLate = stepMs(this.#next, stamp) <= this.#marginMs;
    return 'stop';
  }

  content(): void {}

  end(): boolean {
    return true;
  }
}
