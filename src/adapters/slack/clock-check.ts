import type { Log } from '../../flow/ports/machine.ts';
import type { Clock } from '../../lib/clock.ts';

/** Signed requests are refused beyond five minutes, by us and in spirit by Slack: long before, it is time to say so. */
const WORTH_SAYING_MS = 60_000;

/**
 * Compares this machine's clock with the `Date` header of every answer of Slack's: a clock that is wrong makes us refuse what Slack
 * signed, and lets approvals end too early or too late. Says so when it begins, and when it is over.
 */
export class ClockCheck {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Log;
  #isWrong = false;

  constructor(clock: Pick<Clock, 'now'>, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** A header that is missing or unreadable says nothing. */
  learn(date: string | null): void {
    const slackMs = Date.parse(date ?? '');
    if (!Number.isFinite(slackMs)) return;
    const aheadMs = this.#clock.now() - slackMs;
    const isWrong = Math.abs(aheadMs) > WORTH_SAYING_MS;
    if (isWrong === this.#isWrong) return;
    this.#isWrong = isWrong;
    const fields = { aheadSeconds: Math.round(aheadMs / 1_000) };
    if (!isWrong) this.#log.info("this machine's clock agrees with Slack's again", fields);
    else {
      this.#log.error("this machine's clock is wrong: what Slack signs is refused beyond five minutes", {
        ...fields,
        reason: 'clock_wrong',
      });
    }
  }
}
