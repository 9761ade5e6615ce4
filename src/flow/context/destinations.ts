import { KdebugError } from '../../core/errors.ts';
import { alertSourceOf } from '../../core/ids.ts';
import type { Delivery } from '../../core/run/delivery.ts';
import { isUnattended } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import type { RunState } from '../../core/run/run-state.ts';
import { defined } from '../../lib/object.ts';
import type { LogFields } from '../ports/machine.ts';
import type { Destination, PrivateDestination, Thread } from '../ports/slack.ts';

/** The thread or channel where it was asked for. */
export const destinationOf = ({ origin, delivery }: Pick<Run, 'origin' | 'delivery'>): Destination => ({
  channelId: origin.channelId,
  ...defined({ threadTs: isGone(delivery, origin.threadTs) ? undefined : origin.threadTs }),
});

/** For the log: whose alert it was, if nobody asked, and its channel. */
export const whereOf = ({ origin: { requesterId, channelId } }: Pick<Run, 'origin'>): LogFields =>
  defined({ channelId, source: alertSourceOf(requesterId) });

const isGone = ({ threadsGone = [] }: Delivery, threadTs: string | undefined): boolean =>
  threadTs !== undefined && threadsGone.includes(threadTs);

/**
 * Returns the destination of the result: the run's thread, or the requester's direct message if only they may see
 * output. People's decisions contain no output and stay in the thread. @throws as `Thread`
 */
export async function resultDestinationOf(run: Run, isPrivate: boolean, thread: Thread): Promise<Destination> {
  return isPrivate && !DECIDED.has(run.state) ? requesterDirect(run, thread) : threadOf(run);
}

/** The direct message with the requester. @throws KdebugError slack_channel_closed if nobody asked for the run; as `Thread` */
export async function requesterDirect(run: Pick<Run, 'origin'>, thread: Thread): Promise<Destination> {
  if (isUnattended(run)) throw new KdebugError('slack_channel_closed', { detail: 'nobody asked for this run' });
  return thread.openDirect(run.origin.requesterId);
}

const DECIDED: ReadonlySet<RunState> = new Set(['rejected', 'expired', 'cancelled']);

/** The thread where it was asked for; else, or if that is gone, the card's, which then stands in the channel; else the channel. */
export function threadOf(run: Run): Destination {
  const { delivery } = run;
  const { anchor, anchorGone } = delivery;
  const wanted = destinationOf(run);
  if (wanted.threadTs !== undefined || !anchor || anchorGone || isGone(delivery, anchor.ts)) return wanted;
  // A card that its closed channel did not take is in a direct message; by now the channel may take the result.
  if (run.origin.threadTs !== undefined && anchor.channelId !== wanted.channelId) return wanted;
  return { channelId: anchor.channelId, threadTs: anchor.ts };
}

/**
 * Returns the destination of the file: with the result, even in a direct message; or to a direct message, if by now
 * only the requester may see output.
 * @throws as `Thread`
 */
export async function fileDestinationOf(run: Run, isPrivate: boolean, thread: Thread): Promise<Destination> {
  const { anchor, result } = run.delivery;
  const isElsewhere = result !== undefined && result.channelId !== anchor?.channelId;
  // Others may read the result where the run was asked for, and among the files may be those that may hold secrets.
  const isHidden = result?.channelId !== run.origin.channelId;
  if (isElsewhere && (isHidden || !isPrivate)) return { channelId: result.channelId };
  return isPrivate ? requesterDirect(run, thread) : threadOf(run);
}

/**
 * The next destination after a refusal: from a missing or locked thread to its channel, from a closed channel to the requester's direct
 * message. Undefined: none is left. @throws as `Thread`
 */
export async function fallbackDestination(
  destination: Destination,
  code: string,
  run: Run,
  thread: Thread,
): Promise<Destination | undefined> {
  if (destination.threadTs !== undefined && THREAD_CLOSED.has(code)) return { channelId: destination.channelId };
  if (code !== 'slack_channel_closed' || isUnattended(run)) return undefined;
  const direct = await requesterDirect(run, thread);
  return direct.channelId === destination.channelId ? undefined : direct;
}

const THREAD_CLOSED: ReadonlySet<string> = new Set(['slack_message_gone', 'slack_thread_closed']);

/**
 * The destination of a private answer to the requester: the run's thread if it has a reply, because Slack shows private
 * answers only in such threads; else the channel.
 */
export const privateDestinationOf = ({ origin, delivery }: Pick<Run, 'origin' | 'delivery'>): PrivateDestination => {
  const { threadTs, ...where } = destinationOf({ origin, delivery });
  return {
    ...where,
    userId: origin.requesterId,
    ...defined({
      threadTs: !origin.beginsThread || delivery.anchor ? threadTs : undefined,
      responseUrl: origin.responseUrl,
      command: origin.command,
    }),
  };
};
