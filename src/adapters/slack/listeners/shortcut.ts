import { canonicalJson, sha256 } from '../../../core/hash.ts';
import type { Shortcut } from '../../../flow/ports/slack.ts';
import { defined } from '../../../lib/object.ts';
import { ShortcutPayload } from '../payloads.ts';
import { admit, type Delivered, destinationOfSender, type ShortcutHandler, senderOf, teamIdOf } from './gate.ts';
import { codeBlock, jobFile, messageText } from './message-content.ts';
import { respond } from './respond.ts';

/**
 * A shortcut on a message ("Debug a pod", "Apply as EphemeralJob"): passes the message's text and code block to the inbox. Its answer is a
 * message or a form that opens after the acknowledgement. Slack gives each use its own `trigger_id`.
 */
export async function onShortcut(
  { context, handler, body }: Delivered<ShortcutHandler>,
  ack: () => Promise<void>,
): Promise<void> {
  const payload = ShortcutPayload.safeParse(body);
  if (!payload.success) {
    context.log.warn('shortcut not understood, ignored');
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
    ...defined({ threadTs: message.thread_ts }),
    dedupeKey: sha256(canonicalJson(['shortcut', handler.name, channel.id, message.ts, user.id, trigger_id])),
    receivedAtMs: context.clock.now(),
  };
  const call = async () => {
    const file = handler.readsFile && jobFile(message.files);
    const code = codeBlock(message) ?? (file && (await context.readFile(file)));
    return context.inbox.shortcut({ ...shortcut, ...defined({ code }) });
  };
  const admission = await admit({ context, handler }, { sender: senderOf(payload.data, channel.id), call });
  await ack();
  const destination = destinationOfSender(payload.data, message);
  respond(context, { destination, formThreadTs: message.thread_ts, triggerId: trigger_id }, admission);
}
