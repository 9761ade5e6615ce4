import { request } from 'undici';
import { KdebugError } from '../../../core/errors.ts';
import { note } from '../../../core/say/message/line.ts';
import { channel, type Message } from '../../../core/say/message/message.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import type { Destination, PrivateDestination } from '../../../flow/ports/slack.ts';
import { defined } from '../../../lib/object.ts';
import { isSlackUrl } from '../client.ts';
import { type View, view } from '../views/view.ts';
import { hasReply } from './find.ts';
import { type Speaker, say, sayShaped } from './messages.ts';

export interface Teller extends Speaker {
  readonly apiUrl: string;
  readonly log: Log;
  /** @throws as `Thread.openDirect` */
  readonly openDirect: (userId: string) => Promise<Destination>;
}

const TIMEOUT_MS = 5_000;

export const privateAnswer = (shaped: View) => ({
  response_type: 'ephemeral' as const,
  replace_original: false,
  ...shaped,
});

/**
 * Answers one person where they read. In their direct message with the bot, with a message: a private answer there is gone after a reload, and
 * a phone never shows it. In a thread with replies chat.postEphemeral goes first, because answers to a `response_url` (five
 * uses in 30 minutes) appear outside the thread; elsewhere the `response_url` does. If one fails, the other follows. A thread without
 * replies shows no private answers, so the channel gets them. Where Slack refuses all of that (only some may post there), the answer is a
 * direct message, which names the channel. After a lost response, that person may see the answer twice.
 */
export async function tell(teller: Teller, person: PrivateDestination, message: Message): Promise<void> {
  if (isDirect(person) && (await isPostedDirectly(teller, person, message))) return;
  const refusal = (await isShownInThread(teller, person)) ? await refusalInThread(teller, person, message) : undefined;
  if (refusal === NONE) return;
  if (person.responseUrl !== undefined && (await respond(teller, person.responseUrl, message))) return;
  if (refusal !== undefined && !MAY_PASS_OUTSIDE.has(refusal.code))
    return sayElsewhere(teller, person, message, refusal);
  try {
    await sayPrivately(teller, person, message);
  } catch (thrown) {
    await sayElsewhere(teller, person, message, thrown);
  }
}

/** Also a direct message between two people, where somebody may type a command and the bot is no member. */
export const isDirect = ({ channelId }: Pick<PrivateDestination, 'channelId'>): boolean => channelId.startsWith('D');

async function isPostedDirectly(
  teller: Teller,
  { channelId, threadTs, responseUrl }: PrivateDestination,
  message: Message,
): Promise<boolean> {
  try {
    await say(teller, { channelId, ...defined({ threadTs }) }, message);
    return true;
  } catch (thrown) {
    const code = thrown instanceof KdebugError ? thrown.code : '';
    if (REFUSED.has(code) || (code === 'slack_unanswered' && responseUrl !== undefined)) return false;
    throw thrown;
  }
}

const REFUSED: ReadonlySet<string> = new Set([
  'slack_message_gone',
  'slack_thread_closed',
  'slack_channel_closed',
  'slack_refused',
]);

/** @throws `refusal`, where it is no refusal of the place, or Slack refuses the direct message, too */
async function sayElsewhere(
  teller: Teller,
  { channelId, userId }: PrivateDestination,
  message: Message,
  refusal: unknown,
): Promise<void> {
  const isClosed = refusal instanceof KdebugError && refusal.code === 'slack_channel_closed';
  if (!isClosed || channelId.startsWith('D')) throw refusal;
  const why = note`kdebug may not answer in ${channel(channelId)}, so it answers here.`;
  try {
    await say(teller, await teller.openDirect(userId), { ...message, parts: [...message.parts, why] });
  } catch (thrown) {
    teller.log.warn('private answer refused, also as a direct message', { channelId, error: thrown });
    throw refusal;
  }
}

const isShownInThread = async (
  teller: Teller,
  { channelId, threadTs, isReply }: PrivateDestination,
): Promise<boolean> => threadTs !== undefined && (isReply === true || (await hasReply(teller, channelId, threadTs)));

const NONE = 'none';
/** Refusals of a thread after which its channel may still accept the answer. An unclear response is not one: Slack may have shown it. */
const MAY_PASS_OUTSIDE: ReadonlySet<string> = new Set(['slack_message_gone', 'slack_thread_closed', 'slack_refused']);

async function refusalInThread(
  teller: Teller,
  person: PrivateDestination,
  message: Message,
): Promise<KdebugError | typeof NONE> {
  try {
    await sayPrivately(teller, person, message, person.threadTs);
    return NONE;
  } catch (thrown) {
    if (thrown instanceof KdebugError) return thrown;
    throw thrown;
  }
}

async function sayPrivately(
  { client, poster }: Teller,
  { channelId, userId }: PrivateDestination,
  message: Message,
  threadTs?: string,
): Promise<void> {
  await sayShaped(message, (shaped) =>
    poster.call({ method: 'chat.postEphemeral', lane: 'final', channelId, repeatable: false }, () =>
      client.chat.postEphemeral({
        channel: channelId,
        user: userId,
        ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
        ...shaped,
        parse: 'none',
        link_names: false,
      }),
    ),
  );
}

/**
 * True if Slack accepted it. The URL is a bearer secret: never log it, call only Slack's hosts, follow no redirects.
 */
async function respond({ apiUrl, log, through }: Teller, url: string, message: Message): Promise<boolean> {
  if (!isSlackUrl(url, apiUrl)) {
    log.warn('response_url outside Slack not used');
    return false;
  }
  try {
    const answer = await request(url, {
      ...through,
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(privateAnswer(view(message))),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await answer.body.dump();
    return answer.statusCode === 200;
  } catch {
    return false;
  }
}
