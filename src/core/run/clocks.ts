import type { ContainerState } from '../container/status.ts';
import type { Outcome } from './outcome.ts';
import type { Run } from './run.ts';

/** When the present wait of a run gives up, and how that is called. Undefined while no clock runs. */
export interface Deadline {
  readonly atMs: number;
  readonly outcome: Outcome;
}

/**
 * The clocks of a run: *start* (from the launch until it is seen running or ended) and *run* (from its start). Their sum
 * is the total, so no run waits for ever. `latest` is what the pod says now: a container that the kubelet never mentioned is
 * `no-status`; one that waits is told with the kubelet's own words.
 */
export function deadlineOf(run: Run, latest: ContainerState): Deadline | undefined {
  if (run.launchedAtMs === undefined || !run.plan) return undefined;
  if (run.startedAtMs !== undefined)
    return { atMs: run.startedAtMs + run.plan.timeoutMs, outcome: { kind: 'timed-out' } };
  const atMs = run.launchedAtMs + run.plan.startDeadlineMs;
  if (latest.kind === 'waiting') {
    // A status without words: an event may have said why (a target that does not run).
    const { reason, message } = latest.message === '' ? (run.waiting ?? latest) : latest;
    return { atMs, outcome: { kind: 'start-failed', reason, message } };
  }
  return { atMs, outcome: { kind: 'no-status' } };
}
