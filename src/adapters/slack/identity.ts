import type { WebClient } from '@slack/web-api';
import { KdebugError } from '../../core/errors.ts';
import type { Log } from '../../flow/ports.ts';
import { troubleOf } from './poster/slack-errors.ts';

/** Who we are in Slack, learnt at the start. */
export interface Identity {
  readonly teamId: string;
  readonly enterpriseId?: string;
  readonly botUserId: string;
  readonly botId: string;
  /** Absent when bots.info may not be called (`users:read`). */
  readonly appId?: string;
}

/**
 * Asks auth.test and bots.info.
 * @throws KdebugError slack_token_rejected, slack_unreachable, slack_refused
 */
export async function learnIdentity(client: WebClient, log: Log): Promise<Identity> {
  const { team_id, user_id, bot_id, enterprise_id } = await asked(() => client.auth.test());
  if (!team_id || !user_id || !bot_id) {
    throw new KdebugError('slack_token_rejected', { detail: 'it is not the token of a bot (xoxb-…)' });
  }
  const appId = await learnAppId(client, bot_id, log);
  return {
    teamId: team_id,
    ...(enterprise_id ? { enterpriseId: enterprise_id } : {}),
    botUserId: user_id,
    botId: bot_id,
    ...(appId ? { appId } : {}),
  };
}

async function learnAppId(client: WebClient, botId: string, log: Log): Promise<string | undefined> {
  try {
    return (await asked(() => client.bots.info({ bot: botId }))).bot?.app_id;
  } catch (thrown) {
    if (!(thrown instanceof KdebugError) || thrown.code !== 'slack_refused') throw thrown;
    log.warn('the own app id is unknown, so requests are not checked against it', { error: thrown.facts.error });
    return undefined;
  }
}

async function asked<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (thrown) {
    const trouble = troubleOf(thrown);
    if (trouble.kind === 'error' && trouble.error.code !== 'slack_unanswered') throw trouble.error;
    throw new KdebugError('slack_unreachable', { cause: thrown });
  }
}
