const TAIL_BYTES = 256;
/** A shorter end proves nothing: lines like "ok" end many others. */
const TELLING_BYTES = 8;

/** The length of a line's content and its last 256 bytes, gathered piece by piece without copying what lies in one piece. */
export class LineEnd {
  length = 0;
  #bytes: Buffer = Buffer.alloc(0);
  #from = 0;
  #to = 0;

  reset(): void {
    this.length = 0;
  }

  add(bytes: Buffer, from: number, to: number): void {
    const start = Math.max(from, to - TAIL_BYTES);
    if (this.length === 0 || to - start === TAIL_BYTES) {
      this.#bytes = bytes;
      this.#from = start;
      this.#to = to;
    } else {
      this.#bytes = Buffer.concat([this.#tail(), bytes.subarray(start, to)]);
      this.#to = this.#bytes.length;
      this.#from = Math.max(0, this.#to - TAIL_BYTES);
    }
    this.length += to - from;
  }

  /** Whether this longer line ends as `rest` does, so that `rest` may be its second half. */
  mayEndWith(rest: LineEnd): boolean {
    if (rest.length < TELLING_BYTES || rest.length >= this.length) return false;
    const [tail, other] = [this.#tail(), rest.#tail()];
    const compared = Math.min(tail.length, other.length);
    return tail.subarray(-compared).equals(other.subarray(-compared));
  }

  #tail(): Buffer {
    return this.#bytes.subarray(this.#from, this.#to);
  }
}
