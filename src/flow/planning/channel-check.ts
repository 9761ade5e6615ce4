import { toKdebugError } from '../../core/errors.ts';
import { asChannelId, asUserId, isDirect } from '../../core/ids.ts';
import { targetLogOf } from '../../core/planning/target-log.ts';
import { channelPolicy, DIRECT } from '../../core/policy/policy.ts';
import type { Origin, Refusal } from '../../core/request/origin.ts';
import type { Run } from '../../core/run/run.ts';
import { note } from '../../core/say/message/line.ts';
import type { Message } from '../../core/say/message/message.ts';
import { own } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import { isForGood } from '../context/post-once.ts';
import { refusal } from '../context/refusals.ts';
import { mayUseDirect } from './approvers.ts';

/**
 * Slack Connect: people of another company read everything in a channel shared with them. Only an event's envelope says so
 * (`is_ext_shared_channel`), not a command or click, so kdebug asks Slack (`Directory.channel`).
 */
type Need = Pick<FlowDeps, 'policies' | 'directory' | 'log'>;

/**
 * Refuses a request that cannot run in this channel. It is shared, or Slack cannot say, and the policy forbids that. Or
 * the bot is no member, so nobody would see its card; checked only if there will be one (`posts`). Or it is a direct
 * message of somebody who may not use kdebug there. Skips channels that the policy does not name: nothing is allowed
 * there anyway. @throws as `mayUseDirect`
 */
export const channelProblem = (
  { channelId, requesterId }: Pick<Origin, 'channelId' | 'requesterId'>,
  needed: Need,
  { posts = true } = {},
): Promise<Refusal | undefined> =>
  isDirect(channelId) ? directProblem(requesterId, needed) : sharedProblem(channelId, needed, posts);

async function sharedProblem(
  channelId: string,
  { policies, directory, log }: Need,
  posts: boolean,
): Promise<Refusal | undefined> {
  const channel = channelPolicy(policies.current(), channelId);
  const maySharing = channel?.slackConnect === 'allowed';
  if (!channel || (maySharing && !posts)) return undefined;
  try {
    const { isShared, isMember } = await directory.channel(channelId);
    if (isShared && !maySharing) return refusal('channel_shared');
    return posts && !isMember ? refusal('bot_not_in_channel') : undefined;
  } catch (thrown) {
    const { code, detail, facts } = toKdebugError(thrown);
    if (saysNotIn(facts.error)) return refusal('bot_not_in_channel');
    log.warn('channel lookup failed, sharing unknown', { channelId, reason: code, detail });
    return maySharing ? undefined : refusal('channel_sharing_unknown');
  }
}

async function directProblem(userId: string, deps: Pick<Need, 'policies' | 'directory'>): Promise<Refusal | undefined> {
  if (own(deps.policies.current().channels, DIRECT) === undefined) return undefined;
  return (await mayUseDirect(userId, deps)) ? undefined : refusal('direct_not_allowed');
}

/** Slack's errors for a channel that the bot is not in. Slack denies that a private one exists. */
export const saysNotIn = (error: unknown): boolean => error === 'channel_not_found' || error === 'not_in_channel';

/** Adds to an explanation that nothing can run here until the bot is invited. @throws as `mayUseDirect` */
export async function withInvitation(
  message: Message,
  origin: Pick<Origin, 'channelId' | 'requesterId'>,
  needed: Need,
): Promise<Message> {
  const problem = await channelProblem(origin, needed);
  if (problem?.code !== 'bot_not_in_channel') return message;
  const why = note`${problem.message}: nothing can be run here yet. ${problem.hint}`;
  return { ...message, parts: [...message.parts, why] };
}

/**
 * True if only the requester may see a container's output: the policy says so, or another company can read the channel
 * by now and the policy does not share the output with it (`slackConnect`), nor the pod's own log if the answer was
 * read from it (`targetLog`). A channel that the bot may not look up counts as shared. @throws KdebugError when Slack
 * does not answer: ask again later
 */
export async function isForRequesterAlone(
  run: Pick<Run, 'origin' | 'plan' | 'verdict'>,
  needed: Need,
): Promise<boolean> {
  const { policies, directory } = needed;
  const { channelId } = run.origin;
  const policy = policies.current();
  if (policy.output.deliverTo === 'requester') return true;
  if (channelPolicy(policy, channelId)?.slackConnect === 'allowed' && !withholdsLog(run, needed)) return false;
  try {
    return (await directory.channel(channelId)).isShared;
  } catch (thrown) {
    if (!isForGood(toKdebugError(thrown).code)) throw thrown;
    return true;
  }
}

/** The answer may quote the pod's own log, and another company may not read that in this channel. */
const withholdsLog = (
  { origin, plan, verdict }: Pick<Run, 'origin' | 'plan' | 'verdict'>,
  { policies }: Need,
): boolean =>
  verdict?.ownLog === true &&
  plan !== undefined &&
  targetLogOf(policies.current(), origin, plan, { isShared: true }) === 'none';

/**
 * True if another company may read the channel; one that Slack says nothing about counts as shared, a direct message is
 * shared with nobody. Never rejects.
 */
export async function isSharedChannel(
  { channelId }: Pick<Origin, 'channelId'>,
  { directory }: Pick<Need, 'directory'>,
): Promise<boolean> {
  if (isDirect(channelId)) return false;
  return directory.channel(channelId).then(
    ({ isShared }) => isShared,
    () => true,
  );
}

/**
 * The run as its copy in this channel may show it: the policy of the channel where it was asked says who may read the pod's own log,
 * so people of another company read none of it elsewhere. Never rejects.
 */
export async function withoutOwnLog(run: Run, copyIn: string, needed: Need): Promise<Run> {
  const copy = { channelId: asChannelId(copyIn) };
  if (!run.verdict?.ownLog || !(await isSharedChannel(copy, needed))) return run;
  const { verdict: _, ...rest } = run;
  return rest;
}

/** Looks up every channel of the policy once and warns of those where nothing can run. Never rejects. */
export async function warnOfChannels({ policies, directory, log }: Need): Promise<void> {
  for (const id of Object.keys(policies.current().channels)) {
    if (id === DIRECT) continue;
    const nobody = { channelId: asChannelId(id), requesterId: asUserId('') };
    const problem = await channelProblem(nobody, { policies, directory, log });
    if (problem && problem.code !== 'channel_sharing_unknown')
      log.warn(problem.message, { channelId: id, reason: problem.code });
  }
}
