import type { AckFn, RespondArguments } from '@slack/bolt';
import { KdebugError } from '../../../core/errors.ts';
import { canonicalJson, sha256 } from '../../../core/hash.ts';
import { asChannelId, asUserId } from '../../../core/ids.ts';
import type { Message } from '../../../core/report/message.ts';
import type { Origin } from '../../../core/run/run.ts';
import { CommandPayload } from '../payloads.ts';
import { privateAnswer } from '../thread/tell.ts';
import { view } from '../views/view.ts';
import { answerOf, type ListenerContext, refusal } from './answer.ts';
import { reasonToRefuse } from './sender.ts';

type Ack = AckFn<string | RespondArguments>;

/**
 * `/kdebug …`: stored first, acknowledged then, the inbox's message riding on the acknowledgement. Always within 3 s.
 * The form that `/kdebug` alone opens will begin here: for now empty words go to the inbox like any others.
 */
export async function onCommand(context: ListenerContext, body: unknown, ack: Ack): Promise<void> {
  const payload = CommandPayload.safeParse(body);
  if (!payload.success) return say(ack, refusal(new KdebugError('slack_payload_invalid')));
  const refused = reasonToRefuse(senderOf(payload.data), context.identity);
  if (refused) return say(ack, refusal(new KdebugError(refused)));
  const { message } = await answerOf(context, () =>
    context.inbox.command(originOf(payload.data, context.clock.now()), payload.data.text),
  );
  return message ? say(ack, message) : ack();
}

const say = (ack: Ack, message: Message): Promise<void> => ack(privateAnswer(view(message)));

const senderOf = ({ team_id, enterprise_id, api_app_id }: CommandPayload) => ({
  teamIds: [team_id],
  enterpriseId: enterprise_id,
  appId: api_app_id,
});

/** Slack gives each submission its own `trigger_id`: a replay has the same key, the same words typed again have another. */
function originOf(payload: CommandPayload, nowMs: number): Origin {
  const { team_id, channel_id, user_id, text, trigger_id, response_url } = payload;
  return {
    source: 'slash',
    dedupeKey: sha256(canonicalJson([team_id, channel_id, user_id, text, trigger_id])),
    teamId: team_id,
    channelId: asChannelId(channel_id),
    requesterId: asUserId(user_id),
    ...(response_url === undefined ? {} : { responseUrl: response_url }),
    receivedAtMs: nowMs,
  };
}
