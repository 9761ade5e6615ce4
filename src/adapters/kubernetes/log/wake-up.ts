/** One sleeper, woken by any of several causes; a cause that comes while nobody sleeps is not lost. */
export class WakeUp {
  #isDue = false;
  #wake: (() => void) | undefined;

  readonly ring = (): void => {
    this.#isDue = true;
    this.#wake?.();
  };

  /** Resolves at the next `ring`, or at once if there was one since the last sleep. */
  async sleep(): Promise<void> {
    if (!this.#isDue) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    this.#isDue = false;
  }
}
