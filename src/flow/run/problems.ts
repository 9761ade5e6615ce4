import type { Refusal } from '../../core/request/origin.ts';
import type { Run } from '../../core/run/run.ts';
import type { FlowDeps } from '../context/deps.ts';
import { refusal, refusalOfDecision } from '../context/refusals.ts';
import type { PlannedRequest } from '../planning/plan-pod.ts';
import { tooOld } from '../planning/preflight.ts';
import { equalRun } from './equal-run.ts';
import { problemOfAlert, problemOfUnattended } from './unattended.ts';

/** Why nothing can start, by what was known when the request came. */
export const earlyProblem = (run: Run, deps: FlowDeps): Refusal | undefined => problemOfAlert(run) ?? tooOld(run, deps);

/** The policy's denial first; a dry run is never held back; then an equal run that has just finished. */
export async function problemOf(
  run: Run,
  { plan, decision }: PlannedRequest,
  deps: FlowDeps,
): Promise<Refusal | undefined> {
  if (decision.kind === 'deny') return refusalOfDecision(decision);
  const unattended = problemOfUnattended(run, { plan, decision }, deps.policies.current());
  if (unattended) return unattended;
  const equal = await equalRun(run, plan, deps);
  return equal && { ...refusal('same_again', `run ${equal.id}`), equalRun: equal.id };
}
