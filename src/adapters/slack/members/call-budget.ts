import { KdebugError } from '../../../core/errors.ts';
import type { Clock } from '../../../lib/clock.ts';
import { troubleOf } from '../errors.ts';

const MINUTE_MS = 60_000;

/**
 * At most `perMinute` calls of one method in any 60 s (Slack, "Rate limits"), and none while Slack demands a wait. For questions that people
 * wait for: what has no room now fails at once. A `share` below 1 leaves the rest of the calls to more important questions.
 */
export class CallBudget {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #perMinute: number;
  #sentAtMs: number[] = [];
  #notBeforeMs = 0;
  #turns: Promise<void> = Promise.resolve();

  constructor(clock: Pick<Clock, 'elapsed'>, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** @throws KdebugError slack_busy: no room, or Slack answered 429. Else what `question` throws. */
  async ask<Answer>(share: number, question: () => Promise<Answer>): Promise<Answer> {
    const nowMs = this.#clock.elapsed();
    this.#sentAtMs = this.#sentAtMs.filter((atMs) => atMs > nowMs - MINUTE_MS && atMs <= nowMs);
    const isFull = this.#sentAtMs.length >= Math.floor(this.#perMinute * share);
    if (isFull || nowMs < this.#notBeforeMs) throw new KdebugError('slack_busy');
    this.#sentAtMs.push(nowMs);
    try {
      return await question();
    } catch (thrown) {
      const trouble = troubleOf(thrown);
      if (trouble.kind !== 'limited') throw thrown;
      this.#notBeforeMs = Math.max(this.#notBeforeMs, this.#clock.elapsed() + trouble.retryAfterMs);
      throw new KdebugError('slack_busy', { cause: thrown });
    }
  }

  /** Waits until those who came before have ended their turn; the returned function ends this one. */
  async turn(): Promise<() => void> {
    const before = this.#turns;
    let end = (): void => undefined;
    this.#turns = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    return end;
  }
}
