import type { AckFn, ViewResponseAction } from '@slack/bolt';
import { KdebugError } from '../../../core/errors.ts';
import { canonicalJson, sha256 } from '../../../core/hash.ts';
import type { Message } from '../../../core/report/message.ts';
import type { Submission } from '../../../flow/ports/slack.ts';
import { MAX_FIELD_ERROR, MAX_VIEW_TITLE } from '../limits.ts';
import { FormOrigin, fieldIdsOf, fieldsOf, SubmissionPayload } from '../payloads.ts';
import { plain } from '../views/blocks.ts';
import { view } from '../views/view.ts';
import { answerOf, type Delivered, type ListenerContext, refusal, senderOf, teamIdOf } from './gate.ts';
import { tellOrLog } from './respond.ts';

type Ack = AckFn<ViewResponseAction>;

/**
 * A form was submitted: stored first, then the form closes. Whatever was not taken keeps the form open with the reason beside a
 * field, so that nothing typed is lost; a form without fields closes and the reason is told privately. What is not understood says so
 * in the form itself: where else to say it is not known.
 */
export async function onSubmission({ context, handler, body }: Delivered, ack: Ack): Promise<void> {
  const payload = SubmissionPayload.safeParse(body);
  const origin = payload.success ? FormOrigin.safeParse(payload.data.view.private_metadata) : undefined;
  if (!payload.success || !origin?.success || origin.data.name !== handler.name) {
    context.log.warn('a submission was not understood and is left out', { handler: handler.name });
    return sayInForm(ack, fieldIdsOf(body), new KdebugError('slack_payload_invalid'));
  }
  const submission: Submission = {
    ...submissionOf(payload.data, origin.data),
    teamId: teamIdOf(payload.data, context.identity),
    receivedAtMs: context.clock.now(),
  };
  const ask = () => context.inbox.submit(submission);
  const outcome = await answerOf({ context, handler }, { sender: senderOf(payload.data, origin.data.channelId), ask });
  const fieldIds = fieldIdsOf(payload.data);
  if (outcome.kind === 'refused') return keepOpen({ context, submission, fieldIds, ack }, outcome.error);
  const { answer } = outcome;
  if (answer.kind === 'errors' && fieldIds.length > 0)
    return ack({ response_action: 'errors', errors: besideFields(answer.errors, fieldIds) });
  await ack({ response_action: 'clear' });
  if (answer.kind === 'errors') tell(context, submission, refusal(new KdebugError('slack_payload_invalid')));
  else if (answer.message) tell(context, submission, answer.message);
}

/** One view submitted with one content is one submission, however often it is delivered or pressed. */
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
  readonly fieldIds: readonly string[];
  readonly ack: Ack;
}

async function keepOpen({ context, submission, fieldIds, ack }: Refused, error: KdebugError): Promise<void> {
  if (fieldIds.length > 0) return sayInForm(ack, fieldIds, error);
  await ack({ response_action: 'clear' });
  tell(context, submission, refusal(error));
}

/** Beside the first field; where there is none, in place of the form. */
function sayInForm(ack: Ack, fieldIds: readonly string[], error: KdebugError): Promise<void> {
  const [first] = fieldIds;
  const { title, hint, code } = error;
  if (first !== undefined)
    return ack({
      response_action: 'errors',
      errors: besideFields({ [first]: `${title}. ${hint} (${code})` }, fieldIds),
    });
  const { blocks } = view(refusal(error));
  const notice = {
    type: 'modal' as const,
    title: plain('kdebug', MAX_VIEW_TITLE),
    close: plain('Close', MAX_VIEW_TITLE),
    blocks,
  };
  return ack({ response_action: 'update', view: notice });
}

/** Slack takes errors only beside fields that the form has; any other is said beside the first one. */
function besideFields(errors: Readonly<Record<string, string>>, fieldIds: readonly string[]): Record<string, string> {
  const beside = new Map<string, string>();
  for (const [id, error] of Object.entries(errors)) {
    const fieldId = fieldIds.includes(id) ? id : (fieldIds[0] ?? id);
    beside.set(fieldId, [beside.get(fieldId), error].filter((one) => one !== undefined).join(' '));
  }
  return Object.fromEntries([...beside].map(([id, error]) => [id, plain(error, MAX_FIELD_ERROR).text]));
}

function tell(context: ListenerContext, { channelId, userId, threadTs }: Submission, message: Message): void {
  const place = { channelId, userId, ...(threadTs === undefined ? {} : { threadTs }) };
  context.inBackground(tellOrLog(context, place, message));
}
