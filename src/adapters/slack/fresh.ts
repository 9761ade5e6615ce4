import { KdebugError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';

export interface Freshness {
  readonly clock: Clock;
  /** Counted from when the question was asked. */
  readonly maxAgeMs: number;
  readonly maxEntries: number;
  /** How long one answer is waited for. Default 1.5 s; `Infinity` for a question that keeps its own time. */
  readonly answerMs?: number;
}

/** Nobody waits longer for one answer, so that whoever asked Slack's question of us is answered within its 3 s. */
const ANSWER_MS = 1_500;

interface Entry<T> {
  readonly askedAtMs: number;
  readonly answer: Promise<T>;
  isAnswered: boolean;
}

/**
 * Answers that are kept for a while. Those who ask the same thing at the same time share one question; failures are not
 * kept; a question that is not answered in time is asked again by the next one. Bounded: the oldest answers go first.
 */
export class Fresh<T> {
  readonly #freshness: Freshness;
  readonly #answerMs: number;
  readonly #known = new Map<string, Entry<T>>();

  constructor(freshness: Freshness) {
    this.#freshness = freshness;
    this.#answerMs = freshness.answerMs ?? ANSWER_MS;
  }

  /**
   * With `sinceMs`, an answer that was asked for before that moment does not count.
   * @throws KdebugError slack_unreachable after `answerMs`, and what `ask` throws
   */
  get(key: string, ask: () => Promise<T>, sinceMs = 0): Promise<T> {
    const nowMs = this.#freshness.clock.now();
    const known = this.#known.get(key);
    const isLateEnough = known !== undefined && known.askedAtMs >= sinceMs;
    if (isLateEnough && nowMs - known.askedAtMs < (known.isAnswered ? this.#freshness.maxAgeMs : this.#answerMs))
      return this.#inTime(known.answer);
    const entry: Entry<T> = { askedAtMs: nowMs, answer: ask(), isAnswered: false };
    entry.answer.then(
      () => {
        entry.isAnswered = true;
      },
      () => {
        if (this.#known.get(key) === entry) this.#known.delete(key);
      },
    );
    this.#keep(key, entry);
    return this.#inTime(entry.answer);
  }

  #keep(key: string, entry: Entry<T>): void {
    this.#known.delete(key);
    this.#known.set(key, entry);
    const oldest = this.#known.keys().next();
    if (this.#known.size > this.#freshness.maxEntries && !oldest.done) this.#known.delete(oldest.value);
  }

  async #inTime(answer: Promise<T>): Promise<T> {
    if (this.#answerMs === Number.POSITIVE_INFINITY) return answer;
    let cancel: () => void = () => undefined;
    const late = new Promise<never>((_, reject) => {
      cancel = this.#freshness.clock.after(this.#answerMs, () =>
        reject(new KdebugError('slack_unreachable', { facts: { kind: 'slow' } })),
      );
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      cancel();
    }
  }
}
