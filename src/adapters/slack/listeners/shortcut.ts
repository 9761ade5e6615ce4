import { canonicalJson, sha256 } from '../../../core/hash.ts';
import type { Shortcut } from '../../../flow/ports/slack.ts';
import { ShortcutPayload } from '../payloads.ts';
import { answerOf, type Delivered, destinationOfSender, senderOf, teamIdOf } from './gate.ts';
import { codeBlock, jobFile, messageText } from './message-content.ts';
import { reply } from './respond.ts';

/**
 * A shortcut on a message ("Debug a pod", "Apply as EphemeralJob"): the inbox sees the message's words and its code block, and
 * answers with a form, opened after the acknowledgement, or with words. Slack gives each use its own `trigger_id`.
 */
export async function onShortcut({ context, handler, body }: Delivered, ack: () => Promise<void>): Promise<void> {
  const payload = ShortcutPayload.safeParse(body);
  if (!payload.success) {
    context.log.warn('a shortcut was not understood and is left out');
    return ack();
  }
  const { user, channel, message, trigger_id } = payload.data;
  const shortcut: Shortcut = {
    name: handler.name,
    teamId: teamIdOf(payload.data, context.identity),
    userId: user.id,
    channelId: channel.id,
    text: messageText(message),
    messageTs: message.ts,
    ...(message.thread_ts === undefined ? {} : { threadTs: message.thread_ts }),
    dedupeKey: sha256(canonicalJson(['shortcut', handler.name, channel.id, message.ts, user.id, trigger_id])),
    receivedAtMs: context.clock.now(),
  };
  const ask = async () => {
    const file = handler.readsFile && jobFile(message.files);
    const code = codeBlock(message) ?? (file && (await context.readFile(file)));
    return context.inbox.shortcut({ ...shortcut, ...(code === undefined ? {} : { code }) });
  };
  const outcome = await answerOf({ context, handler }, { sender: senderOf(payload.data, channel.id), ask });
  await ack();
  reply(
    context,
    { place: destinationOfSender(payload.data, message), formThreadTs: message.thread_ts, triggerId: trigger_id },
    outcome,
  );
}
