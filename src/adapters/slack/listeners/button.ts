import type { ActionName } from '../../../core/actions.ts';
import { KdebugError } from '../../../core/errors.ts';
import { canonicalJson, sha256 } from '../../../core/hash.ts';
import type { Answer, Click } from '../../../flow/ports/slack.ts';
import { ClickPayload } from '../payloads.ts';
import { admit, answerLater, type Delivered, destinationOfSender, type Handler, senderOf, teamIdOf } from './gate.ts';
import { respond } from './respond.ts';

type Ack = () => Promise<void>;

/**
 * A click on a button. It carries only a name and an id; the inbox judges by its own state. Acknowledging a click cannot carry text, so the
 * answer follows privately.
 */
export function onButton(delivered: Delivered<Handler<ActionName>>, ack: Ack): Promise<void> {
  const { context, handler } = delivered;
  return onClick(delivered, ack, (click) => context.inbox.action({ ...click, action: handler.name }));
}

/** A click on a button without a row: answered, recorded if the person is refused, and never passed to the inbox. */
export const onUnknownButton = (delivered: Delivered, ack: Ack): Promise<void> =>
  onClick(delivered, ack, async () => {
    throw new KdebugError('unknown_button');
  });

async function onClick(
  { context, handler, body }: Delivered,
  ack: Ack,
  judge: (click: Omit<Click, 'action'>) => Promise<Answer>,
): Promise<void> {
  const payload = ClickPayload.safeParse(body);
  if (!payload.success) {
    context.log.warn('malformed click ignored');
    return ack();
  }
  const { channel, container, message, trigger_id: triggerId } = payload.data;
  const click = { ...clickOf(payload.data), teamId: teamIdOf(payload.data, context.identity) };
  const admission = await admit(
    { context, handler },
    { sender: senderOf(payload.data, channel.id), call: () => judge(click), whenLate: answerLater },
  );
  await ack();
  const source = { ts: container.message_ts, thread_ts: message?.thread_ts ?? container.thread_ts };
  respond(context, { destination: destinationOfSender(payload.data, source), triggerId }, admission);
}

/** Slack gives each click its own `trigger_id`, the same in every delivery. */
function clickOf({ user, channel, container, actions, trigger_id }: ClickPayload): Omit<Click, 'action' | 'teamId'> {
  const [{ action_id, value }] = actions;
  const click = { userId: user.id, channelId: channel.id, messageTs: container.message_ts, value };
  return { ...click, dedupeKey: sha256(canonicalJson(['click', click, action_id, trigger_id])) };
}
