import type { Batch } from '../batch/batch.ts';
import type { Plan } from '../container/plan.ts';
import type { ContainerState } from '../container/status.ts';
import { alertSourceOf } from '../ids.ts';
import { type Outcome, TRACER_MISSING } from '../outcome.ts';
import { isActive } from '../planning/grant.ts';
import type { Refusal } from '../request/origin.ts';
import { waitsUntilMs } from './copies.ts';
import type { Delivery } from './delivery.ts';
import type { Rehearsal, Run } from './run.ts';
import type { RunState } from './run-state.ts';

const FINAL: ReadonlySet<RunState> = new Set(['denied', 'rejected', 'expired', 'cancelled', 'finished']);

/** Only posts remain for a final run. */
export const isFinal = (state: RunState): boolean => FINAL.has(state);

/** The limit on simultaneous runs that it counts towards: `open`, `pending` (waits for an approval), or none if final. */
export function countedAs({ state }: Pick<Run, 'state'>): 'open' | 'pending' | undefined {
  if (state === 'pending-approval') return 'pending';
  return isFinal(state) ? undefined : 'open';
}

/** kdebug stopped waiting although the container can still start or end later. */
export const isGivenUp = (run: Run): boolean =>
  run.state === 'finished' && run.outcome !== undefined && isOpenEnded(run, run.outcome) && !run.late;

function isOpenEnded({ containerName, launchedAtMs, termination }: Run, outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'no-status':
    case 'node-lost':
      return true;
    case 'start-failed':
      return outcome.reason !== TRACER_MISSING;
    case 'timed-out':
      // The tracer of a second run ends it at its timeout.
      return termination === undefined;
    case 'internal':
      // A launch without an answer may have happened.
      return containerName !== undefined && launchedAtMs === undefined;
    default:
      return false;
  }
}

export type NextStep =
  /** Run its next stage (`flow/run/pipeline.ts`). */
  | { readonly kind: 'advance' }
  /** Bring Slack up to date; no stage is left, or only votes open the next one. */
  | { readonly kind: 'post' }
  /** Release it: only people or the clock can change it. Whoever claims it at `untilMs` continues. */
  | { readonly kind: 'park'; readonly untilMs: number }
  /**
   * Kdebug gave up, but the container may still end. Slack needs an update at `untilMs` in any case; may be infinite.
   */
  | { readonly kind: 'await-late-end'; readonly untilMs: number }
  | { readonly kind: 'done' };

/** The one decision on what comes next, for the supervisor, the reply and the wait for a late end. */
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
 * The time at which a replica must work on the run again: 0 is now, infinity is never. Stores index runs by it: nobody
 * claims a run earlier. It waits for votes (the reminder, then the expiry) or for the end of an open grant.
 */
export function dueAtMs(run: Run): number {
  if (run.state === 'pending-approval') return waitsUntilMs(run) ?? 0;
  if (!isFinal(run.state)) return 0;
  return isDelivered(run) ? alertEndsAtMs(run) : Math.min(grantEndsAtMs(run), alertEndsAtMs(run));
}

/** No replica needs a settled run any more: it is final, and Slack has every post. */
export const isSettled = (run: Run): boolean => dueAtMs(run) === Number.POSITIVE_INFINITY;

function isDelivered(run: Run): boolean {
  const { state, rehearsal, delivery, grant } = run;
  if (isUnattended(run)) return delivery.closed === true;
  if (state === 'denied' || rehearsal) return delivery.told === true;
  return delivery.closed === true && (grant === undefined || delivery.grantClosed === true);
}

/**
 * The time at which the card must show the end of the grant: 0 while posts are missing, or once the grant was ended or
 * used up.
 */
function grantEndsAtMs({ grant, delivery }: Run): number {
  if (!grant || delivery.closed !== true || delivery.grantClosed) return 0;
  return grant.endedBy !== undefined || grant.uses.length >= grant.maxRuns ? 0 : grant.expiresAtMs;
}

/** True if nobody asked for the run: its refusal is on its card, and it mentions nobody. */
export const isUnattended = ({ origin }: Pick<Run, 'origin'>): boolean =>
  alertSourceOf(origin.requesterId) !== undefined;

/** When the card must show a change of its alerts, or is closed for more of them. */
function alertEndsAtMs({ alert, delivery }: Run): number {
  if (!alert || delivery.alertClosed) return Number.POSITIVE_INFINITY;
  return delivery.alertVersion === alert.version ? alert.openUntilMs : 0;
}

export type NextPost =
  | { readonly kind: 'nothing' }
  /** Posted or updated. */
  | { readonly kind: 'card' }
  /** Tells the requester that people have approved it. */
  | { readonly kind: 'approval' }
  /** Seen only by the requester, like the outcome of a dry run. */
  | { readonly kind: 'refusal'; readonly refusal: Refusal }
  | { readonly kind: 'dry-run'; readonly rehearsal: Rehearsal }
  /** With its files. */
  | { readonly kind: 'result' }
  /** The thread of the card says that the alert was resolved. */
  | { readonly kind: 'resolved' }
  /** Not a post: records that Slack has every post, and that the card shows the grant's end and the newest of its alerts. */
  | ({ readonly kind: 'completion'; readonly grantClosed: boolean } & Pick<Delivery, 'alertVersion' | 'alertClosed'>);

/** The first missing post that was not made (`done`) for this state of the run. */
export const nextPost = (
  run: Run,
  { done, nowMs }: { readonly done: ReadonlySet<NextPost['kind']>; readonly nowMs: number },
): NextPost => postsOf(run, nowMs).find(({ kind }) => !done.has(kind)) ?? { kind: 'nothing' };

/** The first end of an alert is told once: one that comes and goes must not fill the thread. */
function alertPosts({ alert, delivery }: Run, nowMs: number) {
  const isNews = alert?.resolvedAtMs !== undefined && !delivery.resolvedPosted;
  const isOver = alert !== undefined && nowMs >= alert.openUntilMs;
  return {
    posts: isNews ? [{ kind: 'resolved' } as const] : [],
    completes: alert ? { alertVersion: alert.version, ...(isOver ? { alertClosed: true } : {}) } : {},
  };
}

/** A refusal is seen only by the requester; a card that was posted before it shows it too. */
function privateAnswer({ delivery, refusal }: Run): readonly NextPost[] {
  const answer = refusal && !delivery.told ? [{ kind: 'refusal', refusal } as const] : [];
  return delivery.anchor ? [{ kind: 'card' }, ...answer] : answer;
}

/** In order: the card before the result, and both before the record that they exist. */
function postsOf(run: Run, nowMs: number): readonly NextPost[] {
  const { state, delivery, rehearsal, grant } = run;
  const card = { kind: 'card' } as const;
  if (state === 'received') return [];
  if (state === 'denied' && !isUnattended(run)) return privateAnswer(run);
  if (rehearsal) return delivery.told ? [] : [{ kind: 'dry-run', rehearsal }];
  if (!isFinal(state)) return [card, ...approvalPost(run)];
  const grantClosed = grant !== undefined && !isActive(grant, nowMs);
  const result = state === 'denied' ? [] : [{ kind: 'result' } as const];
  const { posts, completes } = alertPosts(run, nowMs);
  return [card, ...result, ...posts, { kind: 'completion', grantClosed, ...completes }];
}

/** Once it has ended, its result says enough. */
const approvalPost = ({ state, approval, delivery }: Run): readonly NextPost[] =>
  approval !== undefined && delivery.approvalPosted !== true && UNDER_WAY.has(state) ? [{ kind: 'approval' }] : [];

const UNDER_WAY: ReadonlySet<RunState> = new Set(['approved', 'launching', 'starting', 'running']);

/** The time at which the current wait of a run gives up, and the outcome then. Undefined while no clock runs. */
export interface Deadline {
  readonly atMs: number;
  readonly outcome: Outcome;
}

/**
 * The clocks of a run: *start* (from the launch until it is seen running or ended) and *run* (from its start). Their
 * sum bounds the run. `latest` is the container's state now: one that the kubelet never mentioned is `no-status`; one
 * that waits gets the kubelet's own words.
 */
export function deadlineOf(run: Run, latest: ContainerState): Deadline | undefined {
  if (run.launchedAtMs === undefined || !run.plan) return undefined;
  if (run.startedAtMs !== undefined)
    return { atMs: run.startedAtMs + run.plan.timeoutMs, outcome: { kind: 'timed-out' } };
  const atMs = run.launchedAtMs + run.plan.startDeadlineMs;
  if (latest.kind === 'waiting') {
    // A status without words: an event may have given the reason (a target that does not run).
    const { reason, message } = latest.message === '' ? (run.waiting ?? latest) : latest;
    return { atMs, outcome: { kind: 'start-failed', reason, message } };
  }
  return { atMs, outcome: { kind: 'no-status' } };
}

/** In `pending-approval`, and from `approved` on: every stage but planning needs a plan. */
export type PlannedRun = Run & { readonly plan: Plan };
/** From `launching` on: its container may be in the pod. */
export type LaunchedRun = PlannedRun & { readonly containerName: string };
/** From `collecting` on. */
export type EndedRun = Run & { readonly outcome: Outcome };
/** A planned run of several pods. Its `plan` is that of the pod with the highest class. */
export type BatchRun = PlannedRun & { readonly batch: Batch };

export const isPlanned = (run: Run): run is PlannedRun => run.plan !== undefined;
export const isLaunched = (run: Run): run is LaunchedRun => isPlanned(run) && run.containerName !== undefined;
export const isEnded = (run: Run): run is EndedRun => run.outcome !== undefined;
export const isBatchRun = (run: Run): run is BatchRun => isPlanned(run) && run.batch !== undefined;
