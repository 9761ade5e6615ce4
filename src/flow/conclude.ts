import type { Run } from '../core/run/run.ts';
import { record } from './audit.ts';
import type { FlowDeps } from './deps.ts';

/** Puts a run's end on record, in the log, the metrics and the audit log: at least once for every run, whoever saw its end. */
export async function conclude(run: Run, deps: FlowDeps): Promise<void> {
  const { log, termination, refusal, batch } = run;
  const outcome = run.outcome?.kind ?? (batch ? undefined : 'denied');
  const fields = { runId: run.id, phase: run.state, outcome, reason: refusal?.code };
  if (run.partOf === undefined) deps.log.info('run ended', fields);
  else deps.log.debug('a part of a batch ended', { ...fields, batch: run.partOf });
  // A batch counts by its pods.
  if (outcome) deps.metrics.runFinished(outcome, (run.finishedAtMs ?? 0) - run.origin.receivedAtMs);
  const facts = {
    outcome: outcome ?? run.state,
    code: refusal?.code,
    exitCode: termination?.exitCode,
    // The digest that really ran, where the plan could name only a tag.
    imageId: run.imageId,
    logSha256: log?.sha256,
    logBytes: log?.bytes,
  };
  await record(deps, run, 'outcome', facts).catch((thrown: unknown) => {
    // It has happened already: that it could not be recorded is all that is left to say.
    deps.log.error('an outcome could not be recorded', { runId: run.id, error: thrown });
  });
}
