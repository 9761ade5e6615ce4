import type { Batch } from '../batch/batch.ts';
import type { Plan } from '../container/plan.ts';
import type { ContainerState } from '../container/status.ts';
import { waitsUntilMs } from './copies.ts';
import type { Outcome } from './outcome.ts';
import type { Run, RunState } from './run.ts';

const FINAL: ReadonlySet<RunState> = new Set(['denied', 'rejected', 'expired', 'cancelled', 'finished']);

/** Whether nothing more can happen to the run but being told about. */
export const isFinal = (state: RunState): boolean => FINAL.has(state);

/** Which bound on runs at a time it counts towards: `open` or `pending` (it waits for an approval); final ones towards none. */
export function countedAs({ state }: Pick<Run, 'state'>): 'open' | 'pending' | undefined {
  if (state === 'pending-approval') return 'pending';
  return isFinal(state) ? undefined : 'open';
}

const GIVEN_UP: ReadonlySet<Outcome['kind']> = new Set(['start-failed', 'no-status', 'timed-out', 'node-lost']);

/** Whether we stopped waiting while the cluster may not have: the container can still start, or end, later. */
export const isGivenUp = (run: Run): boolean =>
  run.state === 'finished' && run.outcome !== undefined && isOpenEnded(run, run.outcome.kind) && !run.late;

/** A launch that nobody answered may have happened all the same. */
const isOpenEnded = ({ containerName, launchedAtMs }: Run, kind: Outcome['kind']): boolean =>
  GIVEN_UP.has(kind) || (kind === 'internal' && containerName !== undefined && launchedAtMs === undefined);

/**
 * Whether nothing is left to do for the run: it is final, and what must be said about it has been said. Until then a
 * replica owns it, or another may claim it.
 */
export function isSettled({ state, rehearsal, delivery, grant }: Run): boolean {
  if (!isFinal(state)) return false;
  if (state === 'denied' || rehearsal) return delivery.told === true;
  return delivery.closed === true && (grant === undefined || delivery.grantClosed === true);
}

/**
 * Until when nobody needs to hold the run, because only a person or the clock can move it: while it waits for votes (its reminder comes first), and while
 * its grant is open, given up or not (its late end may be waited for all the same). Undefined: somebody must work on it now.
 * Settled runs never need anybody.
 */
export function parkedUntilMs(run: Run): number | undefined {
  if (run.state === 'pending-approval') return waitsUntilMs(run);
  const { grant, delivery } = run;
  const idle = isFinal(run.state) && delivery.closed === true && !delivery.grantClosed;
  if (!idle || !grant || grant.endedBy !== undefined || grant.uses.length >= grant.maxRuns) return undefined;
  return grant.expiresAtMs;
}

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

/** A run of several pods that has been planned. Its `plan` is that of one of its pods: the one of the highest class. */
export type BatchRun = Run & { readonly batch: Batch; readonly plan: Plan };

export const isBatchRun = (run: Run): run is BatchRun => run.batch !== undefined && run.plan !== undefined;
