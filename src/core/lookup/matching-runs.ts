import { countPods, statusOf } from '../batch/pod-state.ts';
import { isTrouble } from '../diagnosis/facts/verdict.ts';
import { OUTCOME_GROUP, type OutcomeKind, type OutcomeWord } from '../outcome.ts';
import type { RunFilter } from '../request/command.ts';
import { countedAs, isBatchRun } from '../run/life-cycle.ts';
import type { Run } from '../run/run.ts';

/** The caller filters by channel and page. */
export function matchesFilter(run: Run, { mine, pod, outcome }: RunFilter, readerId: string): boolean {
  if (mine && run.origin.requesterId !== readerId) return false;
  if (pod !== undefined && !hasPod(run, pod)) return false;
  return outcome === undefined || wordsOf(run).has(outcome);
}

/** A request that never got a plan counts by the name that was typed. */
function hasPod({ plan, batch, request: { target } }: Run, part: string): boolean {
  if (batch) return batch.pods.some(({ name }) => name.includes(part));
  const typed = 'name' in target ? target.name : '';
  return (plan?.podName ?? typed).toLowerCase().includes(part);
}

/** Every word by which people find the run. */
function wordsOf(run: Run): ReadonlySet<OutcomeWord> {
  const counted = countedAs(run);
  if (counted !== undefined) return new Set([counted === 'pending' ? 'waiting' : 'running']);
  const kind = kindOf(run);
  const group = OUTCOME_GROUP[kind];
  const isWrong = group === 'failed' || (run.verdict?.findings.some(isTrouble) ?? false);
  return new Set<OutcomeWord>([kind, group, ...(isWrong ? (['problems'] as const) : [])]);
}

/** States that end without a container are outcomes of the same name. A batch counts as failed unless all of it succeeded. */
function kindOf(run: Run): OutcomeKind {
  const { state, outcome } = run;
  if (state === 'denied' || state === 'rejected' || state === 'expired' || state === 'cancelled') return state;
  if (!isBatchRun(run)) return outcome?.kind ?? 'internal';
  const status = statusOf(run.batch, countPods(run.batch));
  if (status === 'Succeeded') return 'succeeded';
  return status === 'Cancelled' ? 'cancelled' : 'failed';
}
