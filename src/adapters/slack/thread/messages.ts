import type { WebClient } from '@slack/web-api';
import { KdebugError } from '../../../core/errors.ts';
import type { PostRef } from '../../../core/run/run-state.ts';
import type { Message } from '../../../core/say/message/message.ts';
import type { Destination, PostMeta, Sent } from '../../../flow/ports/slack.ts';
import type { Egress } from '../egress.ts';
import { isAboutShape } from '../errors.ts';
import type { Lane } from '../poster/pace.ts';
import type { Poster } from '../poster/poster.ts';
import { simplerViews, type View, view } from '../views/view.ts';

/** design.md section 3, "Slack messages". */
export const EVENT_TYPE = 'kdebug_run';

const metadataOf = ({ run, batch, kind, seq }: PostMeta) => ({
  event_type: EVENT_TYPE,
  event_payload: { run, ...(batch === undefined ? {} : { batch }), kind, seq },
});

/** Slack parses nothing in the text: no markup, names or previews. */
const LITERAL = { parse: 'none', link_names: false } as const;
const NO_PREVIEWS = { unfurl_links: false, unfurl_media: false } as const;

const PLAIN_POST = { ...LITERAL, ...NO_PREVIEWS, mrkdwn: false } as const;

/** Sends a message; if Slack refuses its shape, sends ever simpler versions. Slack refuses before it posts, so nothing appears twice. */
export async function sayShaped<T>(message: Message, say: (view: View) => Promise<T>): Promise<T> {
  const shapes = new Shapes(message);
  for (;;) {
    try {
      return await say(shapes.current);
    } catch (thrown) {
      if (!shapes.simplify(thrown)) throw thrown;
    }
  }
}

/** A message in the shape that Slack has not refused so far. */
class Shapes {
  readonly #simpler: Generator<View>;
  #current: View;

  constructor(message: Message) {
    this.#simpler = simplerViews(message);
    this.#current = view(message);
  }

  get current(): View {
    return this.#current;
  }

  /** Goes on to a simpler shape. False: the refusal is about something else, or there is none. */
  readonly simplify = (refusal: unknown): boolean => {
    const next = isAboutShape(refusal) ? this.#simpler.next() : undefined;
    if (next === undefined || next.done === true) return false;
    this.#current = next.value;
    return true;
  };
}

export interface Speaker {
  readonly client: WebClient;
  readonly poster: Poster;
  readonly through: Egress['through'];
}

/**
 * Results go first: their readers have waited, while the reader of an opening has just asked. One request may also cause twenty copies of
 * its card, and as many reminders.
 */
const laneOf = ({ kind, isAside }: PostMeta): Lane =>
  isAside ? 'background' : kind === 'result' ? 'final' : 'opening';

export async function post(
  { client, poster }: Speaker,
  destination: Destination,
  message: Message,
  { meta, sure }: { readonly meta: PostMeta; readonly sure?: (() => Promise<void>) | undefined },
): Promise<Sent> {
  const { channelId, threadTs } = destination;
  const call = { method: 'chat.postMessage', lane: laneOf(meta), channelId, repeatable: false } as const;
  const answer = await sayShaped(message, (shaped) =>
    poster.call(call, async () => {
      await sure?.();
      return client.chat.postMessage({
        channel: channelId,
        ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
        ...shaped,
        ...PLAIN_POST,
        metadata: metadataOf(meta),
      });
    }),
  );
  if (!answer.ts) throw new KdebugError('slack_unanswered', { facts: { kind: 'no_ts' } });
  const ref = { channelId: answer.channel ?? channelId, ts: answer.ts };
  const isUnthreaded = answer.message !== undefined && answer.message.thread_ts === undefined;
  return threadTs !== undefined && isUnthreaded ? { ...ref, threadGone: threadTs } : ref;
}

/** A message that belongs to no run: nobody looks for it after a crash, and it waits behind all others. */
export const announce = (speaker: Speaker, channelId: string, message: Message): Promise<void> =>
  say(speaker, { channelId }, message, 'opening');

/** The same, for somebody who waits for it. */
export async function say(
  { client, poster }: Speaker,
  { channelId, threadTs }: Destination,
  message: Message,
  lane: Lane = 'final',
): Promise<void> {
  const call = { method: 'chat.postMessage', lane, channelId, repeatable: false } as const;
  const where = { channel: channelId, ...(threadTs === undefined ? {} : { thread_ts: threadTs }) };
  await sayShaped(message, (shaped) =>
    poster.call(call, () => client.chat.postMessage({ ...where, ...shaped, ...PLAIN_POST })),
  );
}

export interface Update {
  readonly ref: PostRef;
  readonly message: Message;
  readonly meta: PostMeta;
  readonly lane: Lane;
}

export async function update({ client, poster }: Speaker, { ref, message, meta, ...given }: Update): Promise<void> {
  const { channelId, ts } = ref;
  const lane = meta.isAside ? 'background' : given.lane;
  const shapes = new Shapes(message);
  // One call for all shapes: a simpler one that is called anew would replace a newer update that waits.
  const call = { method: 'chat.update', lane, channelId, repeatable: true, reshape: shapes.simplify } as const;
  await poster.newest(`${channelId}:${ts}`, call, async () => {
    await client.chat.update({ channel: channelId, ts, ...shapes.current, ...LITERAL, metadata: metadataOf(meta) });
  });
}
