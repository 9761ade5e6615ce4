import { isFinal } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import type { RunState } from '../../core/run/run-state.ts';
import type { Metrics } from '../ports/machine.ts';
import type { FlowDeps } from './deps.ts';

/**
 * Counts what changed between two saved states of a run. The fence lets one replica save a change, so each counts once,
 * whoever began the run. (The pods of a batch are in no store: after a crash the last ones may count again.)
 */
export function measureSaved(before: Run, after: Run, metrics: Metrics): void {
  const isNewlyFinal = isFinal(after.state) && !isFinal(before.state);
  if (after.state !== before.state && (before.state === 'received' || after.state === 'denied')) {
    decided(after, metrics);
  }
  const verdict = before.state === 'pending-approval' ? VERDICT[after.state] : undefined;
  if (verdict) metrics.approvalEnded(verdict, waitedMs(after));
  if (seenStartedMs(before) === undefined) launched(after, metrics);
  if (isNewlyFinal) finished(after, metrics);
  if (after.log && after.log !== before.log) {
    const { completeness, redactions } = after.log;
    metrics.logRead({ gaps: completeness.gaps.length, redactions });
  }
}

/** The result of an approval, by the state that follows. */
const VERDICT: Partial<Record<RunState, Parameters<Metrics['approvalEnded']>[0]>> = {
  approved: 'approved',
  rejected: 'rejected',
  expired: 'expired',
  cancelled: 'cancelled',
  denied: 'withdrawn',
};

function decided({ state, outcome, decision, refusal, grantedBy }: Run, metrics: Metrics): void {
  // Nothing was to be launched, so neither an approval nor a place in the pod was missing.
  if (outcome?.kind === 'answered') metrics.decided('allow', 'none');
  else if (state === 'denied')
    metrics.decided('deny', refusal?.code ?? (decision?.kind === 'deny' ? decision.code : 'none'));
  else if (decision) metrics.decided(decision.kind, grantedBy === undefined ? 'none' : 'grant');
}

/** A quick container may have ended before anybody saw it run. */
const seenStartedMs = ({ startedAtMs, termination, endedAtMs }: Run): number | undefined =>
  startedAtMs ?? (termination && endedAtMs);

/** The pods of a batch wait for each other, and of a run found in the cluster nobody knows when it was approved. */
function launched(run: Run, metrics: Metrics): void {
  const startedMs = seenStartedMs(run);
  if (startedMs === undefined || run.partOf !== undefined || run.rebuilt) return;
  metrics.launched(
    startedMs - (approvalSinceMs(run) === undefined ? run.origin.receivedAtMs : (run.approvedAtMs ?? startedMs)),
  );
}

function finished(run: Run, metrics: Metrics): void {
  const { state, outcome, batch, rehearsal, partOf, origin } = run;
  const finishedAtMs = run.finishedAtMs ?? origin.receivedAtMs;
  const kind = outcome?.kind ?? (state === 'denied' ? 'denied' : undefined);
  if (kind && !rehearsal) {
    const sinceMs = partOf === undefined ? origin.receivedAtMs + waitedMs(run) : (run.launchedAtMs ?? finishedAtMs);
    metrics.runFinished(kind, finishedAtMs - sinceMs);
  } else if (batch && state === 'finished') metrics.batchFinished(batch.closed?.because ?? 'complete');
}

/** The time at which people were asked for an approval; undefined: they were not. */
function approvalSinceMs({ approval, decision }: Run): number | undefined {
  return approval && decision?.kind === 'needs-approval'
    ? approval.expiresAtMs - decision.approval.expiresMs
    : undefined;
}

/** The time that it waited for an approval. */
function waitedMs(run: Run): number {
  const sinceMs = approvalSinceMs(run);
  return sinceMs === undefined ? 0 : Math.max(0, (run.approvedAtMs ?? run.finishedAtMs ?? sinceMs) - sinceMs);
}

/** Shows the runs that a replica holds, and the approvals that wait in the store. */
export function observeRuns({ metrics, store }: FlowDeps, held: () => readonly Run[]): void {
  const open = (): readonly Run[] => held().filter(({ state }) => !isFinal(state) && state !== 'pending-approval');
  metrics.observe('runs_in_flight', () => {
    const byState: Partial<Record<RunState, number>> = {};
    for (const { batch, state } of open()) if (!batch) byState[state] = (byState[state] ?? 0) + 1;
    return byState;
  });
  metrics.observe('batches_in_flight', () => open().filter(({ batch }) => batch).length);
  metrics.observe('approvals_pending', async () => (await store.pending()).count);
  metrics.observe('approvals_oldest_seconds', async () => (await store.pending()).oldestMs / 1_000);
}
