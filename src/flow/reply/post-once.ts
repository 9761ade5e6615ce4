import { toKdebugError } from '../../core/errors.ts';
import type { Message } from '../../core/report/message.ts';
import type { Run } from '../../core/run/run.ts';
import type { PostRef } from '../../core/run/run-state.ts';
import type { Destination, PostMeta, Thread } from '../ports/slack.ts';
import { fallbackDestination } from './destinations.ts';

export interface Once<Post> {
  readonly run: Run;
  readonly thread: Thread;
  /** Searches for it first; absent if it cannot exist yet. */
  readonly find?: ((at: Destination) => Promise<Post | undefined>) | undefined;
  readonly make: (at: Destination) => Promise<Post>;
  /** Whether it may go to the requester's direct message, where nobody else sees it. Default: true. */
  readonly toDirect?: boolean;
}

/**
 * Posts, unless Slack has the post already. Falls back from a missing thread to its channel, and from a closed channel to the requester's
 * direct message. @throws as `Thread`
 */
export async function onceAt<Post>(at: Destination, once: Once<Post>): Promise<Post> {
  const { run, thread, find, make, toDirect = true } = once;
  try {
    return (await find?.(at)) ?? (await make(at));
  } catch (thrown) {
    const { code } = toKdebugError(thrown);
    const isLastResort = !toDirect && code === 'slack_channel_closed';
    const next = isLastResort ? undefined : await fallbackDestination(at, code, run, thread);
    if (!next) throw thrown;
    return onceAt(next, once);
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

/** Where a post is. `found`: posted earlier, so it may show an older state. */
export interface Posted {
  readonly ref: PostRef;
  readonly found: boolean;
}

/** Posts a message, unless one of its kind exists already (`onceAt`). @throws as `Thread` */
export async function postOnce(thread: Thread, post: PostToMake): Promise<Posted> {
  const { run, destination, message, meta, doubt, toDirect = true, assertHeld } = post;
  const find = async (at: Destination): Promise<Posted | undefined> => {
    const ref = await thread.find(at, { run: run.id, kind: meta.kind }, run.origin.receivedAtMs);
    return ref && { ref, found: true };
  };
  const make = async (at: Destination): Promise<Posted> => ({
    ref: await thread.post(at, message, meta, assertHeld),
    found: false,
  });
  return onceAt(destination, { run, thread, find: doubt ? find : undefined, make, toDirect });
}

export const isForGood = (code: string): boolean => FOR_GOOD.has(code);

const FOR_GOOD: ReadonlySet<string> = new Set([
  'slack_message_gone',
  'slack_thread_closed',
  'slack_channel_closed',
  'slack_refused',
]);
