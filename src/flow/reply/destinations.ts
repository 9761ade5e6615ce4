import type { Run, RunState } from '../../core/run/run.ts';
import { defined } from '../../lib/defined.ts';
import type { Place, PrivatePlace, Thread } from '../ports/slack.ts';

/** Where a run's anchor goes: its channel, or the thread that the request stood in. */
export const placeOf = ({ origin }: Run): Place => ({
  channelId: origin.channelId,
  ...defined({ threadTs: origin.threadTs }),
});

/**
 * Where the result goes: the run's thread, or, where output is for who asked alone, the direct message with them. What people decided
 * holds no output and stays in the thread. @throws as `Thread`
 */
export async function resultPlaceOf(run: Run, isPrivate: boolean, thread: Thread): Promise<Place> {
  return isPrivate && !DECIDED.has(run.state) ? thread.openDirect(run.origin.requesterId) : threadOf(run);
}

const DECIDED: ReadonlySet<RunState> = new Set(['rejected', 'expired', 'cancelled']);

/** The anchor's thread, or the thread that the request stood in. */
function threadOf(run: Run): Place {
  const { anchor, anchorGone } = run.delivery;
  if (run.origin.threadTs !== undefined || !anchor || anchorGone) return placeOf(run);
  return { channelId: anchor.channelId, threadTs: anchor.ts };
}

/**
 * Where the file goes: to the result, even when that had to be a direct message; and to one, when output is for who asked alone by
 * now. @throws as `Thread`
 */
export async function filePlaceOf(run: Run, isPrivate: boolean, thread: Thread): Promise<Place> {
  const { anchor, result } = run.delivery;
  const isElsewhere = result !== undefined && result.channelId !== anchor?.channelId;
  if (isElsewhere) return { channelId: result.channelId };
  return isPrivate ? thread.openDirect(run.origin.requesterId) : threadOf(run);
}

/**
 * Where to go with what a place does not take: from a thread that is gone or locked to its channel, from a channel that is closed to
 * the direct message with who asked. Undefined: nowhere. @throws as `Thread`
 */
export async function placeInstead(
  place: Place,
  code: string,
  { origin }: Run,
  thread: Thread,
): Promise<Place | undefined> {
  if (place.threadTs !== undefined && THREAD_CLOSED.has(code)) return { channelId: place.channelId };
  if (code !== 'slack_channel_closed') return undefined;
  const direct = await thread.openDirect(origin.requesterId);
  return direct.channelId === place.channelId ? undefined : direct;
}

const THREAD_CLOSED: ReadonlySet<string> = new Set(['slack_message_gone', 'slack_thread_closed']);

/**
 * Where the requester alone is told something: in the run's thread, unless nothing has been said there yet. Slack shows a private
 * answer only in a thread with replies.
 */
export const privatePlaceOf = ({ origin, delivery }: Pick<Run, 'origin' | 'delivery'>): PrivatePlace => ({
  channelId: origin.channelId,
  userId: origin.requesterId,
  ...(origin.threadTs !== undefined && (!origin.beginsThread || delivery.anchor) && { threadTs: origin.threadTs }),
  ...defined({ responseUrl: origin.responseUrl }),
});
