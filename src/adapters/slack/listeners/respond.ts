import { KdebugError, toKdebugError } from '../../../core/errors.ts';
import type { Form, Message } from '../../../core/report/message.ts';
import type { Answer, PrivateDestination } from '../../../flow/ports/slack.ts';
import { defined } from '../../../lib/defined.ts';
import { isKnownForm } from '../handlers.ts';
import { modal } from '../views/modal.ts';
import { type ListenerContext, type Outcome, refusal } from './gate.ts';

/** Where a person is answered after the acknowledgement. */
export interface Asker {
  readonly place: PrivateDestination;
  /** The thread that what a form asks for belongs to, where it is not the place's own. */
  readonly formThreadTs?: string | undefined;
  /** Opens one form within 3 s; an event has none. */
  readonly triggerId?: string;
}

/** Says the outcome privately, or opens its form, without being waited for. */
export function reply(context: ListenerContext, asker: Asker, outcome: Outcome<Answer>): void {
  context.inBackground(replying(context, asker, outcome));
}

async function replying(context: ListenerContext, asker: Asker, outcome: Outcome<Answer>): Promise<void> {
  if (outcome.kind === 'refused') return tellOrLog(context, asker.place, refusal(outcome.error));
  const { answer } = outcome;
  if (answer.kind === 'message') return tellOrLog(context, asker.place, answer.message);
  if (answer.kind === 'form') await openOrTell(context, asker, answer.form);
}

async function openOrTell(context: ListenerContext, asker: Asker, form: Form): Promise<void> {
  const { place, formThreadTs = place.threadTs, triggerId } = asker;
  try {
    if (triggerId === undefined) throw new KdebugError('slack_form_not_opened');
    if (!isKnownForm(form.name))
      throw new KdebugError('internal_error', { detail: `no handler takes the form ${form.name}` });
    const { channelId } = place;
    await context.openView(triggerId, modal(form, { channelId, ...defined({ threadTs: formThreadTs }) }));
  } catch (thrown) {
    const { code, detail } = toKdebugError(thrown);
    context.log.warn('a form was not opened', { form: form.name, code, detail });
    await tellOrLog(context, place, refusal(new KdebugError('slack_form_not_opened')));
  }
}

/** Tells a person; a loss is logged, because nobody waits for this any more. */
export async function tellOrLog(
  { thread, log }: Pick<ListenerContext, 'thread' | 'log'>,
  place: PrivateDestination,
  message: Message,
): Promise<void> {
  try {
    await thread.tell(place, message);
  } catch (thrown) {
    log.warn('a private answer was lost', { channelId: place.channelId, error: thrown });
  }
}
