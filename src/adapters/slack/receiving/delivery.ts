import type { App, ReceiverEvent } from '@slack/bolt';
import type { Log } from '../../../flow/ports/machine.ts';
import { knownPayload } from './known-payload.ts';

/** One request of Slack, verified and parsed. */
export interface Delivery {
  readonly body: Record<string, unknown>;
  readonly retryNum?: number;
  readonly retryReason?: string;
  /** Acknowledges; called at most once. */
  readonly answer: (body?: unknown) => Promise<void>;
}

/**
 * - `taken`: acknowledged.
 * - `malformed`: nobody can take it, now or later, and it was not acknowledged.
 * - `failed`: it was not acknowledged, and Slack should deliver it again.
 */
export type Delivered = 'taken' | 'malformed' | 'failed';

/**
 * Hands a request to Bolt's listeners and acknowledges at the right time. Bolt acknowledges an event before its listeners run, which
 * would lose a mention in a crash in between: so for events its acknowledgement is held back until they are through. Whatever is
 * not taken has one line in the log. Never rejects.
 */
export async function deliver(app: App, delivery: Delivery, log: Log): Promise<Delivered> {
  let isAnswered = false;
  const answer = async (body?: unknown): Promise<void> => {
    if (isAnswered) return;
    isAnswered = true;
    await delivery.answer(body);
  };
  const known = knownPayload(delivery.body);
  try {
    if (known.kind === 'malformed') {
      log.warn('a request from Slack is malformed and is left out', { where: known.where });
      return 'malformed';
    }
    if (known.kind === 'not-listened-to') {
      log.info('nobody listens to an event from Slack', { type: known.type.slice(0, 80) });
      await answer();
      return 'taken';
    }
    const { body, isEvent } = known;
    await app.processEvent(receiverEvent(body, delivery, isEvent ? async () => undefined : answer));
    if (isEvent) await answer();
    if (isAnswered) return 'taken';
    log.warn('a request from Slack names nothing that is listened to');
    return 'malformed';
  } catch (thrown) {
    // Bolt's error handler has logged what a listener threw.
    if (!isAnswered) log.warn('a request from Slack was not acknowledged', { error: thrown });
    return isAnswered ? 'taken' : 'failed';
  }
}

const receiverEvent = (
  body: Record<string, unknown>,
  { retryNum, retryReason }: Delivery,
  ack: ReceiverEvent['ack'],
): ReceiverEvent => ({
  body,
  ack,
  ...(retryNum === undefined ? {} : { retryNum }),
  ...(retryReason === undefined ? {} : { retryReason }),
});
