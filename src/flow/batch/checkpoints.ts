import { toKdebugError } from '../../core/errors.ts';
import { sleep } from '../../lib/clock.ts';
import { Trouble } from '../../lib/trouble.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun } from '../context/held-run.ts';

/** The least time between two writes of a running batch. */
const MIN_INTERVAL_MS = 1_000;
/** A write takes at most a twentieth of the time … */
const MAX_WRITE_SHARE = 20;
/** … but while pods move, at least one write happens this often. */
const MAX_INTERVAL_MS = 2_000;
/**
 * The pause between retries of an unreachable store, and their limit; then whichever replica reaches the store takes
 * over.
 */
const RETRY_MS = 500;
const MAX_OUTAGE_MS = 60_000;

/**
 * Decides when a running batch is written: about once a second, less often if writes are slow. A crash loses what
 * happened since the last write; the next replica finds it in the cluster.
 */
export class Checkpoints {
  readonly #held: HeldRun;
  readonly #deps: FlowDeps;
  readonly #trouble: Trouble;
  #dueAtMs = 0;
  #failingSinceMs: number | undefined;
  #isStale = false;
  #writing: Promise<void> | undefined;

  constructor(held: HeldRun, deps: FlowDeps) {
    this.#held = held;
    this.#deps = deps;
    this.#trouble = new Trouble(deps, { begins: 'batch write failed, will retry', ends: 'batch written again' });
  }

  /** Marks an unsaved change. */
  touch(): void {
    this.#isStale = true;
  }

  /** The time of the next write, by `clock.elapsed`; infinity without unsaved changes. */
  get dueAtMs(): number {
    if (!this.#isStale || this.#writing !== undefined) return Number.POSITIVE_INFINITY;
    return this.#dueAtMs;
  }

  /** Starts a due write in the background. A failure shows in the next `now`, or when the lease ends. */
  soon(): void {
    if (this.dueAtMs > this.#deps.clock.elapsed()) return;
    // `#writeNow` logs.
    this.#write().catch(() => undefined);
  }

  /** Resolves when the current state is saved. @throws KdebugError lease_lost; store_unreachable if that persists */
  async now(): Promise<void> {
    for (;;) {
      try {
        await this.#writing?.catch(() => undefined);
        return await this.#write();
      } catch (thrown) {
        const { clock } = this.#deps;
        const since = this.#failingSinceMs;
        const isPassing = toKdebugError(thrown).code === 'store_unreachable' && since !== undefined;
        if (!isPassing || clock.elapsed() - since > MAX_OUTAGE_MS) throw thrown;
        await sleep(clock, RETRY_MS);
      }
    }
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeNow().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeNow(): Promise<void> {
    const { clock } = this.#deps;
    const beganAtMs = clock.elapsed();
    this.#isStale = false;
    try {
      await this.#held.save();
      this.#failingSinceMs = undefined;
      this.#trouble.worked();
      const writeMs = clock.elapsed() - beganAtMs;
      this.#dueAtMs = clock.elapsed() + Math.min(Math.max(MIN_INTERVAL_MS, writeMs * MAX_WRITE_SHARE), MAX_INTERVAL_MS);
    } catch (thrown) {
      this.#isStale = true;
      this.#failingSinceMs ??= clock.elapsed();
      this.#trouble.failed({ runId: this.#held.run.id, reason: toKdebugError(thrown).code });
      this.#dueAtMs = clock.elapsed() + RETRY_MS;
      throw thrown;
    }
  }
}
