import type { RespondArguments } from '@slack/bolt';
import { KdebugError } from '../../../core/errors.ts';
import { canonicalJson, sha256 } from '../../../core/hash.ts';
import { asChannelId, asUserId } from '../../../core/ids.ts';
import type { Origin } from '../../../core/request/origin.ts';
import type { Message } from '../../../core/say/message/message.ts';
import { isCommandName } from '../../../core/shown-names.ts';
import { defined } from '../../../lib/object.ts';
import { CommandPayload } from '../payloads.ts';
import type { Acknowledge } from '../receiving/acknowledge.ts';
import { isDirect, privateAnswer } from '../thread/tell.ts';
import { hasDrawing } from '../views/chart.ts';
import { namesFor } from '../views/in-names.ts';
import { view } from '../views/view.ts';
import { admit, answerLater, type Delivered, type ListenerContext, refusal } from './gate.ts';
import { respond, tellOrLog } from './respond.ts';

type Ack = Acknowledge<RespondArguments>;

/**
 * The slash command, under whichever name: stored, then acknowledged within 3 s with the inbox's message. A form opens right after that, and a
 * message that is too large for an acknowledgement follows it. So does one with a table, which a Slack that refuses it would lose, and every
 * message in a direct message, where one of the bot's own stays.
 */
export async function onCommand({ context, handler, body }: Delivered, ack: Ack): Promise<void> {
  const payload = CommandPayload.safeParse(body);
  if (!payload.success)
    return void (await acknowledge(ack, refusal(new KdebugError('slack_payload_invalid'), context.names)));
  const origin = commandOrigin(payload.data, context);
  const { text, trigger_id } = payload.data;
  const admission = await admit(
    { context, handler },
    { sender: senderOf(payload.data), call: () => context.inbox.command(origin, text), whenLate: answerLater },
  );
  if (admission.kind === 'refused')
    return void (await acknowledge(ack, refusal(admission.error, namesFor(origin, context.names))));
  const destination = destinationOf(origin);
  if (admission.answer.kind === 'message') {
    const { message } = admission.answer;
    if (isDirect(destination) || hasDrawing(message)) await ack();
    else if (await acknowledge(ack, message)) return;
    return context.inBackground(tellOrLog(context, destination, message));
  }
  await ack();
  respond(context, { destination, triggerId: trigger_id }, admission);
}

const acknowledge = (ack: Ack, message: Message): Promise<boolean> => ack(privateAnswer(view(message)));

const senderOf = ({ user_id, channel_id, team_id, enterprise_id, api_app_id }: CommandPayload) => ({
  userId: user_id,
  channelId: channel_id,
  teamIds: [team_id],
  enterpriseId: enterprise_id,
  appId: api_app_id,
});

/** Slack gives each command its own `trigger_id`: a replay gets the same key, the same text typed again a new one. */
function commandOrigin(payload: CommandPayload, { clock, names }: Pick<ListenerContext, 'clock' | 'names'>): Origin {
  const { team_id, channel_id, channel_name, user_id, command, text, trigger_id, response_url } = payload;
  return {
    source: 'slash',
    dedupeKey: sha256(canonicalJson([team_id, channel_id, user_id, text, trigger_id])),
    teamId: team_id,
    channelId: asChannelId(channel_id),
    requesterId: asUserId(user_id),
    ...defined({
      inGroupMessage: channel_name?.startsWith('mpdm-') ? (true as const) : undefined,
      responseUrl: response_url,
      command: command !== names.command && isCommandName(command) ? command : undefined,
    }),
    receivedAtMs: clock.now(),
  };
}

const destinationOf = ({ channelId, requesterId, responseUrl, command }: Origin) => ({
  channelId,
  userId: requesterId,
  ...defined({ responseUrl, command }),
});
