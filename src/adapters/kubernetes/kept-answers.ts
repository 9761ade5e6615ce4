import type { Clock } from '../../lib/clock.ts';

export interface Keeping<Answer> {
  readonly clock: Clock;
  /** How long an answer may be used, counted from when it was asked for. */
  readonly freshMs: (answer: Answer) => number;
  readonly most: number;
}

interface Known<Answer> {
  readonly answer: Promise<Answer>;
  readonly askedAtMs: number;
  /** Unknown while the question is under way, and then it is shared. */
  freshMs: number | undefined;
}

/**
 * Answers of the API server that are used for a while. The same question is never under way twice; an error is never kept, and
 * is thrown to everyone who waits for it. Bounded: what was not used for longest goes first.
 */
export class KeptAnswers<Answer> {
  readonly #keeping: Keeping<Answer>;
  readonly #known = new Map<string, Known<Answer>>();

  constructor(keeping: Keeping<Answer>) {
    this.#keeping = keeping;
  }

  of(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const nowMs = this.#keeping.clock.now();
    const found = this.#known.get(key);
    const known = found && isFresh(found, nowMs) ? found : this.#ask(key, nowMs, ask());
    this.#known.delete(key);
    this.#known.set(key, known);
    const [leastUsed] = this.#known.keys();
    if (this.#known.size > this.#keeping.most && leastUsed !== undefined) this.#known.delete(leastUsed);
    return known.answer;
  }

  #ask(key: string, askedAtMs: number, answer: Promise<Answer>): Known<Answer> {
    const known: Known<Answer> = { answer, askedAtMs, freshMs: undefined };
    answer.then(
      (value) => {
        known.freshMs = this.#keeping.freshMs(value);
      },
      () => {
        if (this.#known.get(key) === known) this.#known.delete(key);
      },
    );
    return known;
  }
}

/** A clock that went back makes no answer younger. */
function isFresh({ askedAtMs, freshMs }: Known<unknown>, nowMs: number): boolean {
  return freshMs === undefined || (nowMs >= askedAtMs && nowMs - askedAtMs < freshMs);
}
