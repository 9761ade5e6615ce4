import type { ModalView } from '@slack/types';
import { KdebugError, toKdebugError } from '../../../core/errors.ts';
import type { Message } from '../../../core/say/message/message.ts';
import type { Answer, PrivateDestination } from '../../../flow/ports/slack.ts';
import { defined } from '../../../lib/object.ts';
import { namesFor } from '../views/in-names.ts';
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
  const names = namesFor(destination, context.names);
  if (admission.kind === 'refused') return tellOrLog(context, destination, refusal(admission.error, names));
  const { answer } = admission;
  if (answer.kind === 'later') return send(context, recipient, { kind: 'answered', answer: await answer.answer });
  if (answer.kind === 'message') return tellOrLog(context, destination, answer.message);
  if (answer.kind === 'form') await openOrTell(context, recipient, answer);
  if (answer.kind === 'page') await showPage(context, recipient, answer);
}

async function openOrTell(
  context: ListenerContext,
  recipient: Recipient,
  { form, complete }: Extract<Answer, { kind: 'form' }>,
): Promise<void> {
  const { destination, formThreadTs: threadTs = destination.threadTs, triggerId } = recipient;
  try {
    if (triggerId === undefined) throw new KdebugError('slack_form_not_opened');
    const origin = { channelId: destination.channelId, ...defined({ threadTs }) };
    const opened = await context.openView(triggerId, modal(form, origin));
    if (complete) await updateUnlessClosed(context, opened, modal(await complete(), origin));
  } catch (thrown) {
    const { code, detail } = toKdebugError(thrown);
    context.log.warn('form not opened', { form: form.name, code, detail });
    const names = namesFor(destination, context.names);
    await tellOrLog(context, destination, refusal(new KdebugError('slack_form_not_opened'), names));
  }
}

/** Does nothing if the person has closed the view. @throws as `updateView` */
export async function updateUnlessClosed(
  { updateView }: Pick<ListenerContext, 'updateView'>,
  opened: Parameters<ListenerContext['updateView']>[0],
  view: ModalView,
): Promise<void> {
  try {
    await updateView(opened, view);
  } catch (thrown) {
    if (toKdebugError(thrown).facts.error !== 'not_found') throw thrown;
  }
}

/** Completes a form that is open already; without that it says that it is loading, so the person opens another. */
export async function updateOrLog(
  context: ListenerContext,
  opened: Parameters<ListenerContext['updateView']>[0],
  view: () => Promise<ModalView>,
): Promise<void> {
  try {
    await updateUnlessClosed(context, opened, await view());
  } catch (thrown) {
    const { code, detail } = toKdebugError(thrown);
    context.log.warn('form not completed', { code, detail });
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
