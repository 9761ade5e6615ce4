import { toKdebugError } from '../../core/errors.ts';
import type { Landed } from '../../core/run/delivery.ts';
import type { Run } from '../../core/run/run.ts';
import type { PostRef } from '../../core/run/run-state.ts';
import type { Message } from '../../core/say/message/message.ts';
import { defined } from '../../lib/object.ts';
import type { Destination, PostMeta, Sent, Thread } from '../ports/slack.ts';
import { fallbackDestination } from './destinations.ts';

export interface Once<Post> {
  readonly run: Run;
  readonly thread: Thread;
  /** Searches for it first; absent if it cannot exist yet. */
  readonly find?: ((at: Destination) => Promise<Post | undefined>) | undefined;
  readonly make: (at: Destination) => Promise<Post>;
  /** It may go to the requester's direct message, where nobody else sees it. Default: true. */
  readonly toDirect?: boolean;
}

/**
 * Posts, unless Slack has the post already. Falls back from a missing thread to its channel, and from a closed channel to the requester's
 * direct message. Says which thread is gone. @throws as `Thread`
 */
export async function onceAt<Post extends object>(at: Destination, once: Once<Post>): Promise<Post & Landed> {
  const { run, thread, find, make, toDirect = true } = once;
  try {
    return (await find?.(at)) ?? (await make(at));
  } catch (thrown) {
    const { code } = toKdebugError(thrown);
    const isLastResort = !toDirect && code === 'slack_channel_closed';
    const next = isLastResort ? undefined : await fallbackDestination(at, code, run, thread);
    if (!next) throw thrown;
    const threadGone = code === 'slack_message_gone' ? at.threadTs : undefined;
    return { ...(await onceAt(next, once)), ...defined({ threadGone }) };
  }
}

export interface PostToMake {
  readonly run: Run;
  readonly destination: Destination;
  readonly message: Message;
  readonly meta: PostMeta;
  /** Slack may hold a post of this kind that we have no record of, after a crash or an unclear response. */
  readonly doubt: boolean;
  readonly toDirect?: boolean;
  /** Runs right before the post. @throws KdebugError lease_lost */
  readonly assertHeld: () => Promise<void>;
}

/** The place of a post. `found`: posted earlier, so it may show an older state. */
export interface Posted extends Landed {
  readonly ref: PostRef;
  readonly found: boolean;
}

/** Posts a message, unless one of its kind exists already (`onceAt`). @throws as `Thread` */
export async function postOnce(thread: Thread, post: PostToMake): Promise<Posted> {
  const { run, destination, message, meta, doubt, toDirect = true, assertHeld } = post;
  const find = async (at: Destination): Promise<Posted | undefined> => {
    const sent = await thread.find(at, { run: run.id, kind: meta.kind }, run.origin.receivedAtMs);
    return sent && postedAs(sent, true);
  };
  const make = async (at: Destination): Promise<Posted> =>
    postedAs(await thread.post(at, message, meta, assertHeld), false);
  return onceAt(destination, { run, thread, find: doubt ? find : undefined, make, toDirect });
}

/** For the record of a post. */
export const landedOf = ({ threadGone }: Landed = {}): Landed => defined({ threadGone });

const postedAs = ({ channelId, ts, ...landed }: Sent, found: boolean): Posted => ({
  ref: { channelId, ts },
  found,
  ...landedOf(landed),
});

export const isForGood = (code: string): boolean => FOR_GOOD.has(code);

const FOR_GOOD: ReadonlySet<string> = new Set([
  'slack_message_gone',
  'slack_thread_closed',
  'slack_channel_closed',
  'slack_refused',
]);
