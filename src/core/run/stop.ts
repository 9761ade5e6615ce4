import type { Outcome } from '../outcome.ts';
import { isGivenUp } from './life-cycle.ts';
import type { Run, Stop } from './run.ts';
import type { StopEvent } from './run-event.ts';
import type { RunState } from './run-state.ts';

/** The time that a stop may go without a container in the pod: the cluster may be unreachable. */
const SEND_MS = 75_000;
/** From its latest start to its end: a polite signal, five seconds, the last signal, five seconds. */
const WORK_MS = 15_000;
/** From the end of its container to the status of the run's own. */
const STATUS_MS = 5_000;

const LIVE: ReadonlySet<RunState> = new Set(['approved', 'launching', 'starting', 'running']);

/** A run can be stopped while something of it may still start or run. A batch is cancelled instead. */
export const canBeStopped = (run: Run): boolean =>
  run.batch === undefined && (LIVE.has(run.state) || (isGivenUp(run) && run.startedAtMs !== undefined));

export type StoppingRun = Run & { readonly stop: Stop };

/** A stop is under way until it has failed or succeeded. */
export const isStopping = (run: Run): run is StoppingRun =>
  run.stop !== undefined && run.stop.failed === undefined && canBeStopped(run);

/** The time at which kdebug gives up a stop whose run still goes on. */
export function stopDeadlineMs({ stop, startedAtMs = 0 }: StoppingRun): number {
  if (stop.ended) return stop.ended.atMs + STATUS_MS;
  if (stop.container) return stop.container.notAfterMs + WORK_MS;
  return Math.max(stop.requestedAtMs, startedAtMs) + SEND_MS;
}

/** Undefined: the event changes nothing. */
export function stopTransition(run: Run, event: StopEvent): Run | undefined {
  if (event.kind === 'stop-requested') return requested(run, event);
  if (!isStopping(run)) return undefined;
  const { stop } = run;
  switch (event.kind) {
    case 'stop-launching':
      return stop.container ? undefined : { ...run, stop: { ...stop, container: event.container } };
    case 'stop-ended': {
      const { exitCode, message, atMs } = event;
      return stop.ended ? undefined : { ...run, stop: { ...stop, ended: { exitCode, message, atMs } } };
    }
    case 'stop-failed': {
      const { kind: _, ...failed } = event;
      return { ...run, stop: { ...stop, failed } };
    }
  }
}

/** Before its launch, a run is withdrawn: nothing has started. */
function requested(run: Run, { byUserId, atMs }: Extract<StopEvent, { kind: 'stop-requested' }>): Run | undefined {
  if (!canBeStopped(run) || isStopping(run)) return undefined;
  if (run.state === 'approved')
    return { ...run, state: 'cancelled', outcome: { kind: 'cancelled', by: byUserId }, finishedAtMs: atMs };
  return { ...run, stop: { byUserId, requestedAtMs: atMs, attempt: (run.stop?.attempt ?? 0) + 1 } };
}

/** Exit codes after SIGTERM and SIGKILL. */
const SIGNALLED: ReadonlySet<number> = new Set([143, 137]);
/**
 * The stop's container ends with this code if it sees no process of the run: the run has ended, or another user runs
 * it.
 */
export const FOUND_NONE = 2;

/**
 * The outcome of a container that has ended, where somebody had asked to stop it. `exitCode`: of the stop's container;
 * undefined: nobody knows, and the signal decides. What ended for another reason keeps its outcome.
 */
export function outcomeAfterStop(outcome: Outcome, stop: Stop | undefined, exitCode: number | undefined): Outcome {
  if (!stop?.container || stop.failed) return outcome;
  if (outcome.kind !== 'failed' && outcome.kind !== 'succeeded') return outcome;
  const isSignalled = outcome.kind === 'failed' && SIGNALLED.has(outcome.exitCode);
  const isStopped = exitCode === 0 || (exitCode !== FOUND_NONE && isSignalled);
  return isStopped ? { kind: 'stopped', by: stop.byUserId } : outcome;
}
