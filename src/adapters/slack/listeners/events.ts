import { type KdebugError, toKdebugError } from '../../../core/errors.ts';
import type { Message } from '../../../core/say/message/message.ts';
import { HomePayload, JoinedPayload } from '../payloads.ts';
import { homeTab } from '../views/view.ts';
import { admit, type Delivered, type ListenerContext, refusal } from './gate.ts';
import { isLate } from './lateness.ts';
import { respond } from './respond.ts';

/**
 * The bot came into a channel (`member_joined_channel`): a welcome, for whoever invited it. Ignores other people's joins, and its own without
 * an inviter, because then nobody is there to authorise, and an old one. Resolves when the event may be acknowledged.
 */
export async function onJoined({ context, handler, body }: Delivered): Promise<void> {
  const payload = JoinedPayload.safeParse(body);
  if (!payload.success) {
    context.log.warn('malformed join event ignored');
    return;
  }
  const { event, team_id, enterprise_id, api_app_id } = payload.data;
  const { identity, inbox } = context;
  const { inviter: userId, channel: channelId } = event;
  if (event.user !== identity.botUserId || userId === undefined || userId === identity.botUserId) return;
  if (isLate(payload.data.event_time, context.clock.now())) {
    context.log.info('late invitation not answered', { channelId });
    return;
  }
  const sender = { userId, channelId, teamIds: [team_id], enterpriseId: enterprise_id, appId: api_app_id };
  const call = () => inbox.invited({ teamId: team_id, userId, channelId });
  const admission = await admit({ context, handler }, { sender, call });
  if (admission.kind === 'refused') {
    if (isOfOurTeam(admission.error)) respond(context, { destination: { channelId, userId } }, admission);
    return;
  }
  const { answer } = admission;
  if (answer.kind === 'post') return context.inBackground(announce(context, channelId, answer.message));
  respond(context, { destination: { channelId, userId } }, { kind: 'answered', answer });
}

/** Post nothing into another team's or app's channel. */
const isOfOurTeam = ({ code }: KdebugError): boolean => code !== 'slack_not_our_team';

/** Only logs a failure: nobody waits. */
async function announce(context: ListenerContext, channelId: string, message: Message): Promise<void> {
  try {
    await context.announce(channelId, message);
  } catch (thrown) {
    const { code, detail } = toKdebugError(thrown);
    context.log.warn('welcome not posted', { channelId, code, detail });
  }
}

/**
 * Somebody opened the Home tab (`app_home_opened`): shows what concerns them, or why they may not use kdebug. Slack sends the event for the
 * Messages tab, too. Resolves when the event may be acknowledged.
 */
export async function onHomeOpened({ context, handler, body }: Delivered): Promise<void> {
  const payload = HomePayload.safeParse(body);
  if (!payload.success) {
    context.log.warn('malformed Home event ignored');
    return;
  }
  const { event, team_id, enterprise_id, api_app_id } = payload.data;
  const { user: userId, channel: channelId, tab } = event;
  if (tab !== 'home') return;
  const sender = { userId, channelId, teamIds: [team_id], enterpriseId: enterprise_id, appId: api_app_id };
  const call = () => context.inbox.home({ teamId: team_id, userId, channelId });
  const admission = await admit({ context, handler }, { sender, call });
  if (admission.kind === 'answered') {
    if (admission.answer) context.inBackground(publish(context, userId, admission.answer));
  } else if (isOfOurTeam(admission.error))
    context.inBackground(publish(context, userId, refusal(admission.error, context.names)));
}

/** Only logs a failure: the next visit publishes again. */
async function publish(context: ListenerContext, userId: string, message: Message): Promise<void> {
  try {
    await context.publishHome(userId, homeTab(message));
  } catch (thrown) {
    const { code, detail } = toKdebugError(thrown);
    context.log.warn('Home tab not published', { userId, code, detail });
  }
}
