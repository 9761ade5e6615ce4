import { asUserId } from '../../core/ids.ts';
import { GRANT_MS, GRANT_RUNS, type Grant, grantScope, grantTarget } from '../../core/policy/grant.ts';
import { isSamePerson } from '../../core/policy/identity.ts';
import type { PendingApproval, Vote, Voter } from '../../core/policy/vote.ts';
import type { Form } from '../../core/report/message.ts';
import type { Run } from '../../core/run/run.ts';
import { defined } from '../../lib/defined.ts';
import type { FlowDeps } from '../deps.ts';
import type { AuditEntry } from '../ports/machine.ts';
import { isApprover, lapsedVoters } from './approvers.ts';

/** A vote as somebody gives it. */
export interface VoteInput {
  readonly action: 'approve' | 'approve-grant' | 'reject';
  readonly userId: string;
  readonly reason?: string;
}

/** A run that waits for votes. */
export type PendingRun = Run & { readonly approval: PendingApproval };

/** The vote with all that has to be looked up to judge it; with `sinceMs`, nothing that Slack said before that moment counts. */
export async function votedOf(run: PendingRun, given: VoteInput, deps: FlowDeps, sinceMs?: number) {
  const vote = voteOf(given, deps.clock.now());
  const [voter, lapsed] = await Promise.all([
    voterOf(run, given.userId, deps, sinceMs),
    vote.kind === 'approve' ? lapsedVoters(run.approval, deps, sinceMs) : [],
  ]);
  const grant = given.action === 'approve-grant' ? grantOf(run, given.userId, vote.atMs) : undefined;
  return { kind: 'voted', vote, voter, lapsed, ...defined({ grant }) } as const;
}

function voteOf({ action, userId, reason }: VoteInput, atMs: number): Vote {
  const kind = action === 'reject' ? 'reject' : 'approve';
  return { userId, kind, atMs, ...defined({ reason }) };
}

async function voterOf(run: PendingRun, userId: string, deps: FlowDeps, sinceMs?: number): Promise<Voter> {
  const { identity } = deps.policies.current();
  return {
    userId,
    isRequester: isSamePerson(identity, run.origin, userId),
    isAlso: (other) => isSamePerson(identity, { ...run.origin, requesterId: asUserId(other) }, userId),
    isApprover: await isApprover(run.approval.from, userId, deps, sinceMs),
  };
}

function grantOf({ plan, approval }: PendingRun, byUserId: string, atMs: number): Grant | undefined {
  if (!plan) return undefined;
  const scope = grantScope(plan);
  return { byUserId, rule: approval.rule, scope, expiresAtMs: atMs + GRANT_MS, maxRuns: GRANT_RUNS, uses: [] };
}

/** What exactly was granted, for the record. */
export function grantFacts({ grant, plan }: Run): AuditEntry['facts'] {
  if (!grant || !plan) return {};
  const { scope, maxRuns: grantRuns, expiresAtMs } = grant;
  const grantUntil = new Date(expiresAtMs).toISOString();
  return { grantTo: plan.requesterId, grantPlace: grantTarget(plan), grantScope: scope, grantRuns, grantUntil };
}

/** The form that asks for the reason of a vote. */
export const VOTE_REASON = 'vote-reason';

export const reasonForm = (run: Run, action: VoteInput['action']): Form => ({
  name: VOTE_REASON,
  value: `${action}:${run.id}`,
  title: action === 'reject' ? 'Reject' : 'Approve',
  submit: action === 'reject' ? 'Reject' : 'Approve',
  intro: `Run ${run.id}: /kdebug ${run.commandLine}`,
  fields: [
    {
      id: 'reason',
      label: 'Reason',
      kind: 'lines',
      optional: false,
      maxLength: 500,
      hint: 'It is shown on the card and kept.',
    },
  ],
});
