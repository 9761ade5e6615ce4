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
