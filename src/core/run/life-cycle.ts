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

/** What the replica that holds a run does next. */
export type NextStep =
  /** Take it through its next stage (`flow/pipeline.ts`). */
  | { readonly kind: 'advance' }
  /** Bring Slack up to date; no stage is left, or only votes can open the next one. */
  | { readonly kind: 'post' }
  /** Let go of it: only people or the clock can move it. Whoever claims it at `untilMs` goes on. */
  | { readonly kind: 'park'; readonly untilMs: number }
  /** Kdebug gave up, but its container may still end. `untilMs` is when Slack needs an update in any case; may be infinite. */
  | { readonly kind: 'await-late-end'; readonly untilMs: number }
  | { readonly kind: 'done' };

/** The one answer to "what now?": the supervisor, the reply and the wait for a late end all ask it. */
export function nextStep(run: Run, nowMs: number): NextStep {
  const { state, approval } = run;
  const isPending = state === 'pending-approval';
  if (isPending && nowMs >= (approval?.expiresAtMs ?? 0)) return { kind: 'advance' };
  if (!isPending && !isFinal(state)) return { kind: 'advance' };
  const untilMs = dueAtMs(run);
  if (nowMs >= untilMs) return { kind: 'post' };
  if (isGivenUp(run)) return { kind: 'await-late-end', untilMs };
  return untilMs === Number.POSITIVE_INFINITY ? { kind: 'done' } : { kind: 'park', untilMs };
}

/**
 * When a replica must work on the run again: 0 is now, infinity is never. Stores index runs by it: before that moment nobody
 * claims the run. The two waits are for votes (the reminder, then the expiry) and for the end of an open grant.
 */
export function dueAtMs(run: Run): number {
  if (run.state === 'pending-approval') return waitsUntilMs(run) ?? 0;
  if (!isFinal(run.state)) return 0;
  return isDelivered(run) ? Number.POSITIVE_INFINITY : grantEndsAtMs(run);
}

/** Whether no replica needs the run any more: it is final, and Slack has everything. */
export const isSettled = (run: Run): boolean => dueAtMs(run) === Number.POSITIVE_INFINITY;

function isDelivered({ state, rehearsal, delivery, grant }: Run): boolean {
  if (state === 'denied' || rehearsal) return delivery.told === true;
  return delivery.closed === true && (grant === undefined || delivery.grantClosed === true);
}

/** When the card must show that the grant has ended: 0 while there is more to post, or the grant has been ended or used up. */
function grantEndsAtMs({ grant, delivery }: Run): number {
  if (!grant || delivery.closed !== true || delivery.grantClosed) return 0;
  return grant.endedBy !== undefined || grant.uses.length >= grant.maxRuns ? 0 : grant.expiresAtMs;
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

/** From the state `approved` on, and in `pending-approval`: every stage but planning works on one. */
export type PlannedRun = Run & { readonly plan: Plan };
/** From `launching` on: its container may be in the pod. */
export type LaunchedRun = PlannedRun & { readonly containerName: string };
/** From `collecting` on. */
export type EndedRun = Run & { readonly outcome: Outcome };
/** A run of several pods that has been planned. Its `plan` is that of the pod with the highest class. */
export type BatchRun = PlannedRun & { readonly batch: Batch };

export const isPlanned = (run: Run): run is PlannedRun => run.plan !== undefined;
export const isLaunched = (run: Run): run is LaunchedRun => isPlanned(run) && run.containerName !== undefined;
export const isEnded = (run: Run): run is EndedRun => run.outcome !== undefined;
export const isBatchRun = (run: Run): run is BatchRun => isPlanned(run) && run.batch !== undefined;
