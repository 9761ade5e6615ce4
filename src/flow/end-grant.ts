import type { ReasonCode } from '../core/errors.ts';
import type { Run } from '../core/run/run.ts';
import { isApprover } from './approvers.ts';
import { record } from './audit.ts';
import type { FlowDeps } from './deps.ts';
import type { RunChanger } from './session.ts';

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
