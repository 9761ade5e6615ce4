import type { ContainerLog } from './container-log.ts';
import type { LogFile } from './log-file.ts';
import type { LogOptions } from './log-options.ts';
import { STAMP_LENGTH } from './stamps.ts';

const NEWLINE = 10;
const BLOCK = 256 * 1024;

/**
 * Reads a log as the kubelet does (kubelet `ReadLogs`), with its gaps: a follow finishes the file that it has open, then
 * goes on with the newest, so files between are skipped; rotations before its first end-of-file escape it; and once the
 * container has ended it looks for no newer file.
 */
export class LogReader {
  readonly #log: ContainerLog;
  readonly #options: LogOptions;
  #file: LogFile;
  #offset: number;
  #rotationsSeen = -1;
  #isAtLineStart = true;
  #hasSeenEnd = false;

  constructor(log: ContainerLog, options: LogOptions) {
    this.#log = log;
    this.#options = options;
    this.#file = log.file;
    this.#file.pin();
    const since = options.sinceSecond === undefined ? 0 : this.#file.offsetOf(options.sinceSecond);
    const tail = options.tailLines === undefined ? 0 : this.#file.offsetOfTail(options.tailLines);
    this.#offset = Math.max(since, tail);
  }

  /** The next bytes; `wait` when there may be more later; nothing when this read is over. */
  next(): Buffer | 'wait' | undefined {
    for (;;) {
      const block = this.#file.read(this.#offset, BLOCK);
      if (block.length > 0) {
        this.#offset += block.length;
        return this.#options.timestamps ? block : this.#withoutStamps(block);
      }
      const then = this.#atEndOfFile();
      if (then !== 'read on') return then;
    }
  }

  /** Resolves at the next write, rotation or end of the log, or when `signal` aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const finish = () => {
        undo();
        signal.removeEventListener('abort', finish);
        resolve();
      };
      const undo = this.#log.onChange(finish);
      signal.addEventListener('abort', finish, { once: true });
    });
  }

  close(): void {
    this.#file.unpin();
  }

  #atEndOfFile(): 'read on' | 'wait' | undefined {
    if (!this.#options.follow || this.#hasSeenEnd) return undefined;
    if (this.#rotationsSeen < 0) {
      this.#rotationsSeen = this.#log.rotations;
      return 'read on';
    }
    if (!this.#log.isRunning) {
      this.#hasSeenEnd = true;
      return 'read on';
    }
    if (this.#log.rotations > this.#rotationsSeen) {
      this.#open(this.#log.file);
      return 'read on';
    }
    return 'wait';
  }

  #open(file: LogFile): void {
    file.pin();
    this.#file.unpin();
    this.#file = file;
    this.#offset = 0;
    this.#isAtLineStart = true;
    this.#rotationsSeen = this.#log.rotations;
  }

  #withoutStamps(block: Buffer): Buffer {
    const out = Buffer.allocUnsafe(block.length);
    let written = 0;
    let from = 0;
    while (from < block.length) {
      if (this.#isAtLineStart && block.length - from < STAMP_LENGTH) {
        // The block ends within a stamp: leave it for the next one.
        this.#offset -= block.length - from;
        break;
      }
      const start = this.#isAtLineStart ? from + STAMP_LENGTH : from;
      const found = block.indexOf(NEWLINE, start);
      const end = found < 0 ? block.length : found + 1;
      written += block.copy(out, written, start, end);
      this.#isAtLineStart = found >= 0;
      from = end;
    }
    return out.subarray(0, written);
  }
}
