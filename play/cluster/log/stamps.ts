/** `2026-11-21T09:11:32.205992089Z ` is always this long. */
export const STAMP_LENGTH = 31;

/** What a record on a node carries besides stamp and content: ` stdout F`. */
export const TAG_LENGTH = 9;

const SECONDS_LENGTH = 20;

/** Stamps with nine digits that never repeat and never go back. */
export class Stamps {
  readonly #now: () => number;
  #second = 0;
  #nanos = -1;
  #prefix = Buffer.alloc(0);

  /** `now`: milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get second(): number {
    return this.#second;
  }

  /** To be called before a burst of lines: takes the time; lines of one burst are a nanosecond apart. */
  refresh(): void {
    const ms = this.#now();
    const second = Math.floor(ms / 1000);
    const nanos = Math.floor((ms - second * 1000) * 1e6);
    if (second < this.#second || (second === this.#second && nanos <= this.#nanos)) return;
    this.#set(second, nanos - 1);
  }

  /** Writes the next stamp and its blank. */
  write(target: Buffer, at: number): void {
    this.#nanos += 1;
    if (this.#nanos > 999_999_999) this.#set(this.#second + 1, 0);
    this.#prefix.copy(target, at);
    let rest = this.#nanos;
    for (let digit = 8; digit >= 0; digit -= 1) {
      target[at + SECONDS_LENGTH + digit] = 48 + (rest % 10);
      rest = Math.floor(rest / 10);
    }
    target[at + 29] = 90;
    target[at + 30] = 32;
  }

  #set(second: number, nanos: number): void {
    if (second !== this.#second || this.#prefix.length === 0) {
      this.#prefix = Buffer.from(`${new Date(second * 1000).toISOString().slice(0, 19)}.`);
    }
    this.#second = second;
    this.#nanos = nanos;
  }
}
