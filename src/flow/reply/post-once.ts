import { toKdebugError } from '../../core/errors.ts';
import type { Message } from '../../core/report/message.ts';
import type { PostRef, Run } from '../../core/run/run.ts';
import { record } from '../audit.ts';
import type { FlowDeps } from '../deps.ts';
import { refusal } from '../inbox/refusals.ts';
import type { Place, PostMeta, Thread } from '../ports/slack.ts';
import { placeInstead, placeOf, privatePlaceOf } from './destinations.ts';
import { saysNotIn } from './slack-connect.ts';
import type { Voice } from './voice.ts';

export interface PostToMake {
  readonly run: Run;
  readonly place: Place;
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
    const place = isKept ? undefined : await placeInstead(post.place, code, post.run, thread);
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

/**
 * Posts a run's card. One that its channel does not take is no reason to begin: nobody could decide on it, or see what happens, so the
 * run is denied; a card never asks for an approval in a direct message with the requester. Once something was launched the card goes
 * there, and where Slack takes it nowhere the run goes on without. Undefined: there is no card. @throws what may pass
 */
export async function postAnchor(voice: Voice, message: Message): Promise<Posted | undefined> {
  const { run, deps } = voice;
  const canBeDenied = run.state === 'pending-approval' || (run.state === 'approved' && !run.batch);
  try {
    return await voice.post('anchor', placeOf(run), message, { toDirect: !canBeDenied });
  } catch (thrown) {
    const error = toKdebugError(thrown);
    if (!voice.refused.isOver('anchor', error)) throw error;
    const { code, detail, facts } = error;
    deps.log.error('the card could be posted nowhere', { runId: run.id, reason: code, detail });
    if (canBeDenied) await deny(voice, saysNotIn(facts.error) ? 'bot_not_in_channel' : 'channel_takes_no_posts');
    else await voice.record({ anchorGone: true });
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
    await thread.tell(privatePlaceOf(run), message);
  } catch (thrown) {
    if (!isForGood(toKdebugError(thrown).code)) throw thrown;
    await postOnce(thread, { ...post, place: await thread.openDirect(run.origin.requesterId) });
  }
}
