/** Ticks without bytes after which a follow no longer counts as flowing. */
const FLOWING_TICKS = 2;

/**
 * How long the front has been silent. Counted in ticks and not by the clock, so that a process that was held up does not take its
 * own silence for the server's.
 */
export class Pulse {
  readonly #tickMs: number;
  #ticks = 0;
  #isProbed = false;

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
  }

  get quietMs(): number {
    return this.#ticks * this.#tickMs;
  }

  get isFlowing(): boolean {
    return this.#ticks <= FLOWING_TICKS;
  }

  /** Once in a silence: true the first time. */
  probe(): boolean {
    const isFirst = !this.#isProbed;
    this.#isProbed = true;
    return isFirst;
  }

  /** Bytes came, or another stream is listened to. */
  beat(): void {
    this.#ticks = 0;
    this.#isProbed = false;
  }

  /** `isIdle`: bytes were waited for. */
  tick(isIdle: boolean): void {
    this.#ticks = isIdle ? this.#ticks + 1 : 0;
  }
}
