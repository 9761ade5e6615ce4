import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';

/** Up to here a file lives in memory: most logs are a few lines. */
const MEMORY_LIMIT = 512 * 1024;

/**
 * One file of a container's log, append-only, in the form in which it is read (`stamp content`, one line a record).
 * Kept in memory while small, then in a file of the given path. Readers pin it: a file that was rotated away stays
 * readable until the last of them lets go, as an open descriptor does on a node.
 */
export class LogFile {
  readonly #path: string;
  #chunks: Buffer[] = [];
  #starts: number[] = [];
  #descriptor: number | undefined;
  #pins = 0;
  #isRetired = false;
  /** The first byte of each second that has lines: stamps only grow, so `sinceTime` is a look-up. */
  readonly #seconds: { readonly second: number; readonly offset: number }[] = [];
  bytes = 0;
  /** Its size on a node, where each record carries the stream and a tag as well. */
  nodeBytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  append(chunk: Buffer, nodeBytes: number, second: number): void {
    if (this.#seconds.at(-1)?.second !== second) this.#seconds.push({ second, offset: this.bytes });
    if (this.#descriptor === undefined) {
      this.#chunks.push(chunk);
      this.#starts.push(this.bytes);
    } else {
      writeSync(this.#descriptor, chunk);
    }
    this.bytes += chunk.length;
    this.nodeBytes += nodeBytes;
    if (this.#descriptor === undefined && this.bytes > MEMORY_LIMIT) this.#spill();
  }

  /** Up to `max` bytes from `offset`; empty at the end. */
  read(offset: number, max: number): Buffer {
    const length = Math.min(max, this.bytes - offset);
    if (length <= 0) return Buffer.alloc(0);
    if (this.#descriptor === undefined) return this.#readMemory(offset, length);
    const buffer = Buffer.allocUnsafe(length);
    return buffer.subarray(0, readSync(this.#descriptor, buffer, 0, length, offset));
  }

  /** Where the first line of `second` or later begins. */
  offsetOf(second: number): number {
    return this.#seconds.find((each) => each.second >= second)?.offset ?? this.bytes;
  }

  /** Where the last `lines` lines begin. */
  offsetOfTail(lines: number): number {
    const block = 64 * 1024;
    let left = lines + 1;
    for (let end = this.bytes; end > 0; end -= block) {
      const start = Math.max(0, end - block);
      const chunk = this.read(start, end - start);
      for (let at = chunk.lastIndexOf(10); at >= 0; at = at === 0 ? -1 : chunk.lastIndexOf(10, at - 1)) {
        left -= 1;
        if (left === 0) return start + at + 1;
      }
    }
    return 0;
  }

  pin(): void {
    this.#pins += 1;
  }

  unpin(): void {
    this.#pins -= 1;
    this.#drop();
  }

  /** Nobody new will open it. */
  retire(): void {
    this.#isRetired = true;
    this.#drop();
  }

  #readMemory(offset: number, length: number): Buffer {
    let low = 0;
    let high = this.#starts.length;
    while (low < high - 1) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    const within = offset - (this.#starts[low] ?? 0);
    const first = (this.#chunks[low] ?? Buffer.alloc(0)).subarray(within, within + length);
    if (first.length === length || low + 1 >= this.#chunks.length) return first;
    return Buffer.concat([first, ...this.#chunks.slice(low + 1)], length);
  }

  #spill(): void {
    this.#descriptor = openSync(this.#path, 'w+', 0o600);
    for (const chunk of this.#chunks) writeSync(this.#descriptor, chunk);
    this.#chunks = [];
    this.#starts = [];
  }

  #drop(): void {
    if (!this.#isRetired || this.#pins > 0) return;
    this.#chunks = [];
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    unlinkSync(this.#path);
    this.#descriptor = undefined;
    this.bytes = 0;
  }
}
