import type { Clock } from './clock.ts';

/** A mailbox for one value, the newest, so a slow reader never causes a backlog. One reader at a time. */
export class LatestValue<Value> {
  readonly #clock: Clock;
  #value: { readonly value: Value } | undefined;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  put(value: Value): void {
    this.#value = { value };
    this.#wake?.();
  }

  nudge(): void {
    this.#wake?.();
  }

  /** The newest unread value; `undefined` when `untilMs` (of `clock.elapsed`) passes before one comes. */
  async next(untilMs: number): Promise<Value | undefined> {
    if (!this.#value) await this.#wait(untilMs);
    const held = this.#value;
    this.#value = undefined;
    return held?.value;
  }

  #wait(untilMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        this.#wake = undefined;
        resolve();
      };
      // setTimeout takes at most 2^31 - 1 ms; a longer wait simply checks again.
      const cancel = this.#clock.after(Math.min(Math.max(0, untilMs - this.#clock.elapsed()), 2_000_000_000), done);
      this.#wake = done;
    });
  }
}
