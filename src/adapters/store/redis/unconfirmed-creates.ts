import type { RunId } from '../../../core/ids.ts';
import type { ScriptRunner } from './script-runner.ts';
import { WITHDRAW } from './scripts/runs.ts';

/**
 * Runs whose creation was sent and never answered: whoever asked was told that nothing was started. Once Redis answers again they
 * are taken back. Should this process end before, or another replica be quicker, such a run is carried out after all.
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
    // Redis may be there again already, and this answer alone was lost.
    this.withdraw();
  }

  /** The same creation is tried again: it is no longer in doubt. */
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
        // Still in doubt: the next recovery tries again.
        return;
      }
      this.#owners.delete(id);
    }
  }
}
