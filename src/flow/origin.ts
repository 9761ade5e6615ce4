import { asChannelId, asUserId } from '../core/ids.ts';
import type { Origin } from '../core/run/run.ts';
import type { Actor } from './ports/slack.ts';

/** Who asked where, and what makes it the same request however often it is delivered. */
export interface Asked extends Actor {
  readonly threadTs?: string;
  readonly dedupeKey: string;
  readonly receivedAtMs: number;
}

/** Where a request comes from that was not typed: from a form, a shortcut, a button. */
export const originOf = (
  { teamId, userId, channelId, threadTs, dedupeKey, receivedAtMs }: Asked,
  source: Origin['source'],
): Origin => ({
  source,
  dedupeKey,
  teamId,
  channelId: asChannelId(channelId),
  requesterId: asUserId(userId),
  receivedAtMs,
  ...(threadTs !== undefined && { threadTs }),
});
