import type { Clock } from '../../../src/lib/clock.ts';

/** A clock that stands still until it is advanced; then every waker due is called in order, each with its own consequences. */
export class FakeClock implements Clock {
  #nowMs: number;
  #wakers: { readonly atMs: number; readonly wake: () => void }[] = [];

  constructor(nowMs = 1_000_000) {
    this.#nowMs = nowMs;
  }

  now(): number {
    return this.#nowMs;
  }

  after(ms: number, wake: () => void): () => void {
    const waker = { atMs: this.#nowMs + Math.max(0, ms), wake };
    this.#wakers.push(waker);
    return () => {
      this.#wakers = this.#wakers.filter((other) => other !== waker);
    };
  }

  get waiting(): number {
    return this.#wakers.length;
  }

  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await settled();
    for (;;) {
      const next = this.#wakers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (!next) break;
      this.#wakers = this.#wakers.filter((other) => other !== next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.wake();
      await settled();
    }
    this.#nowMs = untilMs;
  }
}

/** Lets promises that can settle without time do so. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
}
