import type { WebClient } from '@slack/web-api';
import { KdebugError } from '../../../core/errors.ts';
import type { Clock } from '../../../flow/ports/machine.ts';
import type { Place } from '../../../flow/ports/slack.ts';
import { Fresh } from '../directory/fresh.ts';
import type { Poster } from '../poster/poster.ts';

const MAX_PEOPLE = 10_000;
/** An app that is installed anew has other ones. */
const MAX_AGE_MS = 10 * 60_000;

/**
 * The direct messages with people. Slack has one with each person and no other, so it is asked for once in a while: who asks for many
 * approvals in a row does not use up the workspace's minute of conversations.open, in which private results are opened too. What it
 * returns throws as `Thread`; a failure is not kept, and the poster keeps the time.
 */
export function directMessages(
  { client, clock }: { readonly client: WebClient; readonly clock: Clock },
  poster: Poster,
): (userId: string) => Promise<Place> {
  const known = new Fresh<Place>({
    clock,
    maxAgeMs: MAX_AGE_MS,
    maxEntries: MAX_PEOPLE,
    answerMs: Number.POSITIVE_INFINITY,
  });
  const ask = async (userId: string): Promise<Place> => {
    const call = { method: 'conversations.open', lane: 'final', repeatable: true } as const;
    const { channel } = await poster.call(call, () => client.conversations.open({ users: userId }));
    if (!channel?.id) throw new KdebugError('slack_unanswered', { facts: { kind: 'no_channel' } });
    return { channelId: channel.id };
  };
  return (userId) => known.get(userId, () => ask(userId));
}
