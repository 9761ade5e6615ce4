import { type KdebugError, REASONS, type ReasonCode, toKdebugError } from '../../core/errors.ts';
import type { Decision } from '../../core/policy/policy.ts';
import type { Refusal } from '../../core/request/origin.ts';
import { reasonMessage } from '../../core/say/answers/private-messages.ts';
import type { Message } from '../../core/say/message/message.ts';
import { withDeadline } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import type { AuditEntry } from '../ports/machine.ts';
import type { Answer, Later, RefusedAtDoor, SubmitAnswer } from '../ports/slack.ts';
import { type AuditSubject, record, recordRefusal } from './audit.ts';
import type { FlowDeps } from './deps.ts';

/** No answer: the card in the thread suffices. */
export const NOTHING: Answer = { kind: 'nothing' };

export const answerWith = (message: Message): Answer => ({ kind: 'message', message });
export const answerReason = (code: ReasonCode, subject?: string): Answer => answerWith(reasonMessage(code, subject));

export const closeForm = (answer: Answer): SubmitAnswer =>
  answer.kind === 'later'
    ? { ...answer, answer: answer.answer.then(closeForm) }
    : { kind: 'taken', ...defined({ message: 'message' in answer ? answer.message : undefined }) };

/** An answer must be late from then on. It leaves time to look up the person before, and to acknowledge after it. */
const LATE_AFTER_MS = 2_300;

/** `answer`, which never rejects, or by Slack's patience the promise of it. */
export const inTime = <Value>(
  answer: Promise<Value>,
  { clock }: Pick<FlowDeps, 'clock'>,
): Promise<Value | Later<Value>> => withDeadline(clock, LATE_AFTER_MS, answer, () => ({ kind: 'later', answer }));

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

/** Refusals a minute to record one by one, of one person on known runs, else of one team, or of one channel without a team. */
const EACH = 20;
const MINUTE_MS = 60_000;
/** People, teams and channels with their own bound in a minute; all others share one. */
const MAX_KEYS = 100;
const OTHERS = 'others';

type Refused = RefusedAtDoor & { readonly runId?: string };

interface Minute {
  each: number;
  more: number;
  last: Refused;
}

/** A refused action on a known run. */
export interface RefusedOnRun {
  readonly userId: string;
  readonly code: ReasonCode;
  /** The step under which the audit log records it one by one. */
  readonly step: AuditEntry['step'];
  readonly facts: AuditEntry['facts'] & { readonly kind: string };
}

/**
 * Records refusals without letting anybody flood the audit log: the first 20 a minute one by one, the rest of the minute as one
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
    const key = refused.teamId ?? refused.channelId;
    if (this.#isOneByOne(key, refused)) await recordRefusal(this.#deps, refused);
  }

  /** For one person, whatever the run. @throws as `record` */
  async recordOnRun(run: AuditSubject, { userId, code, step, facts }: RefusedOnRun): Promise<void> {
    const { channelId } = run.origin;
    const refused = { userId, channelId, code, handler: facts.kind, ...defined({ runId: run.id }) };
    if (this.#isOneByOne(`person:${userId}`, refused))
      await record(this.#deps, run, step, { ...facts, actorId: userId });
  }

  /** Records now what the current minute has counted; for the end of the process. Never rejects. */
  async close(): Promise<void> {
    await Promise.all([...this.#minutes].map(([key, minute]) => this.#close(key, minute)));
  }

  #isOneByOne(key: string, refused: Refused): boolean {
    const minute = this.#minuteOf(key, refused);
    const isOne = minute.each < EACH;
    if (isOne) minute.each += 1;
    else Object.assign(minute, { more: minute.more + 1, last: refused });
    return isOne;
  }

  #minuteOf(own: string, refused: Refused): Minute {
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
    const { more: count } = minute;
    if (count === 0) return;
    const { code, ...last } = minute.last;
    // Its minute may end after `close`.
    minute.more = 0;
    try {
      await recordRefusal(this.#deps, { ...last, code: 'refusals_in_one', last: code, count });
    } catch (thrown) {
      this.#deps.log.error('refusals not recorded, will retry', { count, reason: toKdebugError(thrown).code });
      this.#minuteOf(key, minute.last).more += count;
    }
  }
}
