import type { App, ReceiverEvent } from '@slack/bolt';

/** One request of Slack, verified and parsed. */
export interface Delivery {
  readonly body: Record<string, unknown>;
  readonly retryNum?: number;
  readonly retryReason?: string;
  /** Acknowledges; called at most once. */
  readonly answer: (body?: unknown) => Promise<void>;
}

/**
 * Hands a request to Bolt's listeners and acknowledges at the right time: `taken`, or `failed` when nothing was
 * acknowledged and Slack should deliver again. Bolt acknowledges an event before its listeners run, which would lose a
 * mention in a crash in between: so for events its acknowledgement is held back until they are through.
 */
export async function deliver(app: App, delivery: Delivery): Promise<'taken' | 'failed'> {
  const isEvent = delivery.body.event !== undefined;
  let isAnswered = false;
  const answer = async (body?: unknown): Promise<void> => {
    if (isAnswered) return;
    isAnswered = true;
    await delivery.answer(body);
  };
  const event: ReceiverEvent = {
    body: delivery.body,
    ack: async (body?: unknown) => (isEvent ? undefined : answer(body)),
    ...(delivery.retryNum === undefined ? {} : { retryNum: delivery.retryNum }),
    ...(delivery.retryReason === undefined ? {} : { retryReason: delivery.retryReason }),
  };
  try {
    await app.processEvent(event);
    if (isEvent) await answer();
  } catch {
    // Bolt's error handler has logged it.
  }
  return isAnswered ? 'taken' : 'failed';
}
