import type { RunId } from '../../../core/ids.ts';
import type { ScriptRunner } from './script-runner.ts';
import { WITHDRAW } from './scripts/runs.ts';

/**
 * Runs whose creation got no answer, so the requester saw an error. Once Redis answers again they are withdrawn. If
 * this process ends first, or another replica claims the run first, the run proceeds after all.
 */
export class UnconfirmedCreates {
  readonly #scripts: ScriptRunner;
  readonly #owners = new Map<string, string>();
  #withdrawing: Promise<void> = Promise.resolve();

  constructor(scripts: ScriptRunner) {
    this.#scripts = scripts;
  }

  add(id: RunId, owner: string): void {
    this.#owners.set(id, owner);
    // Redis may already be back: perhaps only this answer was lost.
    this.withdraw();
  }

  /** The same creation is tried again, so it is no longer in doubt. */
  async forget(id: RunId): Promise<void> {
    if (this.#owners.delete(id)) await this.#withdrawing;
  }

  withdraw(): void {
    this.#withdrawing = this.#withdrawing.then(() => this.#withdrawAll());
  }

  async #withdrawAll(): Promise<void> {
    for (const [id, owner] of [...this.#owners]) {
      try {
        await this.#scripts.run(WITHDRAW, [`run:${id}`], [id, owner]);
      } catch {
        // Still in doubt: retry at the next recovery.
        return;
      }
      this.#owners.delete(id);
    }
  }
}
