import type { GlobalShortcutName } from '../../../core/actions.ts';
import { toKdebugError } from '../../../core/errors.ts';
import { canonicalJson, sha256 } from '../../../core/hash.ts';
import type { Answer, ChannelForm, Shortcut } from '../../../flow/ports/slack.ts';
import { defined } from '../../../lib/object.ts';
import { GlobalShortcutPayload, ShortcutPayload } from '../payloads.ts';
import { modal, page } from '../views/modal.ts';
import {
  admit,
  type Delivered,
  destinationOfSender,
  type Handler,
  type ListenerContext,
  refusal,
  type ShortcutHandler,
  senderOf,
  teamIdOf,
} from './gate.ts';
import { codeBlock, jobFile, messageText } from './message-content.ts';
import { respond, updateUnlessClosed } from './respond.ts';

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
    context.log.warn('malformed shortcut ignored');
    return ack();
  }
  const { user, channel, message, trigger_id } = payload.data;
  // What is asked about a message stands below it, whoever wrote it.
  const threadTs = message.thread_ts ?? message.ts;
  const shortcut: Shortcut = {
    name: handler.name,
    teamId: teamIdOf(payload.data, context.identity),
    userId: user.id,
    channelId: channel.id,
    text: messageText(message),
    messageTs: message.ts,
    threadTs,
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
  respond(context, { destination, formThreadTs: threadTs, triggerId: trigger_id }, admission);
}

/**
 * A shortcut of the whole workspace: answered in a window, because there is no channel to answer in. The window opens after the
 * acknowledgement.
 */
export async function onGlobalShortcut(
  { context, handler, body }: Delivered<Handler<GlobalShortcutName>>,
  ack: () => Promise<void>,
): Promise<void> {
  const payload = GlobalShortcutPayload.safeParse(body);
  if (!payload.success) {
    context.log.warn('malformed global shortcut ignored');
    return ack();
  }
  const { user, trigger_id } = payload.data;
  const teamId = teamIdOf(payload.data, context.identity);
  const call = () => context.inbox.globalShortcut({ name: handler.name, teamId, userId: user.id });
  const admission = await admit({ context, handler }, { sender: senderOf(payload.data, undefined), call });
  await ack();
  const answer =
    admission.kind === 'answered'
      ? admission.answer
      : ({ kind: 'page', title: 'kdebug', message: refusal(admission.error, context.names) } as const);
  context.inBackground(openOrLog(context, trigger_id, answer));
}

/** Without a window there is nowhere to say why. */
async function openOrLog(
  context: ListenerContext,
  triggerId: string,
  answer: ChannelForm | Extract<Answer, { kind: 'page' }>,
): Promise<void> {
  try {
    if (answer.kind === 'page') return void (await context.openView(triggerId, page(answer.title, answer.message)));
    const { form, complete } = answer;
    const opened = await context.openView(triggerId, modal(form, answer));
    if (complete) await updateUnlessClosed(context, opened, modal(await complete(), answer));
  } catch (thrown) {
    const { code, detail } = toKdebugError(thrown);
    context.log.warn('window of a global shortcut not opened', { code, detail });
  }
}
