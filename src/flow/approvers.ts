import { toKdebugError } from '../core/errors.ts';
import { own } from '../core/policy/own.ts';
import type { PendingApproval } from '../core/policy/vote.ts';
import type { Refusal, Run } from '../core/run/run.ts';
import type { FlowDeps } from './deps.ts';
import { refusal, refusalOfError } from './refusals.ts';

type Asked = Pick<FlowDeps, 'policies' | 'directory'>;

/**
 * Whether somebody is in one of these groups, by the policy as it is now and the user group as it is now: who left it does not
 * decide any more. @throws KdebugError what `Directory.members` throws: nobody may anything then
 */
export async function isApprover(
  from: readonly string[],
  userId: string,
  { policies, directory }: Asked,
): Promise<boolean> {
  const { approvers } = policies.current();
  for (const name of from) {
    const group = own(approvers, name);
    if (group?.users.some((member) => member === userId)) return true;
    if (group?.usergroup !== undefined && (await directory.members(group.usergroup)).has(userId)) return true;
  }
  return false;
}

/** Who voted and is in none of the groups any more. @throws as `isApprover` */
export async function lapsedVoters({ from, votes }: PendingApproval, asked: Asked): Promise<readonly string[]> {
  const lapsed: string[] = [];
  for (const { userId } of votes) if (!(await isApprover(from, userId, asked))) lapsed.push(userId);
  return lapsed;
}

/** What stands against an approval that was given: who gave it has left the groups, or nobody can say who is in them. */
export async function problemOfVotes({ approval }: Pick<Run, 'approval'>, asked: Asked): Promise<Refusal | undefined> {
  try {
    const lapsed = approval ? await lapsedVoters(approval, asked) : [];
    return lapsed.length > 0 ? refusal('approver_left', undefined, approval?.rule) : undefined;
  } catch (thrown) {
    return refusalOfError(toKdebugError(thrown));
  }
}
