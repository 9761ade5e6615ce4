import { toKdebugError } from '../../core/errors.ts';
import type { Message } from '../../core/report/message.ts';
import { record } from '../audit.ts';
import type { FlowDeps } from '../deps.ts';
import { refusal } from '../inbox/refusals.ts';
import type { Thread } from '../ports/slack.ts';
import { destinationOf, privateDestinationOf } from './destinations.ts';
import { isForGood, type Posted, type PostToMake, postOnce } from './post-once.ts';
import { saysNotIn } from './slack-connect.ts';
import type { Voice } from './voice.ts';

/**
 * Posts a run's card. One that its channel does not take is no reason to begin: nobody could decide on it, or see what happens, so the
 * run is denied; a card never asks for an approval in a direct message with the requester. Once something was launched the card goes
 * there, and where Slack takes it nowhere the run goes on without. Undefined: there is no card. @throws what may pass
 */
export async function postAnchor(voice: Voice, message: Message): Promise<Posted | undefined> {
  const { run, deps } = voice;
  const canBeDenied = run.state === 'pending-approval' || (run.state === 'approved' && !run.batch);
  try {
    return await voice.post('anchor', destinationOf(run), message, { toDirect: !canBeDenied });
  } catch (thrown) {
    const error = toKdebugError(thrown);
    if (!voice.refused.isOver('anchor', error)) throw error;
    const { code, detail, facts } = error;
    deps.log.error('the card could be posted nowhere', { runId: run.id, reason: code, detail });
    if (canBeDenied) await deny(voice, saysNotIn(facts.error) ? 'bot_not_in_channel' : 'channel_takes_no_posts');
    else await voice.record({ kind: 'anchor-lost' });
    return undefined;
  }
}

/** Changes nothing where it has been launched in this very moment: its card is then posted as that of a run under way. */
async function deny({ session, deps }: Voice, code: 'bot_not_in_channel' | 'channel_takes_no_posts'): Promise<void> {
  await record(deps, session.run, 'decision', { kind: 'deny', code, at: 'post' });
  await session.apply({ kind: 'unheard', refusal: refusal(code), atMs: deps.clock.now() });
}

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
    await thread.tell(privateDestinationOf(run), message);
  } catch (thrown) {
    if (!isForGood(toKdebugError(thrown).code)) throw thrown;
    await postOnce(thread, { ...post, place: await thread.openDirect(run.origin.requesterId) });
  }
}
