import { KdebugError, toKdebugError } from '../../../core/errors.ts';
import { type Message, text } from '../../../core/report/message.ts';
import type { Clock } from '../../../flow/ports/machine.ts';
import { ACK_GUARD_MS } from '../limits.ts';
import { authorise, type Sender } from './authorise.ts';
import type { Delivered } from './context.ts';

export interface Question<T> {
  readonly sender: Sender;
  /** Asks the inbox. Called once at most, and only for who may. */
  readonly ask: () => Promise<T>;
}

export type Outcome<T> =
  | { readonly kind: 'answered'; readonly answer: T }
  | { readonly kind: 'refused'; readonly error: KdebugError };

/**
 * The only way to the inbox: authorises by the handler's row, asks, and always has an outcome in time. Never throws. The
 * inbox promises to be done within 2.5 s; whatever is not done when Slack's 3 s are nearly over is refused honestly.
 */
export async function answerOf<T>(
  { context, handler }: Omit<Delivered, 'body'>,
  { sender, ask }: Question<T>,
): Promise<Outcome<T>> {
  const { clock, log } = context;
  const begunMs = clock.now();
  const authorisedAnswer = async (): Promise<T> => {
    if (context.isStopping()) throw new KdebugError('shutting_down');
    await letIn({ context, handler }, sender);
    // Whoever was told that it was too late is not served after all.
    if (clock.now() - begunMs >= ACK_GUARD_MS) throw new KdebugError('slack_not_taken');
    return ask();
  };
  try {
    return { kind: 'answered', answer: await inTime(clock, authorisedAnswer()) };
  } catch (thrown) {
    const error = toKdebugError(thrown);
    const { code, detail } = error;
    log.warn('a request from Slack was not taken', { handler: handler.name, userId: sender.userId, code, detail });
    return { kind: 'refused', error };
  }
}

/** Authorises; a refusal goes on record, without holding up the answer. */
async function letIn({ context, handler }: Omit<Delivered, 'body'>, sender: Sender): Promise<void> {
  try {
    await authorise(context, handler, sender);
  } catch (thrown) {
    const { userId, channelId = '' } = sender;
    const { code } = toKdebugError(thrown);
    const teamIds = sender.teamIds.filter((id) => id !== undefined);
    // Their own, where a shared channel names ours as well.
    const teamId = teamIds.find((id) => id !== context.identity.teamId) ?? teamIds[0];
    const who = { userId, channelId, ...(teamId !== undefined && { teamId }) };
    context.inBackground(context.inbox.refused({ ...who, handler: handler.name, code }));
    throw thrown;
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
    { kind: 'note', spans: [text(`Error code: ${error.code}`)] },
  ],
});
