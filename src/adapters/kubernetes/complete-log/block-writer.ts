const BLOCK_BYTES = 64 * 1_024;
/** The first block is small: most logs are. Each one after it is larger by this. */
const FIRST_BLOCK_BYTES = 1_024;
const GROWTH = 8;
/** Pieces of this size are handed on as they are; smaller ones are gathered. */
const WHOLE_BYTES = 8 * 1_024;
const NEWLINE = 10;

/** Gathers content into blocks for the sink and stops exactly at the limit. Holds one block and what was not taken yet. */
export class Output {
  readonly #limitBytes: number;
  #block = Buffer.allocUnsafe(FIRST_BLOCK_BYTES);
  #from = 0;
  #to = 0;
  #ready: Buffer[] = [];
  #bytes = 0;
  #isFull = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Content bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** There was more content than the limit. */
  get isFull(): boolean {
    return this.#isFull;
  }

  write(bytes: Buffer, from: number, to: number): void {
    const end = Math.min(to, from + this.#limitBytes - this.#bytes);
    if (end < to) this.#isFull = true;
    const length = end - from;
    if (length <= 0) return;
    this.#bytes += length;
    if (length >= WHOLE_BYTES) {
      this.#cut();
      this.#ready.push(bytes.subarray(from, end));
      return;
    }
    if (this.#to + length > this.#block.length) this.#startBlock();
    bytes.copy(this.#block, this.#to, from, end);
    this.#to += length;
  }

  newline(): void {
    if (this.#bytes >= this.#limitBytes) {
      this.#isFull = true;
      return;
    }
    if (this.#to === this.#block.length) this.#startBlock();
    this.#block[this.#to] = NEWLINE;
    this.#to += 1;
    this.#bytes += 1;
  }

  /** Everything that is ready for the sink, in order. */
  take(): Buffer[] {
    this.#cut();
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  #cut(): void {
    if (this.#to > this.#from) this.#ready.push(this.#block.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }

  /** A new block each time: the sink may keep what it was given. */
  #startBlock(): void {
    this.#cut();
    this.#block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, this.#block.length * GROWTH));
    this.#from = 0;
    this.#to = 0;
  }
}
