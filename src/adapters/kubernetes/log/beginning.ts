import type { LogTools } from './log-streams.ts';
import type { Merge } from './merge.ts';
import { toMs } from './stamp.ts';

/** The writer may have been faster at first than it is over the first megabytes that were read. */
const FASTER = 1.25;

/**
 * Whether the first log file was read from its first line. A kubelet's timer is not tied to the container's start: by experiment a fast
 * writer's first 191,571 lines of 2,000,000 were rotated away before the status said `running`, 1.3 s after the start, and the follow
 * was open within 3 s all the same. So, beside that, one of two proofs is asked for: the first line came too soon after the start for
 * a file to have been filled before it, or the first rotation seen came too soon after the start to have been the second.
 */
export class Beginning {
  readonly #tools: LogTools;
  readonly #merge: Merge;
  readonly #startedAtMs: number;
  #isJoined = false;
  #firstMs: number | undefined;
  #bytesPerMs: number | undefined;
  #rotatedAtMs: number | undefined;

  constructor(tools: LogTools, merge: Merge, startedAtMs: number) {
    this.#tools = tools;
    this.#merge = merge;
    this.#startedAtMs = startedAtMs;
  }

  get mayBeMissing(): boolean {
    return !this.#isJoined || !(this.#beganAtOnce || this.#wasRotatedFirst);
  }

  /** Bytes of a follow come in that was opened at this time, by the server's clock; nothing was delivered before. */
  join(openedAtMs: number): void {
    this.#isJoined = openedAtMs - this.#startedAtMs <= this.#tools.times.joinedWithinMs;
  }

  /** Lines were delivered. */
  deliver(): void {
    if (!this.#merge.hasAny || this.#bytesPerMs !== undefined) return;
    const newestMs = toMs(this.#merge.newest);
    this.#firstMs ??= toMs(this.#merge.first);
    const { fileBytes } = this.#merge;
    if (fileBytes >= this.#tools.times.smallBytes) this.#bytesPerMs = fileBytes / Math.max(1, newestMs - this.#firstMs);
  }

  /** A file was read to its end; the next one begins then. */
  rotated(atMs: number): void {
    this.#rotatedAtMs ??= atMs;
  }

  get #beganAtOnce(): boolean {
    if (this.#firstMs === undefined || this.#bytesPerMs === undefined) return true;
    const fillMs = this.#tools.times.rotatedBytes / (this.#bytesPerMs * FASTER);
    return this.#firstMs - this.#startedAtMs < fillMs;
  }

  get #wasRotatedFirst(): boolean {
    return this.#rotatedAtMs !== undefined && this.#rotatedAtMs - this.#startedAtMs < this.#tools.times.fileLifeMs;
  }
}
