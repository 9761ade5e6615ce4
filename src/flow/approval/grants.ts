import type { Plan } from '../../core/container/plan.ts';
import type { ReasonCode } from '../../core/errors.ts';
import type { RunId } from '../../core/ids.ts';
import { covers, type Grant, mayGrant } from '../../core/policy/grant.ts';
import { isSamePerson } from '../../core/policy/identity.ts';
import type { Decision } from '../../core/policy/policy.ts';
import type { Run } from '../../core/run/run.ts';
import { record } from '../audit.ts';
import type { FlowDeps } from '../deps.ts';
import type { RunChanger } from '../held-run.ts';
import { isApprover } from './approvers.ts';

export interface GrantContext {
  /** What the rule asks for, unless a grant stands in for it. */
  readonly asked: Extract<Decision, { kind: 'needs-approval' }>;
  readonly deps: FlowDeps;
  readonly runs: RunChanger;
}

/**
 * Uses an open grant of the channel that covers the plan; resolves with the run that carries it. The use is counted at that run,
 * under its lease, so that no burst gets more runs through than were granted; once, however often this is entered for one run.
 */
export async function useGrant(run: Run, plan: Plan, asking: GrantContext): Promise<RunId | undefined> {
  const { asked, deps } = asking;
  const { rule } = asked;
  const atMs = deps.clock.now();
  for (const { id, grant } of await deps.store.granting(run.origin.channelId)) {
    if (!grant || !covers(withoutUseOf(run, grant), plan, rule, atMs)) continue;
    if (!(await isValidFor(run, grant, asking)) || !(await isCounted(run, id, asking))) continue;
    await record(deps, run, 'grant', { grantOf: id, rule, grantedBy: grant.byUserId });
    return id;
  }
  return undefined;
}

/** The grant as it was before this run used it: its own use, counted before a crash, does not stand in its way. */
const withoutUseOf = ({ id }: Run, grant: Grant): Grant => ({
  ...grant,
  uses: grant.uses.filter(({ runId }) => runId !== id),
});

/** Counts the use; false when there is no room any more, or the grant cannot be changed now. */
async function isCounted(run: Run, grantOf: RunId, { deps, runs }: GrantContext): Promise<boolean> {
  const use = { runId: run.id, userId: run.origin.requesterId, atMs: deps.clock.now() };
  const counted = await runs.change(grantOf, async (session) => {
    const isThere = session.run.grant?.uses.some(({ runId }) => runId === run.id);
    return isThere || (await session.tryApply({ kind: 'grant-used', use })) === 'moved';
  });
  return counted === true;
}

/**
 * Whether the one person's word is enough for what is asked: they are an approver to this day, and another person than who asks.
 * Where nobody can say, it is not: an approval is asked for then.
 */
async function isValidFor(run: Run, { byUserId }: Grant, { asked, deps }: GrantContext): Promise<boolean> {
  if (!mayGrant(asked.approval) || isSamePerson(deps.policies.current().identity, run.origin, byUserId)) return false;
  return isApprover(asked.approval.from, byUserId, deps, deps.clock.now()).catch(() => false);
}

/** How a note says it. */
export const END_GRANT = 'end-grant';

/**
 * Ends a grant for one person; whether they may is looked up now. Undefined: it has ended, and that is on record. The run that it
 * was given with may go on for long: where another replica is at work on it, that one is left a note (`heedNotes`).
 */
export async function endGrant(
  run: Run,
  userId: string,
  { deps, runs }: { readonly deps: FlowDeps; readonly runs: RunChanger },
): Promise<ReasonCode | undefined> {
  if (!run.grant) return 'grant_ended';
  const from = run.approval?.from ?? [];
  const sinceMs = deps.clock.now();
  if (!(await isApprover(from, userId, deps)) || !(await isApprover(from, userId, deps, sinceMs)))
    return 'vote_by_outsider';
  const event = { kind: 'grant-ended', byUserId: userId, atMs: deps.clock.now() } as const;
  const keep = () => record(deps, run, 'grant', { actorId: userId, kind: 'end', verdict: 'ended' });
  const moved = await runs.change(run.id, (session) => session.tryApply(event, keep));
  if (moved === 'moved') return undefined;
  if (moved !== 'elsewhere') return 'grant_ended';
  await deps.store.notes.leave(run.id, JSON.stringify({ change: { kind: END_GRANT }, userId }));
  return 'grant_elsewhere';
}
