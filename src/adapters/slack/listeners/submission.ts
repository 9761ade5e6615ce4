import type { ViewResponseAction } from '@slack/bolt';
import type { FormName } from '../../../core/actions.ts';
import { KdebugError } from '../../../core/errors.ts';
import { canonicalJson, sha256 } from '../../../core/hash.ts';
import { message, paragraph } from '../../../core/say/message/line.ts';
import type { Message } from '../../../core/say/message/message.ts';
import { withNames } from '../../../core/shown-names.ts';
import type { ChannelForm, Submission, SubmitAnswer } from '../../../flow/ports/slack.ts';
import { defined } from '../../../lib/object.ts';
import { MAX_FIELD_ERROR } from '../limits.ts';
import { FormOrigin, SubmissionPayload } from '../payloads.ts';
import type { Acknowledge } from '../receiving/acknowledge.ts';
import { plain } from '../views/blocks.ts';
import { blockIdsOf, fieldsOf, unpickedIn } from '../views/form-state.ts';
import { fieldOfBlock, modal, page } from '../views/modal.ts';
import {
  admit,
  answerLater,
  type Delivered,
  type Handler,
  type ListenerContext,
  refusal,
  senderOf,
  teamIdOf,
} from './gate.ts';
import { respond, tellOrLog, updateOrLog } from './respond.ts';

type Ack = Acknowledge<ViewResponseAction>;

/**
 * A submitted form: stored, then closed. A refusal keeps it open with the reason beside a field, so that no input is lost; a form without
 * fields closes, and the person gets the reason privately. So does what is too large for an acknowledgement. A malformed payload gets its
 * error in the form, because no other destination is known.
 */
export async function onSubmission({ context, handler, body }: Delivered<Handler<FormName>>, ack: Ack): Promise<void> {
  const payload = SubmissionPayload.safeParse(body);
  const origin = payload.success ? FormOrigin.safeParse(payload.data.view.private_metadata) : undefined;
  if (!payload.success || !origin?.success || origin.data.name !== handler.name) {
    context.log.warn('submission not understood, refused', { handler: handler.name });
    const error = new KdebugError('slack_payload_invalid');
    return showInForm({ context, blockIds: blockIdsOf(body), ack }, error);
  }
  const submission: Submission = {
    ...submissionOf(payload.data, origin.data),
    name: handler.name,
    teamId: teamIdOf(payload.data, context.identity),
    receivedAtMs: context.clock.now(),
  };
  const unpicked = unpickedIn(payload.data.view.state.values);
  const call = async () => (unpicked.length > 0 ? nothingPicked(unpicked) : context.inbox.submit(submission));
  const sender = senderOf(payload.data, origin.data.channelId);
  const admission = await admit({ context, handler }, { sender, call, whenLate: answerLater });
  const blockIds = blockIdsOf(payload.data);
  if (admission.kind === 'refused') return refuse({ context, submission, blockIds, ack }, admission.error);
  const { answer } = admission;
  if (answer.kind === 'errors' && blockIds.length > 0) {
    const errors = besideFields(answer.errors, blockIds);
    if (!(await ack({ response_action: 'errors', errors }))) tell(context, submission, saying(Object.values(errors)));
    return;
  }
  if (answer.kind === 'form') return showForm({ context, submission, payload: payload.data, ack }, answer);
  await ack({ response_action: 'clear' });
  if (answer.kind === 'later')
    context.inBackground(answer.answer.then((outcome) => tellLate(context, submission, outcome)));
  else if (answer.kind === 'errors')
    tell(context, submission, refusal(new KdebugError('slack_payload_invalid'), context.names));
  else if (answer.message) tell(context, submission, answer.message);
}

/** The form is closed by now. */
async function tellLate(context: ListenerContext, submission: Submission, answer: SubmitAnswer): Promise<void> {
  if (answer.kind === 'later') return tellLate(context, submission, await answer.answer);
  if (answer.kind === 'errors') tell(context, submission, saying(Object.values(answer.errors)));
  else if (answer.kind === 'form')
    tell(context, submission, refusal(new KdebugError('slack_form_not_opened'), context.names));
  else if (answer.message) tell(context, submission, answer.message);
}

const nothingPicked = (fieldIds: readonly string[]): SubmitAnswer => ({
  kind: 'errors',
  errors: Object.fromEntries(fieldIds.map((id) => [id, 'Type more letters here, then pick a name from the list.'])),
});

const saying = (lines: readonly string[]): Message =>
  message(
    { summary: 'kdebug: this form has errors', tone: 'failure' },
    lines.map((line) => paragraph`${line}`),
  );

interface FormShown {
  readonly context: ListenerContext;
  readonly submission: Submission;
  readonly payload: SubmissionPayload;
  readonly ack: Ack;
}

/**
 * The next form takes the submitted one's window, and is completed after the acknowledgement. One that is too large for it opens in a
 * window of its own.
 */
async function showForm({ context, submission, payload, ack }: FormShown, answer: ChannelForm): Promise<void> {
  const { form, complete, ...at } = answer;
  if (!(await ack({ response_action: 'update', view: modal(form, at) }))) {
    const destination = { channelId: at.channelId, userId: submission.userId };
    return respond(
      context,
      { destination, ...defined({ triggerId: payload.trigger_id }) },
      { kind: 'answered', answer },
    );
  }
  const { id } = payload.view;
  if (complete) context.inBackground(updateOrLog(context, { id }, async () => modal(await complete(), at)));
}

/** The same content of the same view is one submission, however often delivered or submitted. */
function submissionOf({ user, view }: SubmissionPayload, origin: FormOrigin) {
  const fields = fieldsOf(view.state.values);
  return {
    userId: user.id,
    ...origin,
    fields,
    dedupeKey: sha256(canonicalJson(['submission', user.id, view.id, fields])),
  };
}

interface Refused {
  readonly context: ListenerContext;
  readonly submission: Submission;
  readonly blockIds: readonly string[];
  readonly ack: Ack;
}

async function refuse({ context, submission, blockIds, ack }: Refused, error: KdebugError): Promise<void> {
  if (blockIds.length > 0) return showInForm({ context, blockIds, ack }, error);
  await ack({ response_action: 'clear' });
  tell(context, submission, refusal(error, context.names));
}

/** Shows the error beside the first field, or in place of a form without fields. */
async function showInForm({ context, blockIds, ack }: Omit<Refused, 'submission'>, error: KdebugError): Promise<void> {
  const [first] = blockIds;
  const { title, code } = error;
  const hint = withNames(error.hint, context.names);
  await ack(
    first === undefined
      ? { response_action: 'update', view: page('kdebug', refusal(error, context.names)) }
      : { response_action: 'errors', errors: besideFields({ [first]: `${title}. ${hint} (${code})` }, blockIds) },
  );
}

/** Slack accepts errors only beside the form's own fields. Any other error joins the first field's. */
function besideFields(errors: Readonly<Record<string, string>>, blockIds: readonly string[]): Record<string, string> {
  const beside = new Map<string, string>();
  for (const [id, error] of Object.entries(errors)) {
    const blockId = blockIds.find((one) => one === id || fieldOfBlock(one) === id) ?? blockIds[0] ?? id;
    beside.set(blockId, [beside.get(blockId), error].filter((one) => one !== undefined).join(' '));
  }
  return Object.fromEntries([...beside].map(([id, error]) => [id, plain(error, MAX_FIELD_ERROR).text]));
}

function tell(context: ListenerContext, { channelId, userId, threadTs }: Submission, message: Message): void {
  context.inBackground(tellOrLog(context, { channelId, userId, ...defined({ threadTs }) }, message));
}
