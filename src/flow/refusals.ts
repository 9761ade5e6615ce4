import { type KdebugError, REASONS, type ReasonCode } from '../core/errors.ts';
import type { Decision } from '../core/policy/decision.ts';
import type { Refusal } from '../core/run/run.ts';

/** The refusal of a reason code, with what it is about. */
export function refusal(code: ReasonCode, subject?: string, rule?: string): Refusal {
  const { title, hint } = REASONS[code];
  return { code, message: subject ? `${title}: ${subject}` : title, hint, ...(rule !== undefined && { rule }) };
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
