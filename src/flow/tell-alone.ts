import { toKdebugError } from '../core/errors.ts';
import type { FlowDeps } from './deps.ts';
import { privatePlaceOf } from './places.ts';
import type { Thread } from './ports/slack.ts';
import { isForGood, type PostToMake, postOnce } from './post-once.ts';

/**
 * Tells the requester alone: where it was asked, else in a direct message. Where Slack takes neither, nobody is told, and the log
 * says so: nothing was started, so the run need not be kept for its words. Resolves with why nobody was told, if so.
 * @throws what may pass, as `Thread`
 */
export async function tellAlone(
  post: Omit<PostToMake, 'place'>,
  { thread, log }: FlowDeps,
): Promise<string | undefined> {
  try {
    await tellSomewhere(post, thread);
    return undefined;
  } catch (thrown) {
    const { code, detail } = toKdebugError(thrown);
    if (!isForGood(code)) throw thrown;
    log.error('nobody could be told', { runId: post.run.id, reason: code, detail });
    return code;
  }
}

async function tellSomewhere(post: Omit<PostToMake, 'place'>, thread: Thread): Promise<void> {
  const { run, message } = post;
  try {
    await thread.tell(privatePlaceOf(run), message);
  } catch (thrown) {
    if (!isForGood(toKdebugError(thrown).code)) throw thrown;
    await postOnce(thread, { ...post, place: await thread.openDirect(run.origin.requesterId) });
  }
}
