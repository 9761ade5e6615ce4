import type { PodResult } from '../../core/batch/batch.ts';
import { isBatchRun } from '../../core/batch/batch-run.ts';
import { podResult } from '../../core/batch/pod-result.ts';
import { believedReport } from '../../core/diagnosis/believed-report.ts';
import { podHead } from '../../core/report/batch/batch-files.ts';
import { logDoubt } from '../../core/report/log-caveats.ts';
import type { Outcome } from '../../core/run/outcome.ts';
import { isFinal } from '../../core/run/progress.ts';
import type { Run } from '../../core/run/run.ts';
import { type AdvanceContext, advance } from '../advance.ts';
import { conclude } from '../conclude.ts';
import type { FlowDeps } from '../deps.ts';
import type { ReadLog } from '../log-reader.ts';
import type { RunSession } from '../session.ts';
import type { HeadOf } from './batch-logs.ts';
import type { Place } from './part.ts';

/** What one container of a batch is worked on with. */
export interface PartWork {
  readonly batch: RunSession;
  readonly place: Place;
  readonly part: RunSession;
  readonly context: AdvanceContext;
}

/**
 * Takes one container of a batch through the stages of any run, and tells the batch where it is. Its end counts as soon as the
 * container has ended; what its log came to is told when that was read. @throws KdebugError lease_lost when it was given up
 */
export async function workOnPart(work: PartWork): Promise<void> {
  const { batch, place, part, context } = work;
  const { readers, batchLogs, deps } = context;
  const { index, container } = place;
  const stop = part.onChange(() => tell(work));
  try {
    await advance(part, context);
    const read = await readers.of(part.run.id)?.result;
    batch.move({ kind: 'ended', index, container, result: resultOf(part.run, deps, read) }, deps.clock.now());
    // Right away: whoever shares the file of a batch that has ended waits for all that were added.
    if (read) await batchLogs.of(batch.run).add(place, read.spool, (log) => headOf(batch, place, log));
    await conclude(part.run, deps);
  } finally {
    stop();
    // What was added of it is copied before it goes.
    await batchLogs.copied(batch.run.id);
    await readers.forget(part.run.id);
  }
}

/** The head of a container's log in the file of its batch, as far as is known. */
export function headOf({ run }: RunSession, place: Place, log: Parameters<HeadOf>[0]): string {
  return isBatchRun(run) ? podHead(run, place.index, { container: place.container, ...log }) : '';
}

function tell({ batch, place, part, context }: PartWork): void {
  const { deps } = context;
  const { index, container } = place;
  const { run } = part;
  const atMs = deps.clock.now();
  if (run.state === 'running') batch.move({ kind: 'started', index }, atMs);
  if (run.state !== 'collecting' || !run.termination) return;
  batch.move({ kind: 'ended', index, container, result: { ...resultOf(run, deps), reading: true } }, atMs);
}

/** What a batch keeps of a container: while its log is read, of what is known by then. */
function resultOf(run: Run, { policies }: FlowDeps, read?: ReadLog): PodResult {
  const { plan, termination, refusal, log } = run;
  const policy = policies.current();
  const written = { logEnd: read?.end ?? '', terminationMessage: termination?.message ?? '' };
  const diagnosis = plan && read && believedReport(plan, policy, written);
  return podResult({
    outcome: outcomeOf(run),
    ...(termination && { termination }),
    ...(refusal && { message: refusal.message }),
    ...(diagnosis && { findings: diagnosis.findings.map(({ code }) => code), verdict: diagnosis.verdict }),
    ...(isFinal(run.state) && log && { logBytes: log.bytes, logDoubt: logDoubt(log.completeness) }),
    redact: policy.output.redact,
  });
}

function outcomeOf({ outcome, refusal }: Run): Outcome {
  if (outcome) return outcome;
  return refusal ? { kind: 'denied', code: refusal.code } : { kind: 'internal', code: 'outcome_missing' };
}
