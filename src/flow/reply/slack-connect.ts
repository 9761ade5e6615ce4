import { toKdebugError } from '../../core/errors.ts';
import { asChannelId } from '../../core/ids.ts';
import { type Message, text } from '../../core/report/message.ts';
import type { Origin, Refusal } from '../../core/run/run.ts';
import { own } from '../../lib/object.ts';
import type { FlowDeps } from '../deps.ts';
import { refusal } from '../inbox/refusals.ts';
import { isForGood } from './post-once.ts';

/**
 * Slack Connect: people of another company read everything in a channel that is shared with them. Nothing that Slack sends with a
 * command or a click says so (only the envelope of an event does, `is_ext_shared_channel`), so Slack is asked (`Directory.channel`).
 */
type Need = Pick<FlowDeps, 'policies' | 'directory' | 'log'>;

/**
 * What stands against a request in this channel: it is shared, or nobody can say whether it is, and the policy does not allow that;
 * or the bot is no member, so that nobody would see its card (`posts`: there will be one). A channel that the policy does not name
 * is not asked about: nothing is allowed there anyway.
 */
export async function channelProblem(
  { channelId }: Pick<Origin, 'channelId'>,
  { policies, directory, log }: Need,
  { posts = true } = {},
): Promise<Refusal | undefined> {
  const channel = own(policies.current().channels, channelId);
  const maySharing = channel?.slackConnect === 'allowed';
  if (!channel || (maySharing && !posts)) return undefined;
  try {
    const { isShared, isMember } = await directory.channel(channelId);
    if (isShared && !maySharing) return refusal('channel_shared');
    return posts && !isMember ? refusal('bot_not_in_channel') : undefined;
  } catch (thrown) {
    const { code, detail, facts } = toKdebugError(thrown);
    if (saysNotIn(facts.error)) return refusal('bot_not_in_channel');
    log.warn('what a channel is, is not known', { channelId, reason: code, detail });
    return maySharing ? undefined : refusal('channel_sharing_unknown');
  }
}

/** Slack's error strings to who is not in a channel; it does not know a private one then. */
export const saysNotIn = (error: unknown): boolean => error === 'channel_not_found' || error === 'not_in_channel';

/** A word for who only wants to know what would happen: as it is, nothing would be run here. Never rejects. */
export async function withInvitation(
  message: Message,
  origin: Pick<Origin, 'channelId'>,
  needed: Need,
): Promise<Message> {
  const problem = await channelProblem(origin, needed);
  if (problem?.code !== 'bot_not_in_channel') return message;
  const words = `${problem.message}: nothing can be run here yet. ${problem.hint}`;
  return { ...message, parts: [...message.parts, { kind: 'note', spans: [text(words)] }] };
}

/**
 * Whether what a container writes is for who asked alone: the policy says so, or people of another company would read it by now.
 * A channel that the bot may not look at counts as shared. @throws KdebugError when Slack does not answer: ask again later
 */
export async function isForRequesterAlone(
  { channelId }: Pick<Origin, 'channelId'>,
  { policies, directory }: Need,
): Promise<boolean> {
  const policy = policies.current();
  if (policy.output.deliverTo === 'requester') return true;
  if (own(policy.channels, channelId)?.slackConnect === 'allowed') return false;
  try {
    return (await directory.channel(channelId)).isShared;
  } catch (thrown) {
    if (!isForGood(toKdebugError(thrown).code)) throw thrown;
    return true;
  }
}

/** Looks at every channel of the policy once, and warns of those where nothing will be run. Never rejects. */
export async function warnOfChannels({ policies, directory, log }: Need): Promise<void> {
  for (const id of Object.keys(policies.current().channels)) {
    const problem = await channelProblem({ channelId: asChannelId(id) }, { policies, directory, log });
    if (problem && problem.code !== 'channel_sharing_unknown')
      log.warn(problem.message, { channelId: id, reason: problem.code });
  }
}
