import type { Plan } from '../container/plan.ts';
import type { ReasonCode } from '../errors.ts';
import type { AlertSource, Decision } from '../policy/policy.ts';

/**
 * Why a run that nobody asked for may not start although the rules allow it: it only observes, and it waits for people only where its source says so.
 * `source`: undefined if the policy no longer has it.
 */
export function reasonOfUnattended(
  { plan, decision }: { readonly plan: Pick<Plan, 'class'>; readonly decision: Decision },
  source: Pick<AlertSource, 'asks'> | undefined,
): ReasonCode | undefined {
  if (!source) return 'alert_source_unknown';
  if (plan.class !== 'observe') return 'alert_not_observe';
  return decision.kind === 'needs-approval' && !source.asks ? 'alert_needs_approval' : undefined;
}
