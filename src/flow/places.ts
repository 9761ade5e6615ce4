import type { Run } from '../core/run/run.ts';
import type { Place, PrivatePlace } from './ports/slack.ts';

/** Where a run's anchor goes: its channel, or the thread that the request stood in. */
export const placeOf = ({ origin }: Run): Place => ({
  channelId: origin.channelId,
  ...(origin.threadTs !== undefined && { threadTs: origin.threadTs }),
});

/** Where the result goes: the anchor's thread, or the thread that the request stood in. */
export function threadOf(run: Run): Place {
  const { anchor, anchorGone } = run.delivery;
  if (run.origin.threadTs !== undefined || !anchor || anchorGone) return placeOf(run);
  return { channelId: anchor.channelId, threadTs: anchor.ts };
}

/** Where the file goes: to the result, even when that had to be a direct message. */
export function filePlaceOf(run: Run): Place {
  const { anchor, result } = run.delivery;
  const isElsewhere = result !== undefined && result.channelId !== anchor?.channelId;
  return isElsewhere ? { channelId: result.channelId } : threadOf(run);
}

/** Where the requester alone is told something. */
export const privatePlaceOf = ({ origin }: Run): PrivatePlace => ({
  channelId: origin.channelId,
  userId: origin.requesterId,
  ...(origin.threadTs !== undefined && { threadTs: origin.threadTs }),
  ...(origin.responseUrl !== undefined && { responseUrl: origin.responseUrl }),
});
