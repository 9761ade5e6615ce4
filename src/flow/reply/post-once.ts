import { toKdebugError } from '../../core/errors.ts';
import type { Message } from '../../core/report/message.ts';
import type { PostRef, Run } from '../../core/run/run.ts';
import type { Destination, PostMeta, Thread } from '../ports/slack.ts';
import { fallbackDestination } from './destinations.ts';

export interface PostToMake {
  readonly run: Run;
  readonly place: Destination;
  readonly message: Message;
  readonly meta: PostMeta;
  /** A post of this kind may stand there without our knowing: after a crash, or an unclear answer. */
  readonly doubt: boolean;
  /** Whether it may go to a direct message with the requester, where nobody else sees it. Default: it may. */
  readonly toDirect?: boolean;
  /** Throws when the run is no longer ours to speak of. */
  readonly sure: () => Promise<void>;
}

/** Where a post stands; `found`: it had been made before, so it may say what was true then. */
export interface Posted {
  readonly ref: PostRef;
  readonly found: boolean;
}

/**
 * Posts, unless a post of this kind is there already; when the thread is gone, in its channel; when that is closed, to the
 * requester alone. @throws as `Thread`
 */
export async function postOnce(thread: Thread, post: PostToMake): Promise<Posted> {
  try {
    return await postAt(thread, post);
  } catch (thrown) {
    const { code } = toKdebugError(thrown);
    const isKept = post.toDirect === false && code === 'slack_channel_closed';
    const place = isKept ? undefined : await fallbackDestination(post.place, code, post.run, thread);
    if (!place) throw thrown;
    return postOnce(thread, { ...post, place });
  }
}

/** Whether Slack answers so again however often it is asked. */
export const isForGood = (code: string): boolean => FOR_GOOD.has(code);

const FOR_GOOD: ReadonlySet<string> = new Set([
  'slack_message_gone',
  'slack_thread_closed',
  'slack_channel_closed',
  'slack_refused',
]);

async function postAt(thread: Thread, { run, place, message, meta, doubt, sure }: PostToMake): Promise<Posted> {
  const found = doubt ? await thread.find(place, { run: run.id, kind: meta.kind }, run.origin.receivedAtMs) : undefined;
  return found ? { ref: found, found: true } : { ref: await thread.post(place, message, meta, sure), found: false };
}
