import { KdebugError } from '../../../core/errors.ts';
import type { Message } from '../../../core/report/message.ts';
import { ClickPayload } from '../payloads.ts';
import { answerOf, type ListenerContext, refusal } from './answer.ts';
import { tellOrLog } from './mention.ts';
import { reasonToRefuse } from './sender.ts';

/**
 * A click on any button. It is only a hint: the verb and an id, which the inbox judges from its own state. Acknowledged
 * after that; what it says goes privately to who clicked, because a click's acknowledgement cannot carry words.
 */
export async function onButton(context: ListenerContext, body: unknown, ack: () => Promise<void>): Promise<void> {
  const payload = ClickPayload.safeParse(body);
  if (!payload.success) {
    context.log.warn('a click was not understood and is left out');
    return ack();
  }
  const message = await judge(context, payload.data);
  await ack();
  if (message) context.inBackground(tellOrLog(context, placeOf(payload.data), message));
}

async function judge(context: ListenerContext, payload: ClickPayload): Promise<Message | undefined> {
  const refused = reasonToRefuse(senderOf(payload), context.identity);
  if (refused) return refusal(new KdebugError(refused));
  const [{ action_id, value }] = payload.actions;
  const click = {
    action: action_id,
    value,
    teamId: payload.user.team_id ?? payload.team?.id ?? context.identity.teamId,
    userId: payload.user.id,
    channelId: payload.channel.id,
    messageTs: payload.message.ts,
  };
  return (await answerOf(context, () => context.inbox.action(click))).message;
}

const senderOf = ({ team, enterprise, user, api_app_id }: ClickPayload) => ({
  teamIds: [team?.id, user.team_id],
  enterpriseId: enterprise?.id ?? team?.enterprise_id,
  appId: api_app_id,
});

const placeOf = ({ channel, user, message, response_url }: ClickPayload) => ({
  channelId: channel.id,
  userId: user.id,
  ...(message.thread_ts === undefined ? {} : { threadTs: message.thread_ts }),
  ...(response_url === undefined ? {} : { responseUrl: response_url }),
});
