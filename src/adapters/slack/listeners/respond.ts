import { KdebugError, toKdebugError } from '../../../core/errors.ts';
import type { Form, Message } from '../../../core/report/message.ts';
import type { Answer, PrivateDestination } from '../../../flow/ports/slack.ts';
import { defined } from '../../../lib/object.ts';
import { modal, page } from '../views/modal.ts';
import { type Admission, type ListenerContext, refusal } from './gate.ts';

export interface Recipient {
  readonly destination: PrivateDestination;
  /** The thread of the form's request, if it is not the destination's. */
  readonly formThreadTs?: string | undefined;
  /** Can open one form within 3 s; an event has none. */
  readonly triggerId?: string;
}

/** Works in the background. */
export function respond(context: ListenerContext, recipient: Recipient, admission: Admission<Answer>): void {
  context.inBackground(send(context, recipient, admission));
}

async function send(context: ListenerContext, recipient: Recipient, admission: Admission<Answer>): Promise<void> {
  const { destination } = recipient;
  if (admission.kind === 'refused') return tellOrLog(context, destination, refusal(admission.error));
  const { answer } = admission;
  if (answer.kind === 'message') return tellOrLog(context, destination, answer.message);
  if (answer.kind === 'form') await openOrTell(context, recipient, answer.form);
  if (answer.kind === 'page') await showPage(context, recipient, answer);
}

async function openOrTell(context: ListenerContext, recipient: Recipient, form: Form): Promise<void> {
  const { destination, formThreadTs: threadTs = destination.threadTs, triggerId } = recipient;
  try {
    if (triggerId === undefined) throw new KdebugError('slack_form_not_opened');
    const { channelId } = destination;
    await context.openView(triggerId, modal(form, { channelId, ...defined({ threadTs }) }));
  } catch (thrown) {
    const { code, detail } = toKdebugError(thrown);
    context.log.warn('form not opened', { form: form.name, code, detail });
    await tellOrLog(context, destination, refusal(new KdebugError('slack_form_not_opened')));
  }
}

/** The person reads it either way: in a window, else as a private message. */
async function showPage(
  context: ListenerContext,
  { destination, triggerId }: Recipient,
  { title, message }: Extract<Answer, { kind: 'page' }>,
): Promise<void> {
  if (triggerId === undefined) return tellOrLog(context, destination, message);
  try {
    await context.openView(triggerId, page(title, message));
  } catch (thrown) {
    const { code, detail } = toKdebugError(thrown);
    context.log.warn('page not opened', { title, code, detail });
    await tellOrLog(context, destination, message);
  }
}

/** Only logs a failure: nobody waits for the answer any more. */
export async function tellOrLog(
  { thread, log }: Pick<ListenerContext, 'thread' | 'log'>,
  destination: PrivateDestination,
  message: Message,
): Promise<void> {
  try {
    await thread.tell(destination, message);
  } catch (thrown) {
    log.warn('private answer lost', { channelId: destination.channelId, error: thrown });
  }
}
