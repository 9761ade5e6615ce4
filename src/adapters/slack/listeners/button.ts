import { KdebugError } from '../../../core/errors.ts';
import { canonicalJson, sha256 } from '../../../core/hash.ts';
import type { Answer, Click } from '../../../flow/ports/slack.ts';
import { ClickPayload } from '../payloads.ts';
import { answerOf, type Delivered, destinationOfSender, senderOf, teamIdOf } from './gate.ts';
import { reply } from './respond.ts';

export type ButtonAck = () => Promise<void>;

/**
 * A click on a button of a message, an ephemeral one's too. It is only a hint: the verb and an id, which the inbox judges
 * from its own state. Acknowledged after that; what it says goes privately to who clicked, because a click's
 * acknowledgement cannot carry words. A button that no row names is answered and goes nowhere.
 */
export async function onButton({ context, handler, body }: Delivered, ack: ButtonAck): Promise<void> {
  const payload = ClickPayload.safeParse(body);
  if (!payload.success) {
    context.log.warn('a click was not understood and is left out');
    return ack();
  }
  const { container, message, trigger_id } = payload.data;
  const click = { ...placedClick(payload.data), action: handler.name };
  const ask = async (): Promise<Answer> => {
    if (handler.inbox === 'none') throw new KdebugError('unknown_button');
    return context.inbox.action({ ...click, teamId: teamIdOf(payload.data, context.identity) });
  };
  const outcome = await answerOf(
    { context, handler },
    { sender: senderOf(payload.data, payload.data.channel.id), ask },
  );
  await ack();
  const source = { ts: container.message_ts, thread_ts: message?.thread_ts ?? container.thread_ts };
  const place = destinationOfSender(payload.data, source);
  reply(context, { place, triggerId: trigger_id }, outcome);
}

/** Slack gives each click its own `trigger_id`; every delivery of it carries the same. */
function placedClick({
  user,
  channel,
  container,
  actions,
  trigger_id,
}: ClickPayload): Omit<Click, 'action' | 'teamId'> {
  const [{ action_id, value }] = actions;
  const place = { userId: user.id, channelId: channel.id, messageTs: container.message_ts, value };
  return { ...place, dedupeKey: sha256(canonicalJson(['click', place, action_id, trigger_id])) };
}
