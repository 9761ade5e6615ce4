import type { WebClient } from '@slack/web-api';
import { KdebugError } from '../../core/errors.ts';
import type { Log } from '../../flow/ports/machine.ts';
import { asked } from './asking.ts';
import { checkScopes } from './scopes.ts';

/** Who we are in Slack, learnt at the start. */
export interface Identity {
  readonly teamId: string;
  readonly enterpriseId?: string;
  readonly botUserId: string;
  readonly botId: string;
  readonly appId: string;
}

/**
 * Asks auth.test and bots.info. Without the app's id nobody could be told from another app, so there is no start; neither without
 * what the app must be granted, nor for a whole organisation, whose people would all count as strangers.
 * @throws KdebugError slack_token_rejected, slack_unreachable, slack_refused, slack_scopes_missing, slack_org_install
 */
export async function learnIdentity(client: WebClient, log: Log): Promise<Identity> {
  const answer = await asked(() => client.auth.test());
  const { team_id, user_id, bot_id, enterprise_id } = answer;
  if (answer.is_enterprise_install === true || team_id?.startsWith('E')) throw new KdebugError('slack_org_install');
  if (!team_id || !user_id || !bot_id) {
    throw new KdebugError('slack_token_rejected', { detail: 'it is not the token of a bot (xoxb-…)' });
  }
  checkScopes(answer.response_metadata?.scopes, log);
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
