import type { WebClient } from '@slack/web-api';
import { KdebugError } from '../../core/errors.ts';
import { asked } from './asking.ts';

/** Who we are in Slack, learnt at the start. */
export interface Identity {
  readonly teamId: string;
  readonly enterpriseId?: string;
  readonly botUserId: string;
  readonly botId: string;
  readonly appId: string;
}

/**
 * Asks auth.test and bots.info. Without the app's id nobody could be told from another app, so there is no start.
 * @throws KdebugError slack_token_rejected, slack_unreachable, slack_refused (`users:read` is missing, for example)
 */
export async function learnIdentity(client: WebClient): Promise<Identity> {
  const { team_id, user_id, bot_id, enterprise_id } = await asked(() => client.auth.test());
  if (!team_id || !user_id || !bot_id) {
    throw new KdebugError('slack_token_rejected', { detail: 'it is not the token of a bot (xoxb-…)' });
  }
  const { bot } = await asked(() => client.bots.info({ bot: bot_id }));
  if (!bot?.app_id) throw new KdebugError('slack_token_rejected', { detail: 'its bot belongs to no app' });
  return {
    teamId: team_id,
    ...(enterprise_id ? { enterpriseId: enterprise_id } : {}),
    botUserId: user_id,
    botId: bot_id,
    appId: bot.app_id,
  };
}
