import { toKdebugError } from '../../core/errors.ts';
import { sleep } from '../../lib/clock.ts';
import type { FlowDeps } from '../deps.ts';
import type { HeldRun } from '../held-run.ts';

/** The least time between two writes of a batch that is worked on. */
const EVERY_MS = 1_000;
/** A write takes at most a twentieth of the time … */
const SHARE = 20;
/** … but there is one at least this often while something moves. */
const AT_LEAST_EVERY_MS = 2_000;
/** A store that does not answer is asked again so soon, and for so long; then the batch is left to whoever reaches it. */
const AGAIN_MS = 500;
const PATIENCE_MS = 60_000;

/**
 * When a batch that is worked on is written: about once a second, rarer where a write takes long. What happened since the last one
 * is lost in a crash, and found again in the cluster.
 */
export class Checkpoints {
  readonly #session: HeldRun;
  readonly #deps: FlowDeps;
  #dueAtMs = 0;
  #failingSinceMs: number | undefined;
  #isStale = false;
  #writing: Promise<void> | undefined;

  constructor(session: HeldRun, deps: FlowDeps) {
    this.#session = session;
    this.#deps = deps;
  }

  /** Something has happened that is not written yet. */
  touch(): void {
    this.#isStale = true;
  }

  /** When there is something to write. */
  get dueAtMs(): number {
    return this.#isStale && !this.#writing ? this.#dueAtMs : Number.POSITIVE_INFINITY;
  }

  /** Writes beside the work when it is time. A failure is told by the next `now`, or by the session's end. */
  soon(): void {
    if (this.dueAtMs > this.#deps.clock.now()) return;
    this.#write().catch((thrown: unknown) => {
      this.#deps.log.warn('a batch could not be written', {
        runId: this.#session.run.id,
        reason: toKdebugError(thrown).code,
      });
    });
  }

  /** Resolves when the batch is written as it is. @throws KdebugError lease_lost; store_unreachable when that lasts */
  async now(): Promise<void> {
    for (;;) {
      try {
        await this.#writing?.catch(() => undefined);
        return await this.#write();
      } catch (thrown) {
        const { clock } = this.#deps;
        const since = this.#failingSinceMs;
        const isPassing = toKdebugError(thrown).code === 'store_unreachable' && since !== undefined;
        if (!isPassing || clock.now() - since > PATIENCE_MS) throw thrown;
        await sleep(clock, AGAIN_MS);
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
    const beganAtMs = clock.now();
    this.#isStale = false;
    try {
      await this.#session.save();
      this.#failingSinceMs = undefined;
      const took = clock.now() - beganAtMs;
      this.#dueAtMs = clock.now() + Math.min(Math.max(EVERY_MS, took * SHARE), AT_LEAST_EVERY_MS);
    } catch (thrown) {
      this.#isStale = true;
      this.#failingSinceMs ??= clock.now();
      this.#dueAtMs = clock.now() + AGAIN_MS;
      throw thrown;
    }
  }
}
