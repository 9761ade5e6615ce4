import { it } from 'vitest';

/** The 56 faults of the matrix, and what became of each here. */
export class Board {
  readonly #known = new Set<string>();
  readonly #survived = new Set<string>();
  readonly #pending = new Map<string, string>();
  /** Tests that began and did not end well. */
  readonly #failed = new Map<string, string>();
  readonly crashPoints = { points: 0, held: 0 };
  readonly pairs = { points: 0, held: 0 };
  lost = 0;
  duplicates = 0;

  /** A test of one fault, named by its number and sentence. A fault may have several; all must pass. */
  fault(id: string, sentence: string, run: () => Promise<void> | void, timeoutMs = 30_000): void {
    const name = `${id} ${sentence}`;
    this.#known.add(id);
    it(
      name,
      async () => {
        this.#failed.set(name, id);
        await run();
        this.#failed.delete(name);
        this.#survived.add(id);
      },
      timeoutMs,
    );
  }

  /** A fault that cannot be tried here: printed at the end, and not counted. */
  pending(id: string, why: string): void {
    this.#known.add(id);
    this.#pending.set(id, why);
  }

  count(
    what: 'crashPoints' | 'pairs',
    found: { points: number; held: number; lost: number; duplicates: number },
  ): void {
    this[what].points += found.points;
    this[what].held += found.held;
    this.lost += found.lost;
    this.duplicates += found.duplicates;
  }

  /** Those of F01 to F56 that nobody speaks of. */
  get missing(): readonly string[] {
    const all = Array.from({ length: 56 }, (_, index) => `F${String(index + 1).padStart(2, '0')}`);
    return all.filter((id) => !this.#known.has(id));
  }

  report(): string {
    const failed = new Set(this.#failed.values());
    const survived = [...this.#survived].filter((id) => !failed.has(id) && !this.#pending.has(id)).length;
    const { crashPoints, pairs } = this;
    return [
      ...[...this.#pending].map(([id, why]) => `pending ${id}: ${why}`),
      `faults survived ${survived}/56, crash points ${crashPoints.held}/${crashPoints.points}, pairs ${pairs.held}/${pairs.points}, results lost ${this.lost}, duplicates ${this.duplicates}`,
    ].join('\n');
  }
}
