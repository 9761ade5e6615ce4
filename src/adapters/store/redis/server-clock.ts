/**
 * Redis' clock as far as this process knows it, so that a command can say until when it may be carried out. Estimates are never
 * ahead of the truth: what they call "now" is not later than Redis' now, unless Redis' clock was set back since the last answer
 * on this connection.
 */
export class ServerClock {
  /** Redis' ms minus ours, at most; ours is monotonic. */
  #aheadMs = Number.NEGATIVE_INFINITY;

  /** An answer that carried Redis' time came in just now. */
  observe(serverMs: number): void {
    this.#aheadMs = Math.max(this.#aheadMs, serverMs - performance.now());
  }

  /** The first answer on a new connection: what was learnt on another counts no more. */
  reset(serverMs: number): void {
    this.#aheadMs = serverMs - performance.now();
  }

  /** Redis' time, whole ms, at a moment of `performance.now()`. */
  at(localMs: number): number {
    return Math.floor(localMs + this.#aheadMs);
  }
}
