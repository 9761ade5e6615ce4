import { request } from 'undici';
import type { Message } from '../../../core/report/message.ts';
import type { Log } from '../../../flow/ports/machine.ts';
import type { PrivatePlace } from '../../../flow/ports/slack.ts';
import { isSlackUrl } from '../client.ts';
import { type View, view } from '../views/view.ts';
import { type Speaker, sayShaped } from './messages.ts';

export interface Teller extends Speaker {
  readonly apiUrl: string;
  readonly log: Log;
}

const TIMEOUT_MS = 5_000;

/** A private answer as Slack takes it in an acknowledgement and at a `response_url`. */
export const privateAnswer = (shaped: View) => ({
  response_type: 'ephemeral' as const,
  replace_original: false,
  ...shaped,
});

/**
 * Tells one person something, by the `response_url` (five uses in 30 minutes) when it works, else by chat.postEphemeral.
 * A lost answer may make it appear twice, to that person only.
 */
export async function tell(teller: Teller, person: PrivatePlace, message: Message): Promise<void> {
  if (person.responseUrl !== undefined && (await respond(teller, person.responseUrl, message))) return;
  const { client, poster } = teller;
  const { channelId, userId, threadTs } = person;
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

/** Whether Slack took it. The URL is a bearer secret: it is never logged, and only Slack's hosts are called, without redirects. */
async function respond({ apiUrl, log, through }: Teller, url: string, message: Message): Promise<boolean> {
  if (!isSlackUrl(url, apiUrl)) {
    log.warn('a response_url points outside Slack and is not used');
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
