import type { LogStream } from './log-stream.ts';
import type { LogTools } from './log-streams.ts';

/** When the container ended, when the follow in front did, and what the one says about the other. Our own clock. */
export class Ending {
  readonly #tools: LogTools;
  #containerAtMs: number | undefined;
  #front: { readonly stream: LogStream; readonly atMs: number } | undefined;

  constructor(tools: LogTools) {
    this.#tools = tools;
  }

  get isKnown(): boolean {
    return this.#containerAtMs !== undefined;
  }

  get sinceMs(): number {
    return this.#containerAtMs === undefined ? 0 : this.#tools.clock.now() - this.#containerAtMs;
  }

  /** The container has ended. */
  note(): void {
    this.#containerAtMs ??= this.#tools.clock.now();
  }

  /** True when this stream's end is new. */
  noteFront(stream: LogStream): boolean {
    if (this.#front?.stream === stream) return false;
    this.#front = { stream, atMs: this.#tools.clock.now() };
    return true;
  }

  /** A follow has ended cleanly, and whether the container has too is not known yet. */
  isAwaited(stream: LogStream): boolean {
    if (!stream.follow || this.isKnown || stream.end?.error) return false;
    return this.#tools.clock.now() - (this.#front?.atMs ?? 0) < this.#tools.times.endTogetherMs;
  }

  /**
   * Whether a clean end means the end of the file. For a follow only together with the container's end (the kubelet ends it
   * 29–483 ms before the status shows), because the API server also ends an answer cleanly when it loses the kubelet.
   */
  isInOrder(stream: LogStream): boolean {
    if (stream.end?.error) return false;
    if (!stream.follow) return true;
    if (this.#containerAtMs === undefined || !this.#front) return false;
    return this.#containerAtMs - this.#front.atMs <= this.#tools.times.endTogetherMs;
  }
}
