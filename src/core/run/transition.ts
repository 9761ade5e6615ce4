import type { Plan } from '../container/plan.ts';
import type { ContainerTermination } from '../container/pod.ts';
import type { Decision } from '../policy/decision.ts';
import type { Outcome } from './outcome.ts';
import type { Delivery, Refusal, Run, RunLog, RunState, Verdict } from './run.ts';

/** Everything that can happen to a run. `atMs` is the moment it was noticed. */
export type RunEvent =
  | {
      readonly kind: 'planned';
      readonly plan: Plan;
      readonly planHash: string;
      readonly decision: Decision;
      readonly atMs: number;
    }
  | { readonly kind: 'denied'; readonly refusal: Refusal; readonly atMs: number }
  | { readonly kind: 'launching'; readonly containerName: string; readonly notAfterMs: number; readonly ref: string }
  | { readonly kind: 'launched'; readonly atMs: number }
  | { readonly kind: 'waiting'; readonly reason: string; readonly message: string }
  | { readonly kind: 'started'; readonly atMs: number; readonly imageId: string }
  | {
      readonly kind: 'ended';
      readonly outcome: Outcome;
      readonly termination?: ContainerTermination;
      readonly imageId?: string;
      readonly atMs: number;
    }
  | {
      readonly kind: 'finished';
      readonly outcome: Outcome;
      readonly log?: RunLog;
      readonly verdict?: Verdict;
      readonly atMs: number;
    }
  | {
      readonly kind: 'came-late';
      readonly outcome: Outcome;
      readonly termination: ContainerTermination;
      readonly imageId: string;
      readonly log?: RunLog;
      readonly verdict?: Verdict;
      readonly atMs: number;
    }
  | { readonly kind: 'said'; readonly delivery: Delivery };

/** The states in which an event may happen; anything else is refused as a value. */
const ALLOWED: Readonly<Record<RunEvent['kind'], readonly RunState[]>> = {
  planned: ['received'],
  denied: ['received', 'approved'],
  launching: ['approved', 'launching'],
  launched: ['launching'],
  waiting: ['starting'],
  started: ['starting', 'running'],
  ended: ['approved', 'launching', 'starting', 'running'],
  finished: ['collecting'],
  'came-late': ['finished'],
  said: [
    'received',
    'denied',
    'pending-approval',
    'rejected',
    'expired',
    'cancelled',
    'approved',
    'launching',
    'starting',
    'running',
    'collecting',
    'finished',
  ],
};

const FINAL: ReadonlySet<RunState> = new Set(['denied', 'rejected', 'expired', 'cancelled', 'finished']);

/** Whether nothing more can happen to the run but being told about. */
export const isFinal = (state: RunState): boolean => FINAL.has(state);

const GIVEN_UP: ReadonlySet<Outcome['kind']> = new Set(['start-failed', 'no-status', 'timed-out', 'node-lost']);

/** Whether we stopped waiting while the cluster may not have: the container can still start, or end, later. */
export const isGivenUp = ({ state, outcome, late }: Run): boolean =>
  state === 'finished' && outcome !== undefined && GIVEN_UP.has(outcome.kind) && !late;

/**
 * Whether nothing is left to do for the run: it is final, and what must be said about it has been said. Until then a
 * replica owns it, or another may claim it.
 */
export function isSettled({ state, plan, delivery }: Run): boolean {
  if (!isFinal(state)) return false;
  return state === 'finished' && plan ? delivery.closed === true : delivery.told === true;
}

export type Transition =
  | { readonly kind: 'moved'; readonly run: Run }
  /** The event cannot happen in this state: a late, repeated or foreign one. The run is as it was. */
  | { readonly kind: 'illegal'; readonly state: RunState };

/** The state machine of a run (design, section 4). Pure: the same run and event always give the same answer. */
export function transition(run: Run, event: RunEvent): Transition {
  const allowed = ALLOWED[event.kind].includes(run.state) && (event.kind !== 'came-late' || isGivenUp(run));
  if (!allowed) return { kind: 'illegal', state: run.state };
  return { kind: 'moved', run: next(run, event) };
}

function next(run: Run, event: RunEvent): Run {
  switch (event.kind) {
    case 'planned':
      return planned(run, event);
    case 'denied':
      return { ...run, state: 'denied', refusal: event.refusal, finishedAtMs: event.atMs };
    case 'launching':
      return {
        ...run,
        state: 'launching',
        containerName: event.containerName,
        notAfterMs: event.notAfterMs,
        ref: event.ref,
      };
    case 'launched':
      return { ...run, state: 'starting', launchedAtMs: event.atMs };
    case 'waiting':
      return { ...run, waiting: { reason: event.reason, message: event.message } };
    case 'started':
      return { ...run, state: 'running', startedAtMs: event.atMs, imageId: event.imageId };
    case 'ended':
      return ended(run, event);
    case 'finished':
      return finished(run, event);
    case 'came-late':
      return cameLate(run, event);
    case 'said':
      return { ...run, delivery: event.delivery };
  }
}

function planned(run: Run, event: Extract<RunEvent, { kind: 'planned' }>): Run {
  const { plan, planHash, decision, atMs } = event;
  const known = { ...run, plan, planHash, decision };
  switch (decision.kind) {
    case 'allow':
      return { ...known, state: 'approved', approvedAtMs: atMs };
    case 'needs-approval':
      return { ...known, state: 'pending-approval' };
    case 'deny':
      return { ...known, state: 'denied', finishedAtMs: atMs };
  }
}

function ended(run: Run, event: Extract<RunEvent, { kind: 'ended' }>): Run {
  return {
    ...run,
    state: 'collecting',
    outcome: event.outcome,
    endedAtMs: event.atMs,
    ...(event.termination && { termination: event.termination }),
    ...(event.imageId !== undefined && { imageId: event.imageId }),
  };
}

function finished(run: Run, event: Extract<RunEvent, { kind: 'finished' }>): Run {
  return {
    ...run,
    state: 'finished',
    outcome: event.outcome,
    finishedAtMs: event.atMs,
    ...(event.log && { log: event.log }),
    ...(event.verdict && { verdict: event.verdict }),
  };
}

/** The true end of a run that was given up: the same anchor and reply are to be written again. */
function cameLate(run: Run, event: Extract<RunEvent, { kind: 'came-late' }>): Run {
  const { closed: _, ...delivery } = run.delivery;
  const { outcome, termination, imageId, log, verdict, atMs } = event;
  return {
    ...run,
    late: true,
    outcome,
    termination,
    imageId,
    finishedAtMs: atMs,
    delivery,
    ...(log && { log }),
    ...(verdict && { verdict }),
  };
}
