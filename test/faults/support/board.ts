import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'vitest';

interface Counted {
  readonly points: number;
  readonly held: number;
}

/** What became of the faults of one part of the matrix. */
export interface BoardFacts {
  readonly survived: readonly string[];
  /** Faults of which a test failed. */
  readonly failed: readonly string[];
  /** Faults that cannot be tried here, and why. */
  readonly pending: readonly (readonly [id: string, why: string])[];
  readonly crashPoints: Counted;
  readonly pairs: Counted;
  readonly lost: number;
  readonly duplicates: number;
}

/** The faults of one part of the matrix, and what became of each here. */
export class Board {
  readonly #survived = new Set<string>();
  readonly #pending = new Map<string, string>();
  /** Tests that began and did not end well. */
  readonly #failed = new Map<string, string>();
  readonly #crashPoints = { points: 0, held: 0 };
  readonly #pairs = { points: 0, held: 0 };
  #lost = 0;
  #duplicates = 0;

  /** A test of one fault, named by its number and sentence. A fault may have several; all must pass. */
  fault(id: string, sentence: string, run: () => Promise<void> | void): void {
    const name = `${id} ${sentence}`;
    it(name, async () => {
      this.#failed.set(name, id);
      await run();
      this.#failed.delete(name);
      this.#survived.add(id);
    });
  }

  /** A fault that cannot be tried here: printed at the end, and not counted. */
  pending(id: string, why: string): void {
    this.#pending.set(id, why);
  }

  count(
    what: 'crashPoints' | 'pairs',
    found: { points: number; held: number; lost: number; duplicates: number },
  ): void {
    const counted = what === 'pairs' ? this.#pairs : this.#crashPoints;
    counted.points += found.points;
    counted.held += found.held;
    this.#lost += found.lost;
    this.#duplicates += found.duplicates;
  }

  /** Leaves what became of this part in a file of the folder. */
  save(folder: string, part: string): void {
    const facts: BoardFacts = {
      survived: [...this.#survived],
      failed: [...this.#failed.values()],
      pending: [...this.#pending],
      crashPoints: this.#crashPoints,
      pairs: this.#pairs,
      lost: this.#lost,
      duplicates: this.#duplicates,
    };
    writeFileSync(join(folder, `${part}.json`), JSON.stringify(facts));
  }
}

/** One line of the parts that were played, and one of each fault that could not be tried. */
export function reportOf(parts: readonly BoardFacts[]): string {
  const failed = new Set(parts.flatMap((part) => part.failed));
  const pending = new Map(parts.flatMap((part) => part.pending));
  const survived = new Set(parts.flatMap((part) => part.survived).filter((id) => !failed.has(id) && !pending.has(id)));
  const sum = (of: (part: BoardFacts) => number): number => parts.reduce((total, part) => total + of(part), 0);
  const heldOf = (of: (part: BoardFacts) => Counted): string =>
    `${sum((part) => of(part).held)}/${sum((part) => of(part).points)}`;
  return [
    ...[...pending].map(([id, why]) => `pending ${id}: ${why}`),
    `faults survived ${survived.size}/57, crash points ${heldOf((part) => part.crashPoints)}, pairs ${heldOf((part) => part.pairs)}, results lost ${sum((part) => part.lost)}, duplicates ${sum((part) => part.duplicates)}`,
  ].join('\n');
}
