import { toKdebugError } from '../core/errors.ts';
import { asChannelId } from '../core/ids.ts';
import { own } from '../core/policy/own.ts';
import type { Policy } from '../core/policy/policy.ts';
import type { Origin, Refusal } from '../core/run/run.ts';
import type { FlowDeps } from './deps.ts';
import { isForGood } from './post-once.ts';
import { refusal } from './refusals.ts';

/**
 * Slack Connect: people of another company read everything in a channel that is shared with them. Nothing that Slack sends with a
 * command or a click says so (only the envelope of an event does, `is_ext_shared_channel`), so Slack is asked (`Directory.channel`).
 */
type Asked = Pick<FlowDeps, 'policies' | 'directory' | 'log'>;

/**
 * What stands against a request in this channel: it is shared, or nobody can say whether it is, and the policy does not allow that.
 * A channel that the policy does not name is not asked about: nothing is allowed there anyway.
 */
export async function sharingProblem(
  { channelId }: Pick<Origin, 'channelId'>,
  { policies, directory, log }: Asked,
): Promise<Refusal | undefined> {
  if (!isChecked(policies.current(), channelId)) return undefined;
  try {
    return (await directory.channel(channelId)).isShared ? refusal('channel_shared') : undefined;
  } catch (thrown) {
    const { code, detail } = toKdebugError(thrown);
    log.warn('whether a channel is shared with another company is not known', { channelId, reason: code, detail });
    return refusal('channel_sharing_unknown');
  }
}

/**
 * Whether what a container writes is for who asked alone: the policy says so, or people of another company would read it by now.
 * A channel that the bot may not look at counts as shared. @throws KdebugError when Slack does not answer: ask again later
 */
export async function isForRequesterAlone(
  { channelId }: Pick<Origin, 'channelId'>,
  { policies, directory }: Asked,
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
export async function warnOfShared({ policies, directory, log }: Asked): Promise<void> {
  for (const id of Object.keys(policies.current().channels)) {
    const problem = await sharingProblem({ channelId: asChannelId(id) }, { policies, directory, log });
    if (problem?.code === 'channel_shared') log.warn(problem.message, { channelId: id, reason: problem.code });
  }
}

function isChecked(policy: Policy, channelId: string): boolean {
  const channel = own(policy.channels, channelId);
  return channel !== undefined && channel.slackConnect !== 'allowed';
}
