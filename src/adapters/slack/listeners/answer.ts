import { KdebugError, toKdebugError } from '../../../core/errors.ts';
import { type Message, text } from '../../../core/report/message.ts';
import type { Clock, Inbox, Log, Thread } from '../../../flow/ports.ts';
import type { Identity } from '../identity.ts';
import { ACK_GUARD_MS } from '../limits.ts';

/** What every listener needs. */
export interface ListenerContext {
  readonly inbox: Inbox;
  readonly thread: Thread;
  readonly identity: Identity;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether the app is being stopped: then nothing new is taken. */
  readonly isStopping: () => boolean;
  /** Work that outlives the acknowledgement and that a stop waits for; never rejects. */
  readonly inBackground: (work: Promise<void>) => void;
}

/**
 * Asks the inbox and always has an answer in time: its message, nothing, or an honest error as a message.
 * Never throws. The inbox promises to be done within 2.5 s; if it breaks that, the answer says that nothing was started.
 */
export async function answerOf(
  context: ListenerContext,
  ask: () => Promise<Message | undefined>,
): Promise<{ readonly message?: Message; readonly taken: boolean }> {
  try {
    if (context.isStopping()) throw new KdebugError('shutting_down');
    const message = await inTime(context.clock, ask());
    return { taken: true, ...(message ? { message } : {}) };
  } catch (thrown) {
    const error = toKdebugError(thrown);
    context.log.warn('a request from Slack was not taken', { code: error.code, detail: error.detail });
    return { taken: false, message: refusal(error) };
  }
}

async function inTime<T>(clock: Clock, asked: Promise<T>): Promise<T> {
  let cancel: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(ACK_GUARD_MS, () => reject(new KdebugError('slack_not_taken')));
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    cancel();
  }
}

/** What went wrong and what to do; the detail only where it is meant for people. */
export const refusal = (error: KdebugError): Message => ({
  summary: `kdebug: ${error.title}`,
  tone: 'failure',
  parts: [
    { kind: 'paragraph', spans: [{ kind: 'strong', text: `kdebug: ${error.title}` }] },
    { kind: 'paragraph', spans: [text(error.hint)] },
    { kind: 'note', spans: [text(error.code)] },
  ],
});
