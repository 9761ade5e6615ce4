/** A line longer than allowed: nothing that an API server sends. */
class LineTooLong extends Error {}

/**
 * Cuts a stream of bytes into lines, without their newline. Holds at most one unfinished line of `limitBytes`.
 * @throws LineTooLong from `push`
 */
export class LineSplitter {
  readonly #limitBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let newline = chunk.indexOf(10); newline >= 0; newline = chunk.indexOf(10, from)) {
      lines.push(this.#finish(chunk.subarray(from, newline)));
      from = newline + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
    return lines;
  }

  #finish(end: Buffer): string {
    if (this.#heldBytes === 0) return end.toString('utf8');
    const line = Buffer.concat([...this.#held, end]).toString('utf8');
    this.#held = [];
    this.#heldBytes = 0;
    return line;
  }

  #hold(part: Buffer): void {
    this.#heldBytes += part.length;
    if (this.#heldBytes > this.#limitBytes) throw new LineTooLong();
    this.#held.push(part);
  }
}
