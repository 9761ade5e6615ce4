import { REASONS } from '../../../core/errors.ts';
import type { Log } from '../../../flow/ports/machine.ts';

/** Slack's word for it, in a `disconnect` message (Slack, "Using Socket Mode"). */
const OFF = 'link_disabled';

/**
 * Whether Socket Mode is switched on in the app's settings, as far as Slack tells on the lines: said once when it goes off and once
 * when it is on again, however often a line is refused meanwhile.
 */
export class SocketModeSwitch {
  readonly #log: Log;
  #isOff = false;

  constructor(log: Log) {
    this.#log = log;
  }

  get isOff(): boolean {
    return this.#isOff;
  }

  /** Slack ends a line, or does not open one, for that reason. @returns whether it is because Socket Mode is off */
  ended(reason: string): boolean {
    if (reason !== OFF) return false;
    if (!this.#isOff) {
      const { title, hint } = REASONS.slack_socket_mode_off;
      this.#log.error(title, { reason: 'slack_socket_mode_off', hint });
    }
    this.#isOff = true;
    return true;
  }

  /** A line is open. */
  opened(): void {
    if (this.#isOff) this.#log.info('Socket Mode is switched on again');
    this.#isOff = false;
  }
}
