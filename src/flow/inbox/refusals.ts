import { type KdebugError, REASONS, type ReasonCode, toKdebugError } from '../../core/errors.ts';
import type { Decision } from '../../core/policy/policy.ts';
import type { Refusal } from '../../core/run/run.ts';
import { defined } from '../../lib/defined.ts';
import { recordRefusal } from '../audit.ts';
import type { FlowDeps } from '../deps.ts';
import type { RefusedAtDoor } from '../ports/slack.ts';

/** The refusal of a reason code, with what it is about. */
export function refusal(code: ReasonCode, subject?: string, rule?: string): Refusal {
  const { title, hint } = REASONS[code];
  return { code, message: subject ? `${title}: ${subject}` : title, hint, ...defined({ rule }) };
}

/** What a decision that does not allow it now means for the person who asked. */
export const refusalOfDecision = (decision: Exclude<Decision, { kind: 'allow' }>): Refusal =>
  decision.kind === 'needs-approval'
    ? refusal('approval_changed', undefined, decision.rule)
    : refusal(decision.code, decision.subject, decision.rule);

/** What a failed look at the cluster means for the person who asked. */
export const refusalOfError = (error: KdebugError): Refusal => ({
  code: error.code,
  message: error.message,
  hint: error.hint,
});

/** Refusals of one team (of one channel where the team is not named) that are recorded one by one, a minute. */
const EACH = 20;
const MINUTE_MS = 60_000;
/** Teams and channels told apart a minute; all further ones share one bound. */
const MAX_KEYS = 100;
const OTHERS = 'others';

type Refused = RefusedAtDoor & { readonly runId?: string };

interface Minute {
  each: number;
  more: number;
  last: Refused;
}

/**
 * Records refusals so that nobody can fill the audit log with them: the first 20 a minute of each team one by one, all further ones
 * of that minute as one record with their number (code `refusals_in_one`). What cannot be recorded is said in the log, and the
 * number is kept for the next minute.
 */
export class BoundedRefusals {
  readonly #deps: FlowDeps;
  readonly #minutes = new Map<string, Minute>();

  constructor(deps: FlowDeps) {
    this.#deps = deps;
  }

  /** @throws KdebugError audit_unavailable, of one that is recorded by itself */
  async record(refused: Refused): Promise<void> {
    const minute = this.#minuteOf(refused);
    if (minute.each >= EACH) {
      minute.more += 1;
      minute.last = refused;
      return;
    }
    minute.each += 1;
    await recordRefusal(this.#deps, refused);
  }

  #minuteOf(refused: Refused): Minute {
    const asked = refused.teamId ?? refused.channelId;
    const key = this.#minutes.has(asked) || this.#minutes.size < MAX_KEYS ? asked : OTHERS;
    const known = this.#minutes.get(key);
    if (known) return known;
    const minute = { each: 0, more: 0, last: refused };
    this.#minutes.set(key, minute);
    this.#deps.clock.after(MINUTE_MS, () => void this.#close(key, minute));
    return minute;
  }

  async #close(key: string, minute: Minute): Promise<void> {
    if (this.#minutes.get(key) === minute) this.#minutes.delete(key);
    if (minute.more === 0) return;
    const { code, ...last } = minute.last;
    try {
      await recordRefusal(this.#deps, { ...last, code: 'refusals_in_one', last: code, count: minute.more });
    } catch (thrown) {
      const fields = { count: minute.more, reason: toKdebugError(thrown).code };
      this.#deps.log.error('refusals could not be recorded', fields);
      this.#minuteOf(minute.last).more += minute.more;
    }
  }
}
