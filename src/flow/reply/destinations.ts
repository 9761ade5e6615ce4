import type { Run } from '../../core/run/run.ts';
import type { RunState } from '../../core/run/run-state.ts';
import { defined } from '../../lib/object.ts';
import type { Destination, PrivateDestination, Thread } from '../ports/slack.ts';

/** Where a run's anchor goes: its channel, or the thread that the request stood in. */
export const destinationOf = ({ origin }: Run): Destination => ({
  channelId: origin.channelId,
  ...defined({ threadTs: origin.threadTs }),
});

/**
 * Where the result goes: the run's thread, or the direct message with the requester where output is for them alone. A decision of
 * people holds no output and stays in the thread. @throws as `Thread`
 */
export async function resultDestinationOf(run: Run, isPrivate: boolean, thread: Thread): Promise<Destination> {
  return isPrivate && !DECIDED.has(run.state) ? thread.openDirect(run.origin.requesterId) : threadOf(run);
}

const DECIDED: ReadonlySet<RunState> = new Set(['rejected', 'expired', 'cancelled']);

/** The anchor's thread, or the thread that the request stood in. */
function threadOf(run: Run): Destination {
  const { anchor, anchorGone } = run.delivery;
  if (run.origin.threadTs !== undefined || !anchor || anchorGone) return destinationOf(run);
  return { channelId: anchor.channelId, threadTs: anchor.ts };
}

/**
 * Where the file goes: to the result, even in a direct message; and to a direct message, if output is for the requester alone by
 * now. @throws as `Thread`
 */
export async function fileDestinationOf(run: Run, isPrivate: boolean, thread: Thread): Promise<Destination> {
  const { anchor, result } = run.delivery;
  const isElsewhere = result !== undefined && result.channelId !== anchor?.channelId;
  if (isElsewhere) return { channelId: result.channelId };
  return isPrivate ? thread.openDirect(run.origin.requesterId) : threadOf(run);
}

/**
 * The next destination when Slack refuses one: from a thread that is gone or locked to its channel, from a closed channel to the
 * direct message with the requester. Undefined: there is none. @throws as `Thread`
 */
export async function fallbackDestination(
  destination: Destination,
  code: string,
  { origin }: Run,
  thread: Thread,
): Promise<Destination | undefined> {
  if (destination.threadTs !== undefined && THREAD_CLOSED.has(code)) return { channelId: destination.channelId };
  if (code !== 'slack_channel_closed') return undefined;
  const direct = await thread.openDirect(origin.requesterId);
  return direct.channelId === destination.channelId ? undefined : direct;
}

const THREAD_CLOSED: ReadonlySet<string> = new Set(['slack_message_gone', 'slack_thread_closed']);

/**
 * Where a private answer to the requester goes: the run's thread, if it has a reply already. Slack shows a private answer only in a
 * thread with replies.
 */
export const privateDestinationOf = ({ origin, delivery }: Pick<Run, 'origin' | 'delivery'>): PrivateDestination => ({
  channelId: origin.channelId,
  userId: origin.requesterId,
  ...(origin.threadTs !== undefined && (!origin.beginsThread || delivery.anchor) && { threadTs: origin.threadTs }),
  ...defined({ responseUrl: origin.responseUrl }),
});
