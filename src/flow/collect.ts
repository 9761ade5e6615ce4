import { outcomeOfTermination } from '../core/container/status.ts';
import { KdebugError } from '../core/errors.ts';
import type { Outcome } from '../core/run/outcome.ts';
import type { Run } from '../core/run/run.ts';
import type { FlowDeps } from './deps.ts';
import { diagnose, shownLog } from './diagnose.ts';
import type { ReadLog } from './log-reader.ts';
import type { LogReaders } from './log-readers.ts';
import type { RunSession } from './session.ts';

/** Outcomes of runs that cannot be read any more. */
const OUT_OF_REACH: ReadonlySet<Outcome['kind']> = new Set(['node-lost', 'pod-gone', 'no-status']);

/** Reads the rest of the log, then settles the outcome. Entered again after a crash, it reads the log anew. */
export async function collect(session: RunSession, deps: FlowDeps, readers: LogReaders): Promise<void> {
  const { run } = session;
  if (!run.outcome) throw new KdebugError('internal_error', { detail: 'a collecting run has no outcome' });
  const read = await readLog(session, readers, run.outcome);
  const outcome = await settle(run, run.outcome, deps);
  const terminationMessage = run.termination?.message ?? '';
  // Of a batch only the codes of the findings are told: nobody asks the API for more, ten thousand times.
  const left = { logEnd: read?.end ?? '', terminationMessage, outcome };
  const verdict = run.partOf === undefined ? await diagnose(run, left, deps) : undefined;
  await session.apply({
    kind: 'finished',
    outcome,
    ...(read && { log: shownLog(run, read.log, left, deps) }),
    ...(verdict && { verdict }),
    atMs: deps.clock.now(),
  });
}

async function readLog(session: RunSession, readers: LogReaders, { kind }: Outcome): Promise<ReadLog | undefined> {
  const { run } = session;
  const running = readers.of(run.id);
  if (!running) {
    const isLost = OUT_OF_REACH.has(kind) && !run.termination;
    return isLost ? undefined : (await readers.again(session))?.result;
  }
  // What timed out goes on in the cluster: what came so far is its log.
  if (kind === 'timed-out' || OUT_OF_REACH.has(kind)) running.stop();
  else running.end();
  return running.result;
}

/** The status of the target may come a moment after ours: with the log read, look once more. */
async function settle(run: Run, outcome: Outcome, deps: FlowDeps): Promise<Outcome> {
  const { plan, termination } = run;
  if (outcome.kind !== 'failed' || outcome.exitCode !== 137 || !plan || !termination) return outcome;
  try {
    const pod = await deps.clusters.get(plan.cluster).pod(plan.namespace, plan.podName);
    const same = pod.metadata.uid === plan.podUid ? pod : undefined;
    return outcomeOfTermination(same, termination, plan.targetContainerName);
  } catch {
    return outcome;
  }
}
