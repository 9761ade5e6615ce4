import { defined } from '../../lib/object.ts';
import { isActive } from '../planning/grant.ts';
import { judgeVote, withoutVotesOf } from '../planning/vote.ts';
import type { Run } from './run.ts';
import type { EventOf, RunEvent } from './run-event.ts';

type ApprovalEvent = Extract<
  RunEvent,
  { kind: 'voted' | 'expired' | 'cancelled' | 'rehearsed' | 'grant-used' | 'grant-ended' }
>;

/**
 * The half of the state machine in which people decide. Undefined: the event changes nothing. Judges a vote again on
 * the current state, so that simultaneous clicks make one decision.
 */
export function approvalTransition(run: Run, event: ApprovalEvent): Run | undefined {
  switch (event.kind) {
    case 'voted':
      return voted(run, event);
    case 'expired':
      return expired(run, event);
    case 'cancelled':
      return cancelled(run, event);
    case 'rehearsed': {
      const { plan, planHash, decision, rehearsal, atMs } = event;
      return { ...run, state: 'cancelled', plan, planHash, decision, rehearsal, finishedAtMs: atMs };
    }
    case 'grant-used':
      return grantUsed(run, event);
    case 'grant-ended':
      return grantEnded(run, event);
  }
}

function voted(run: Run, { vote, voter, lapsed, grant }: EventOf<'voted'>): Run | undefined {
  if (!run.approval) return undefined;
  const approval = withoutVotesOf(run.approval, lapsed);
  const known = { ...run, approval: { ...approval, votes: [...approval.votes, vote] } };
  switch (judgeVote(approval, voter, vote).kind) {
    case 'granted':
      return { ...known, state: 'approved', approvedAtMs: vote.atMs, ...defined({ grant }) };
    case 'rejected': {
      const outcome = { kind: 'rejected', by: vote.userId } as const;
      return { ...known, state: 'rejected', outcome, finishedAtMs: vote.atMs };
    }
    case 'counted':
      return known;
    default:
      return undefined;
  }
}

function expired(run: Run, { atMs }: EventOf<'expired'>): Run | undefined {
  if (!run.approval || atMs < run.approval.expiresAtMs) return undefined;
  return { ...run, state: 'expired', outcome: { kind: 'expired' }, finishedAtMs: atMs };
}

/** Only the requester cancels; others reject. */
function cancelled(run: Run, { byUserId, atMs }: EventOf<'cancelled'>): Run | undefined {
  if (byUserId !== run.origin.requesterId) return undefined;
  return { ...run, state: 'cancelled', outcome: { kind: 'cancelled', by: byUserId }, finishedAtMs: atMs };
}

/** Counts one more run on this run's grant; never beyond its limit or after its end. */
function grantUsed(run: Run, { use }: EventOf<'grant-used'>): Run | undefined {
  const { grant } = run;
  if (!grant || !isActive(grant, use.atMs) || grant.uses.some(({ runId }) => runId === use.runId)) return undefined;
  return { ...run, grant: { ...grant, uses: [...grant.uses, use] } };
}

function grantEnded(run: Run, { byUserId, atMs }: EventOf<'grant-ended'>): Run | undefined {
  if (!run.grant || !isActive(run.grant, atMs)) return undefined;
  return { ...run, grant: { ...run.grant, endedBy: byUserId } };
}
