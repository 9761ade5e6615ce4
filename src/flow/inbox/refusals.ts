import { type KdebugError, REASONS, type ReasonCode, toKdebugError } from '../../core/errors.ts';
import type { Decision } from '../../core/policy/policy.ts';
import { reasonMessage } from '../../core/report/answers/private-messages.ts';
import type { Message } from '../../core/report/message.ts';
import type { Refusal } from '../../core/run/run.ts';
import { defined } from '../../lib/object.ts';
import { recordRefusal } from '../audit.ts';
import type { FlowDeps } from '../deps.ts';
import type { Answer, RefusedAtDoor, SubmitAnswer } from '../ports/slack.ts';

/** No answer: the card in the thread suffices. */
export const NOTHING: Answer = { kind: 'nothing' };

export const answerWith = (message: Message): Answer => ({ kind: 'message', message });
export const answerReason = (code: ReasonCode, subject?: string): Answer => answerWith(reasonMessage(code, subject));

export const closeForm = (answer: Answer): SubmitAnswer => ({
  kind: 'taken',
  ...defined({ message: 'message' in answer ? answer.message : undefined }),
});

/** `subject`: what the reason is about. */
export function refusal(code: ReasonCode, subject?: string, rule?: string): Refusal {
  const { title, hint } = REASONS[code];
  return { code, message: subject ? `${title}: ${subject}` : title, hint, ...defined({ rule }) };
}

export const refusalOfDecision = (decision: Exclude<Decision, { kind: 'allow' }>): Refusal =>
  decision.kind === 'needs-approval'
    ? refusal('approval_changed', undefined, decision.rule)
    : refusal(decision.code, decision.subject, decision.rule);

export const refusalOfError = (error: KdebugError): Refusal => ({
  code: error.code,
  message: error.message,
  hint: error.hint,
});

/** Refusals a minute to record one by one, for one team, or for one channel if the payload names no team. */
const EACH = 20;
const MINUTE_MS = 60_000;
/** Teams and channels with their own bound in a minute; all others share one. */
const MAX_KEYS = 100;
const OTHERS = 'others';

type Refused = RefusedAtDoor & { readonly runId?: string };

interface Minute {
  each: number;
  more: number;
  last: Refused;
}

/**
 * Records refusals without letting anybody flood the audit log: per team the first 20 a minute one by one, the rest of the minute as one
 * record with their number (code `refusals_in_one`). If that record fails, logs it and adds the number to the next minute.
 */
export class BoundedRefusals {
  readonly #deps: FlowDeps;
  readonly #minutes = new Map<string, Minute>();

  constructor(deps: FlowDeps) {
    this.#deps = deps;
  }

  /** @throws KdebugError audit_unavailable, for a refusal that is recorded one by one */
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
    const own = refused.teamId ?? refused.channelId;
    const key = this.#minutes.has(own) || this.#minutes.size < MAX_KEYS ? own : OTHERS;
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
      this.#deps.log.error('refusals not recorded, will retry', fields);
      this.#minuteOf(minute.last).more += minute.more;
    }
  }
}
