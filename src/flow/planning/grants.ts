import type { Plan } from '../../core/container/plan.ts';
import type { ReasonCode } from '../../core/errors.ts';
import type { RunId } from '../../core/ids.ts';
import { covers, type Grant, mayGrant } from '../../core/planning/grant.ts';
import { isSamePerson } from '../../core/planning/identity.ts';
import type { Decision } from '../../core/policy/policy.ts';
import type { Run } from '../../core/run/run.ts';
import { record } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { RunChanger } from '../context/held-run.ts';
import { isApprover } from './approvers.ts';

export interface GrantContext {
  /** Required without a grant. */
  readonly needed: Extract<Decision, { kind: 'needs-approval' }>;
  readonly deps: FlowDeps;
  readonly runs: RunChanger;
}

/**
 * Uses an open grant of the channel that covers the plan; resolves with the run that carries it. Counts the use there under its lease, so a
 * burst cannot exceed the grant; once per run, however often called.
 */
export async function useGrant(run: Run, plan: Plan, context: GrantContext): Promise<RunId | undefined> {
  const { needed, deps } = context;
  const { rule } = needed;
  const atMs = deps.clock.now();
  for (const { id, grant } of await deps.store.granting(run.origin.channelId)) {
    if (!grant || !covers(withoutUseOf(run, grant), plan, rule, atMs)) continue;
    if (!(await isValidFor(run, grant, context)) || !(await isCounted(run, id, context))) continue;
    await record(deps, run, 'grant', { grantOf: id, rule, grantedBy: grant.byUserId });
    return id;
  }
  return undefined;
}

/** Ignores this run's own use, which may have been counted before a crash. */
const withoutUseOf = ({ id }: Run, grant: Grant): Grant => ({
  ...grant,
  uses: grant.uses.filter(({ runId }) => runId !== id),
});

/** False if the grant is used up or cannot be changed now. */
async function isCounted(run: Run, grantOf: RunId, { deps, runs }: GrantContext): Promise<boolean> {
  const use = { runId: run.id, userId: run.origin.requesterId, atMs: deps.clock.now() };
  const counted = await runs.change(grantOf, async (held) => {
    const isThere = held.run.grant?.uses.some(({ runId }) => runId === run.id);
    return isThere || (await held.tryApply({ kind: 'grant-used', use })) === 'moved';
  });
  return counted === true;
}

/**
 * A grant still counts if its giver is an approver now, and not the requester. False if Slack cannot say, so an
 * approval is needed.
 */
async function isValidFor(run: Run, { byUserId }: Grant, { needed, deps }: GrantContext): Promise<boolean> {
  if (!mayGrant(needed.approval) || isSamePerson(deps.policies.current().identity, run.origin, byUserId)) return false;
  return isApprover(needed.approval.from, byUserId, deps, deps.clock.elapsed()).catch(() => false);
}

/** A note to another replica. */
export const END_GRANT = 'end-grant';

/**
 * Ends a grant if this person may, by Slack's current answer. Undefined: ended and recorded. If another replica holds the run, possibly for
 * long, that replica gets a note (`applyPeerCommands`).
 */
export async function endGrant(
  run: Run,
  userId: string,
  { deps, runs }: { readonly deps: FlowDeps; readonly runs: RunChanger },
): Promise<ReasonCode | undefined> {
  if (!run.grant) return 'grant_ended';
  const from = run.approval?.from ?? [];
  const sinceMs = deps.clock.elapsed();
  if (!(await isApprover(from, userId, deps)) || !(await isApprover(from, userId, deps, sinceMs)))
    return 'vote_by_outsider';
  const event = { kind: 'grant-ended', byUserId: userId, atMs: deps.clock.now() } as const;
  const recordEnd = () => record(deps, run, 'grant', { actorId: userId, kind: 'end', verdict: 'ended' });
  const moved = await runs.change(run.id, (held) => held.tryApply(event, recordEnd));
  if (moved === 'moved') return undefined;
  if (moved !== 'elsewhere') return 'grant_ended';
  await deps.store.notes.leave(run.id, JSON.stringify({ change: { kind: END_GRANT }, userId }));
  return 'grant_elsewhere';
}
