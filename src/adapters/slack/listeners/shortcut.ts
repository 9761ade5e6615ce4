import type { Shortcut } from '../../../flow/ports.ts';
import { ShortcutPayload } from '../payloads.ts';
import { answerOf } from './answer.ts';
import type { Delivered } from './context.ts';
import { placeOf, senderOf, teamIdOf } from './interaction.ts';
import { messageText } from './message-text.ts';
import { reply } from './reply.ts';

/** "Debug a pod" on a message: the inbox sees the message's words and answers with a form, opened after the acknowledgement. */
export async function onShortcut({ context, handler, body }: Delivered, ack: () => Promise<void>): Promise<void> {
  const payload = ShortcutPayload.safeParse(body);
  if (!payload.success) {
    context.log.warn('a shortcut was not understood and is left out');
    return ack();
  }
  const { user, channel, message, trigger_id } = payload.data;
  const shortcut: Shortcut = {
    teamId: teamIdOf(payload.data, context.identity),
    userId: user.id,
    channelId: channel.id,
    text: messageText(message),
    messageTs: message.ts,
    ...(message.thread_ts === undefined ? {} : { threadTs: message.thread_ts }),
  };
  const ask = () => context.inbox.shortcut(shortcut);
  const outcome = await answerOf({ context, handler }, { sender: senderOf(payload.data, channel.id), ask });
  await ack();
  reply(context, { place: placeOf(payload.data, message.thread_ts), triggerId: trigger_id }, outcome);
}
