import type { Plan } from '../container/plan.ts';
import { own } from '../policy/own.ts';
import type { Policy } from '../policy/policy.ts';
import { isDiagnostic } from '../policy/resolve-image.ts';
import { parseDiagnosis } from './marked-report.ts';
import type { Diagnosis } from './report.ts';

/** What a container left behind. */
export interface Written {
  /** The end of its log. */
  readonly logEnd: string;
  readonly terminationMessage: string;
}

/**
 * The report of a run, where it may be believed: only from an image that the policy calls diagnostic, and that ran its own command.
 * Anybody else's log may hold a file of the target, and so a report that the target made up.
 */
export function believedReport(
  plan: Plan,
  policy: Pick<Policy, 'images' | 'output'>,
  { logEnd, terminationMessage }: Written,
): Diagnosis | undefined {
  return isDiagnostic(plan, policy) ? parseDiagnosis(logEnd, terminationMessage, policy.output.redact) : undefined;
}

/** Whether there is a report that would be believed if the policy said `diagnostic: true` of the image. */
export function lacksOnlyTheMark(plan: Plan, policy: Pick<Policy, 'images'>, written: Written): boolean {
  const alias = own(policy.images, plan.imageAlias);
  if (!alias || alias.diagnostic || alias.command === 'allowed') return false;
  return parseDiagnosis(written.logEnd, written.terminationMessage) !== undefined;
}
