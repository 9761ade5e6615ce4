import type { KdebugError } from '../core/errors.ts';
import type { Clock } from './ports/machine.ts';

/** How often, and for how long, a refusal that may pass is met: an operator may be giving the app a scope right now. */
const MOST_TRIES = 10;
const PATIENCE_MS = 15 * 60_000;

/** What Slack answers so again wherever it was asked: every other place has been tried by then. */
const CLOSED: ReadonlySet<string> = new Set(['slack_message_gone', 'slack_thread_closed', 'slack_channel_closed']);

/** Counts how often Slack refused a post of one run, so that no post is tried for ever. */
export class RefusedPosts {
  readonly #clock: Clock;
  readonly #refused = new Map<string, { readonly sinceMs: number; readonly times: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that a post was refused; whether that is the end of trying. What is no refusal never ends it. */
  isOver(post: string, { code }: KdebugError): boolean {
    if (CLOSED.has(code)) return true;
    if (code !== 'slack_refused') return false;
    const nowMs = this.#clock.now();
    const { sinceMs, times } = this.#refused.get(post) ?? { sinceMs: nowMs, times: 0 };
    this.#refused.set(post, { sinceMs, times: times + 1 });
    return times + 1 >= MOST_TRIES || nowMs - sinceMs >= PATIENCE_MS;
  }
}
