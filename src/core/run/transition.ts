import { defined } from '../../lib/object.ts';
import type { Batch } from '../batch/batch.ts';
import { openBatch, recordOf } from '../batch/open-batch.ts';
import { batchTransition } from '../batch/transition.ts';
import type { Decision } from '../policy/policy.ts';
import type { Origin } from '../request/origin.ts';
import { approvalTransition } from './approval-transition.ts';
import { deliveryTransition, reopened } from './delivery.ts';
import { isGivenUp } from './life-cycle.ts';
import type { Run } from './run.ts';
import type { EventOf, RunEvent } from './run-event.ts';
import { PLANNED_STATES, type RunState } from './run-state.ts';
import { stopTransition } from './stop.ts';

/** The states in which an event may happen; in any other it is `illegal`. */
const ALLOWED: Readonly<Record<RunEvent['kind'], readonly RunState[]>> = {
  planned: ['received'],
  answered: ['received'],
  denied: ['received', 'approved'],
  unheard: ['pending-approval', 'approved'],
  voted: ['pending-approval'],
  expired: ['pending-approval'],
  cancelled: ['pending-approval'],
  rehearsed: ['received'],
  'grant-used': ['approved', 'launching', 'starting', 'running', 'collecting', 'finished'],
  'grant-ended': ['approved', 'launching', 'starting', 'running', 'collecting', 'finished'],
  launching: ['approved', 'launching'],
  launched: ['launching'],
  waiting: ['starting'],
  started: ['starting', 'running'],
  ended: ['approved', 'launching', 'starting', 'running'],
  finished: ['collecting'],
  'came-late': ['finished'],
  'stop-requested': ['approved', 'launching', 'starting', 'running', 'finished'],
  'stop-launching': ['starting', 'running', 'finished'],
  'stop-ended': ['starting', 'running', 'finished'],
  'stop-failed': ['launching', 'starting', 'running', 'finished'],
  batch: ['approved', 'running'],
  alerted: ['received', ...PLANNED_STATES],
  joined: ['received'],
  threaded: ['received'],
  asked: PLANNED_STATES,
  delivered: PLANNED_STATES,
};

export type Transition =
  | { readonly kind: 'moved'; readonly run: Run }
  /** The event cannot happen in this state: it is late, repeated or foreign. The run is unchanged. */
  | { readonly kind: 'illegal'; readonly state: RunState };

/** The state machine of a run (design, section 4). Pure: the same run and event always give the same result. */
export function transition(run: Run, event: RunEvent): Transition {
  const allowed = ALLOWED[event.kind].includes(run.state) && (event.kind !== 'came-late' || isGivenUp(run));
  if (!allowed) return { kind: 'illegal', state: run.state };
  const moved = next(run, event);
  return moved ? { kind: 'moved', run: moved } : { kind: 'illegal', state: run.state };
}

function next(run: Run, event: RunEvent): Run | undefined {
  switch (event.kind) {
    case 'planned':
      return planned(run, event);
    case 'answered':
      return answered(run, event);
    case 'voted':
    case 'expired':
    case 'cancelled':
    case 'rehearsed':
    case 'grant-used':
    case 'grant-ended':
      return approvalTransition(run, event);
    case 'denied':
      return denied(run, event);
    case 'unheard':
      // The pods of a running batch are ahead of its record.
      return run.batch && run.state === 'approved' ? undefined : denied(run, event);
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
    case 'stop-requested':
    case 'stop-launching':
    case 'stop-ended':
    case 'stop-failed':
      return stopTransition(run, event);
    case 'batch':
      return batchMoved(run, event);
    case 'alerted':
      return run.alert && { ...run, alert: event.alert };
    case 'joined':
      return { ...run, alert: event.alert, origin: { ...run.origin, threadOf: event.threadOf } };
    case 'threaded':
      return { ...run, origin: threaded(run.origin, event.threadTs) };
    case 'asked':
      return { ...run, asked: event.asked };
    case 'delivered': {
      const delivery = deliveryTransition(run.delivery, event.event, run.state);
      return delivery && { ...run, delivery };
    }
  }
}

/** Without a thread it stands alone. */
function threaded({ threadOf: _, ...origin }: Origin, threadTs: string): Origin {
  return { ...origin, ...(threadTs === '' ? {} : { threadTs }) };
}

const denied = (run: Run, { refusal, atMs }: EventOf<'denied' | 'unheard'>): Run => ({
  ...run,
  state: 'denied',
  refusal,
  finishedAtMs: atMs,
});

function planned(run: Run, event: EventOf<'planned'>): Run {
  const { plan, planHash, decision, batch, verdict, atMs } = event;
  const known = { ...run, plan, planHash, decision, ...defined({ batch, verdict }) };
  switch (decision.kind) {
    case 'allow':
      return { ...known, state: 'approved', approvedAtMs: atMs };
    case 'needs-approval':
      return needsApproval(known, decision, event);
    case 'deny':
      return { ...known, state: 'denied', finishedAtMs: atMs };
  }
}

const answered = (run: Run, { plan, planHash, decision, verdict, because, atMs }: EventOf<'answered'>): Run => ({
  ...run,
  ...defined({ plan, planHash, decision }),
  verdict,
  state: 'finished',
  outcome: { kind: 'answered', ...defined({ because }) },
  endedAtMs: atMs,
  finishedAtMs: atMs,
});

/** A grant replaces the approval; else the request needs one, on the rule's current terms. */
function needsApproval(
  run: Run,
  decision: Extract<Decision, { kind: 'needs-approval' }>,
  event: EventOf<'planned'>,
): Run {
  const { grantedBy, atMs } = event;
  if (grantedBy !== undefined) return { ...run, state: 'approved', approvedAtMs: atMs, grantedBy };
  const { from, count, expiresMs, voteReason, grants } = decision.approval;
  const approval = { rule: decision.rule, from, count, expiresAtMs: atMs + expiresMs, voteReason, grants, votes: [] };
  return { ...run, state: 'pending-approval', approval };
}

/** O(pods): while the batch runs, `HeldBatch` keeps it open instead. */
function batchMoved(run: Run, { event, atMs }: EventOf<'batch'>): Run | undefined {
  if (!run.batch) return undefined;
  const open = openBatch(run.batch, atMs);
  return batchTransition(open, event, atMs) === 'moved' ? withBatch(run, recordOf(open)) : undefined;
}

/** The run with this state of its batch: it ends when the batch does. */
export function withBatch(run: Run, batch: Batch): Run {
  const { endedAtMs } = batch;
  const moved = { ...run, batch };
  return endedAtMs === undefined
    ? { ...moved, state: 'running' }
    : { ...moved, state: 'finished', endedAtMs, finishedAtMs: endedAtMs };
}

function ended(run: Run, event: EventOf<'ended'>): Run {
  return {
    ...run,
    state: 'collecting',
    outcome: event.outcome,
    endedAtMs: event.atMs,
    ...defined({ termination: event.termination, imageId: event.imageId }),
  };
}

function finished(run: Run, event: EventOf<'finished'>): Run {
  return {
    ...run,
    state: 'finished',
    outcome: event.outcome,
    finishedAtMs: event.atMs,
    ...defined({ log: event.log, verdict: event.verdict }),
  };
}

/** The true end of a run that kdebug gave up: the same anchor and reply need an update. */
function cameLate(run: Run, event: EventOf<'came-late'>): Run {
  const { outcome, termination, imageId, log, verdict, atMs } = event;
  return {
    ...run,
    late: true,
    outcome,
    termination,
    imageId,
    finishedAtMs: atMs,
    delivery: reopened(run.delivery),
    ...defined({ log, verdict }),
  };
}
