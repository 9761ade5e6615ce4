import type { AckFn, RespondArguments } from '@slack/bolt';
import { KdebugError } from '../../../core/errors.ts';
import { canonicalJson, sha256 } from '../../../core/hash.ts';
import { asChannelId, asUserId } from '../../../core/ids.ts';
import type { Message } from '../../../core/report/message.ts';
import type { Origin } from '../../../core/run/run.ts';
import { defined } from '../../../lib/object.ts';
import { CommandPayload } from '../payloads.ts';
import { privateAnswer } from '../thread/tell.ts';
import { view } from '../views/view.ts';
import { admit, type Delivered, refusal } from './gate.ts';
import { respond } from './respond.ts';

type Ack = AckFn<string | RespondArguments>;

/** `/kdebug …`: stored, then acknowledged within 3 s with the inbox's message. A form opens right after that. */
export async function onCommand({ context, handler, body }: Delivered, ack: Ack): Promise<void> {
  const payload = CommandPayload.safeParse(body);
  if (!payload.success) return acknowledge(ack, refusal(new KdebugError('slack_payload_invalid')));
  const origin = originOf(payload.data, context.clock.now());
  const { text, trigger_id } = payload.data;
  const admission = await admit(
    { context, handler },
    { sender: senderOf(payload.data), call: () => context.inbox.command(origin, text) },
  );
  if (admission.kind === 'refused') return acknowledge(ack, refusal(admission.error));
  if (admission.answer.kind === 'message') return acknowledge(ack, admission.answer.message);
  await ack();
  respond(context, { destination: destinationOf(origin), triggerId: trigger_id }, admission);
}

const acknowledge = (ack: Ack, message: Message): Promise<void> => ack(privateAnswer(view(message)));

const senderOf = ({ user_id, channel_id, team_id, enterprise_id, api_app_id }: CommandPayload) => ({
  userId: user_id,
  channelId: channel_id,
  teamIds: [team_id],
  enterpriseId: enterprise_id,
  appId: api_app_id,
});

/** Slack gives each command its own `trigger_id`: a replay gets the same key, the same text typed again a new one. */
function originOf(payload: CommandPayload, nowMs: number): Origin {
  const { team_id, channel_id, channel_name, user_id, text, trigger_id, response_url } = payload;
  return {
    source: 'slash',
    dedupeKey: sha256(canonicalJson([team_id, channel_id, user_id, text, trigger_id])),
    teamId: team_id,
    channelId: asChannelId(channel_id),
    requesterId: asUserId(user_id),
    ...defined({
      inGroupMessage: channel_name?.startsWith('mpdm-') ? (true as const) : undefined,
      responseUrl: response_url,
    }),
    receivedAtMs: nowMs,
  };
}

const destinationOf = ({ channelId, requesterId, responseUrl }: Origin) => ({
  channelId,
  userId: requesterId,
  ...defined({ responseUrl }),
});
