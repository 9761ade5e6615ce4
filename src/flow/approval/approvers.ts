import { KdebugError, toKdebugError } from '../../core/errors.ts';
import type { PendingApproval } from '../../core/policy/vote.ts';
import { own } from '../../lib/own-property.ts';
import type { FlowDeps } from '../deps.ts';
import { isForGood } from '../reply/post-once.ts';

type Asked = Pick<FlowDeps, 'policies' | 'directory'>;

/**
 * Whether somebody is in one of these groups, by the policy as it is now. With `sinceMs`, what Slack said of the groups before that
 * moment does not count, and they must be a full member of the workspace still: so it is asked where a word of theirs decides.
 * @throws KdebugError what `Directory.members` and `inChannel` throw: nobody may anything then
 */
export async function isApprover(
  from: readonly string[],
  userId: string,
  { policies, directory }: Asked,
  sinceMs?: number,
): Promise<boolean> {
  const { approvers } = policies.current();
  const groups = from.flatMap((name) => own(approvers, name) ?? []);
  const channels = groups.flatMap(({ channel }) => channel ?? []);
  const isNamed = groups.some(({ users }) => users.some((member) => member === userId));
  const usergroups = groups.flatMap(({ usergroup }) => usergroup ?? []);
  const asked = isNamed
    ? []
    : [
        ...usergroups.map((usergroup) => directory.members(usergroup, sinceMs)),
        ...channels.map((channel) => inChannel(channel, directory, sinceMs)),
      ];
  // At the same time: whoever clicked is answered within Slack's three seconds.
  const [isThere, ...answers] = await Promise.all([
    sinceMs === undefined || isFullMember(userId, directory, sinceMs),
    ...asked.map(settled),
  ]);
  if (!isThere) return false;
  if (isNamed || answers.some((answer) => answer.status === 'fulfilled' && answer.value.has(userId))) return true;
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (failed) throw failed.reason;
  return false;
}

/**
 * Who is in a channel whose members may decide. @throws KdebugError approvers_channel_closed where the bot may not look, or there are
 * too many to be told apart: nobody there may anything then; what `Directory.channelMembers` throws for a while
 */
export async function inChannel(
  channel: string,
  directory: Pick<Asked['directory'], 'channelMembers'>,
  sinceMs?: number,
): Promise<ReadonlySet<string>> {
  try {
    return await directory.channelMembers(channel, sinceMs);
  } catch (thrown) {
    const { code } = toKdebugError(thrown);
    throw isForGood(code) ? new KdebugError('approvers_channel_closed', { detail: channel, cause: thrown }) : thrown;
  }
}

async function settled<Value>(answer: Promise<Value>): Promise<PromiseSettledResult<Value>> {
  const [result] = await Promise.allSettled([answer]);
  return result;
}

async function isFullMember(userId: string, directory: Asked['directory'], sinceMs: number): Promise<boolean> {
  try {
    return (await directory.person(userId, sinceMs)).kind === 'member';
  } catch (thrown) {
    if (thrown instanceof KdebugError && thrown.code === 'person_unknown') return false;
    throw thrown;
  }
}

/** Who voted and is in none of the groups any more. @throws as `isApprover` */
export async function lapsedVoters(
  { from, votes }: PendingApproval,
  asked: Asked,
  sinceMs?: number,
): Promise<readonly string[]> {
  const voters = votes.map(({ userId }) => userId);
  const still = await Promise.all(voters.map((userId) => isApprover(from, userId, asked, sinceMs)));
  return voters.filter((_, index) => still[index] !== true);
}
