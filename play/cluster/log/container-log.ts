import { LogFile } from './log-file.ts';
import { STAMP_LENGTH, Stamps, TAG_LENGTH } from './stamps.ts';

const NEWLINE = 10;
/** A burst is cut here, so that one file append stays short. */
const MAX_BURST = 256 * 1024;

interface ContainerLogParts {
  readonly now: () => number;
  /** A fresh path for a file; nothing is made there while the log is small. */
  readonly newPath: () => string;
  /** Called once for each file that has grown over `maxBytes`. */
  readonly onOverflow: (log: ContainerLog) => void;
  readonly maxBytes: number;
}

/**
 * The log of one container: the file that is written, and its rotation. Only the newest file can be opened; what was
 * rotated away is left to those who have it open.
 */
export class ContainerLog {
  readonly #parts: ContainerLogParts;
  readonly #stamps: Stamps;
  readonly #waiting = new Set<() => void>();
  #file: LogFile;
  #isInLine = false;
  #hasOverflown = false;
  #isRunning = true;
  #rotations = 0;
  /** The last 2 KiB without stamps, for `FallbackToLogsOnError`. */
  #tail = Buffer.alloc(0);

  constructor(parts: ContainerLogParts) {
    this.#parts = parts;
    this.#stamps = new Stamps(parts.now);
    this.#file = new LogFile(parts.newPath());
  }

  get file(): LogFile {
    return this.#file;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get rotations(): number {
    return this.#rotations;
  }

  /** The end of the log as the kubelet takes it for a termination message: at most 2,048 bytes and 80 lines. */
  get tail(): string {
    return this.#tail.toString('utf8').split('\n').slice(-81).join('\n');
  }

  write(content: Buffer): void {
    for (let at = 0; at < content.length; at += MAX_BURST) this.#writeBurst(content.subarray(at, at + MAX_BURST));
    this.#tail = Buffer.from(Buffer.concat([this.#tail, content.subarray(-2048)]).subarray(-2048));
    this.#wake();
  }

  /** The container has ended: an unfinished line is finished, as the runtime does. */
  end(): void {
    if (!this.#isRunning) return;
    if (this.#isInLine) this.#writeBurst(Buffer.from('\n'));
    this.#isRunning = false;
    this.#wake();
  }

  rotate(): void {
    this.#file.retire();
    this.#file = new LogFile(this.#parts.newPath());
    this.#isInLine = false;
    this.#hasOverflown = false;
    this.#rotations += 1;
    this.#wake();
  }

  /** Nothing will be read or written any more. */
  discard(): void {
    this.end();
    this.#file.retire();
  }

  /** Calls once, at the next write, rotation or end. The returned function takes it back. */
  onChange(listener: () => void): () => void {
    this.#waiting.add(listener);
    return () => this.#waiting.delete(listener);
  }

  #writeBurst(content: Buffer): void {
    if (content.length === 0) return;
    this.#stamps.refresh();
    const lines = countLines(content);
    const stamps = lines + (this.#isInLine ? 0 : 1);
    const out = Buffer.allocUnsafe(content.length + stamps * STAMP_LENGTH);
    let written = 0;
    let from = 0;
    while (from < content.length) {
      if (!this.#isInLine) {
        this.#stamps.write(out, written);
        written += STAMP_LENGTH;
      }
      const found = content.indexOf(NEWLINE, from);
      const end = found < 0 ? content.length : found + 1;
      content.copy(out, written, from, end);
      written += end - from;
      this.#isInLine = found < 0;
      from = end;
    }
    this.#file.append(out.subarray(0, written), written + TAG_LENGTH * (lines + 1), this.#stamps.second);
    this.#noticeOverflow();
  }

  #noticeOverflow(): void {
    if (this.#hasOverflown || this.#file.nodeBytes <= this.#parts.maxBytes) return;
    this.#hasOverflown = true;
    this.#parts.onOverflow(this);
  }

  #wake(): void {
    const listeners = [...this.#waiting];
    this.#waiting.clear();
    for (const listener of listeners) listener();
  }
}

function countLines(content: Buffer): number {
  let lines = 0;
  for (let at = content.indexOf(NEWLINE); at >= 0; at = content.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}
