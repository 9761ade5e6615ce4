import type { AlertName } from '../../../core/actions.ts';
import type { AlertClick } from '../../../flow/ports/slack.ts';
import { defined } from '../../../lib/object.ts';
import { AlertPayload } from '../payloads.ts';
import { admit, answerLater, type Delivered, destinationOfSender, type Handler, senderOf, teamIdOf } from './gate.ts';
import { messageText } from './message-content.ts';
import { respond } from './respond.ts';

/**
 * A click on the button that another program has put on its message, with kdebug's token (`interactive_message`). Slack replaces the message
 * with what an acknowledgement carries, so it carries nothing, and a refusal follows privately.
 */
export async function onAlert(
  { context, handler, body }: Delivered<Handler<AlertName>>,
  ack: () => Promise<void>,
): Promise<void> {
  const payload = AlertPayload.safeParse(body);
  if (!payload.success) {
    context.log.warn('malformed click on an alert ignored');
    return ack();
  }
  const { user, channel, message_ts: messageTs, original_message: message, trigger_id: triggerId } = payload.data;
  const [{ name, value }] = payload.data.actions;
  // A link whose address was empty when the alert was posted: nothing was asked.
  if (name === '' && value === '') return ack();
  const threadTs = message?.thread_ts;
  const click: AlertClick = {
    teamId: teamIdOf(payload.data, context.identity),
    ...{ userId: user.id, channelId: channel.id, messageTs, value },
    text: messageText(message ?? {}),
    receivedAtMs: context.clock.now(),
    ...defined({ threadTs, responseUrl: payload.data.response_url }),
  };
  const call = () => context.inbox.alert(click);
  const admission = await admit(
    { context, handler },
    { sender: senderOf(payload.data, channel.id), call, whenLate: answerLater },
  );
  await ack();
  const destination = destinationOfSender(payload.data, { ts: messageTs, thread_ts: threadTs });
  respond(context, { destination, formThreadTs: threadTs ?? messageTs, triggerId }, admission);
}
