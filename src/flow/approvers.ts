import { own } from '../core/policy/own.ts';
import type { FlowDeps } from './deps.ts';

/**
 * Whether somebody is in one of these groups, by the policy as it is now and the user group as it is now: who left it does not
 * decide any more. @throws KdebugError what `Directory.members` throws: nobody may anything then
 */
export async function isApprover(
  from: readonly string[],
  userId: string,
  { policies, directory }: Pick<FlowDeps, 'policies' | 'directory'>,
): Promise<boolean> {
  const { approvers } = policies.current();
  for (const name of from) {
    const group = own(approvers, name);
    if (group?.users.some((member) => member === userId)) return true;
    if (group?.usergroup !== undefined && (await directory.members(group.usergroup)).has(userId)) return true;
  }
  return false;
}
