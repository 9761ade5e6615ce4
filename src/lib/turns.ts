import type { Clock } from './clock.ts';

/** Work that takes longer than this waits for a turn of the event loop between two of its steps. */
const TURN_MS = 10;

/** Work in steps of a few milliseconds; it returns its result. */
export type Steps<Result> = Generator<void, Result, void>;

/** For work that is short, and where nobody can wait. */
export function allAtOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** For work that others can make long: gives them turns between its steps. */
export async function inTurns<Result>(steps: Steps<Result>, turns: OwnTurns): Promise<Result> {
  for (;;) {
    await turns.step();
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The turns of one person, or of another source of work. */
export interface OwnTurns {
  /** Resolves in a separate turn of the event loop. */
  next(): Promise<void>;
  /** Call it before each step of a loop that others can make long: resolves at once until a turn has taken 10 ms, then as `next`. */
  step(): Promise<void>;
}

/**
 * Gives out turns of the event loop, so that other work runs between two pieces of long work: one to each person in the
 * round, however much that person has at once; of one person in order.
 */
export class Turns {
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** In the order of the round. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #beganAtMs: number;

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
    this.#beganAtMs = clock.elapsed();
  }

  of(person: string): OwnTurns {
    const next = (): Promise<void> => new Promise((resolve) => this.#wait(person, resolve));
    return {
      next,
      step: async () => {
        if (this.#clock.elapsed() - this.#beganAtMs >= TURN_MS) await next();
      },
    };
  }

  #wait(person: string, resolve: () => void): void {
    const own = this.#waiting.get(person);
    if (own) own.push(resolve);
    else this.#waiting.set(person, [resolve]);
    if (own === undefined && this.#waiting.size === 1) this.#schedule();
  }

  #schedule(): void {
    setImmediate(() => {
      for (const [person, [first, ...others]] of this.#waiting) {
        this.#waiting.delete(person);
        if (others.length > 0) this.#waiting.set(person, others);
        if (this.#waiting.size > 0) this.#schedule();
        this.#beganAtMs = this.#clock.elapsed();
        first?.();
        return;
      }
    });
  }
}
