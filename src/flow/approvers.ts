import { own } from '../core/policy/own.ts';
import type { PendingApproval } from '../core/policy/vote.ts';
import type { FlowDeps } from './deps.ts';

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
