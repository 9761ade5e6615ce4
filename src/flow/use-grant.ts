import type { Plan } from '../core/container/plan.ts';
import type { RunId } from '../core/ids.ts';
import { covers } from '../core/policy/grant.ts';
import type { Run } from '../core/run/run.ts';
import { record } from './audit.ts';
import type { FlowDeps } from './deps.ts';
import type { RunChanger } from './session.ts';

interface Asking {
  readonly rule: string;
  readonly deps: FlowDeps;
  readonly runs: RunChanger;
}

/**
 * Uses an open grant of the channel that covers the plan; resolves with the run that carries it. The use is counted at that run,
 * under its lease, so that no burst gets more runs through than were granted.
 */
export async function useGrant(run: Run, plan: Plan, { rule, deps, runs }: Asking): Promise<RunId | undefined> {
  const atMs = deps.clock.now();
  for (const { id, grant } of await deps.store.granting(run.origin.channelId)) {
    if (!grant || !covers(grant, plan, rule, atMs)) continue;
    const use = { runId: run.id, userId: run.origin.requesterId, atMs };
    if ((await runs.change(id, (session) => session.tryApply({ kind: 'grant-used', use }))) !== 'moved') continue;
    await record(deps, run, 'grant', { grantOf: id, rule, grantedBy: grant.byUserId });
    return id;
  }
  return undefined;
}
