import type { AckFn, RespondArguments } from '@slack/bolt';
import { KdebugError } from '../../../core/errors.ts';
import { canonicalJson, sha256 } from '../../../core/hash.ts';
import { asChannelId, asUserId } from '../../../core/ids.ts';
import type { Message } from '../../../core/report/message.ts';
import type { Origin } from '../../../core/run/run.ts';
import { CommandPayload } from '../payloads.ts';
import { privateAnswer } from '../thread/tell.ts';
import { view } from '../views/view.ts';
import { answerOf, type Delivered, refusal } from './gate.ts';
import { reply } from './respond.ts';

type Ack = AckFn<string | RespondArguments>;

/**
 * `/kdebug …`: stored first, acknowledged then, the inbox's message riding on the acknowledgement; a form is opened right
 * after it. Always within 3 s.
 */
export async function onCommand({ context, handler, body }: Delivered, ack: Ack): Promise<void> {
  const payload = CommandPayload.safeParse(body);
  if (!payload.success) return say(ack, refusal(new KdebugError('slack_payload_invalid')));
  const origin = originOf(payload.data, context.clock.now());
  const { text, trigger_id } = payload.data;
  const outcome = await answerOf(
    { context, handler },
    { sender: senderOf(payload.data), ask: () => context.inbox.command(origin, text) },
  );
  if (outcome.kind === 'refused') return say(ack, refusal(outcome.error));
  if (outcome.answer.kind === 'message') return say(ack, outcome.answer.message);
  await ack();
  reply(context, { place: placeOf(origin), triggerId: trigger_id }, outcome);
}

const say = (ack: Ack, message: Message): Promise<void> => ack(privateAnswer(view(message)));

const senderOf = ({ user_id, channel_id, team_id, enterprise_id, api_app_id }: CommandPayload) => ({
  userId: user_id,
  channelId: channel_id,
  teamIds: [team_id],
  enterpriseId: enterprise_id,
  appId: api_app_id,
});

/** Slack gives each submission its own `trigger_id`: a replay has the same key, the same words typed again have another. */
function originOf(payload: CommandPayload, nowMs: number): Origin {
  const { team_id, channel_id, channel_name, user_id, text, trigger_id, response_url } = payload;
  return {
    source: 'slash',
    dedupeKey: sha256(canonicalJson([team_id, channel_id, user_id, text, trigger_id])),
    teamId: team_id,
    channelId: asChannelId(channel_id),
    requesterId: asUserId(user_id),
    ...(channel_name?.startsWith('mpdm-') && { inGroupMessage: true as const }),
    ...(response_url === undefined ? {} : { responseUrl: response_url }),
    receivedAtMs: nowMs,
  };
}

const placeOf = ({ channelId, requesterId, responseUrl }: Origin) => ({
  channelId,
  userId: requesterId,
  ...(responseUrl === undefined ? {} : { responseUrl }),
});
