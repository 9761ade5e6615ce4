import type { WebClient } from '@slack/web-api';
import { KdebugError } from '../../core/errors.ts';
import type { Log } from '../../flow/ports/machine.ts';
import { callSlack } from './errors.ts';

export interface Identity {
  readonly teamId: string;
  readonly enterpriseId?: string;
  readonly botUserId: string;
  /** The name that people type after `@`. */
  readonly botName?: string;
  readonly botId: string;
  readonly appId: string;
}

/**
 * Asks auth.test and bots.info. kdebug refuses to start without its app id, because it could not tell its own requests from another app's;
 * without a needed scope; and if installed for a whole organisation, because all its people would count as strangers.
 * @throws KdebugError slack_token_rejected, slack_unreachable, slack_refused, slack_scopes_missing, slack_org_install
 */
export async function learnIdentity(client: WebClient, log: Log): Promise<Identity> {
  const answer = await callSlack(() => client.auth.test());
  const { team_id, user_id, user, bot_id, enterprise_id } = answer;
  if (answer.is_enterprise_install === true || team_id?.startsWith('E')) throw new KdebugError('slack_org_install');
  if (!team_id || !user_id || !bot_id) {
    throw new KdebugError('slack_token_rejected', { detail: 'not a bot token (xoxb-…)' });
  }
  checkScopes(answer.response_metadata?.scopes, log);
  const { bot } = await callSlack(() => client.bots.info({ bot: bot_id }));
  if (!bot?.app_id) throw new KdebugError('slack_token_rejected', { detail: 'the bot belongs to no app' });
  return {
    teamId: team_id,
    ...(enterprise_id ? { enterpriseId: enterprise_id } : {}),
    botUserId: user_id,
    ...(user ? { botName: user } : {}),
    botId: bot_id,
    appId: bot.app_id,
  };
}

/**
 * The scopes that the app needs, each with what fails without it. Exactly the bot scopes of slack-app.yml, in its order
 * (test/contract/granted-scopes.test.ts).
 */
const NEEDED_FOR: Readonly<Record<string, string>> = {
  'app_mentions:read': 'mentions',
  'channels:history': 'finding what was posted before a crash',
  'channels:read': 'telling channels that are shared with another company',
  'chat:write': 'saying anything',
  commands: 'the slash command and the shortcuts',
  'files:read': 'jobs in files',
  'files:write': 'logs as files',
  'groups:history': 'finding what was posted in private channels before a crash',
  'groups:read': 'telling private channels that are shared with another company',
  'im:history': 'finding what was posted in direct messages before a crash',
  'im:write': 'direct messages',
  'usergroups:read': "who is in an approvers' group",
  'users:read': 'who is a member',
};

/** A free plan may not grant it. Without it no group member can vote, but no result is lost. */
const CAN_DO_WITHOUT: ReadonlySet<string> = new Set(['usergroups:read']);

export const BOT_SCOPES: readonly string[] = Object.keys(NEEDED_FOR);

export interface NeededScope {
  readonly scope: string;
  /** The features that fail without it. */
  readonly neededFor: string;
  readonly isOptional: boolean;
}

export const NEEDED_SCOPES: readonly NeededScope[] = Object.entries(NEEDED_FOR).map(([scope, neededFor]) => ({
  scope,
  neededFor,
  isOptional: CAN_DO_WITHOUT.has(scope),
}));

/**
 * Compares the granted scopes (header `x-oauth-scopes` of auth.test) with the needed ones. A missing scope would lose a result some day, so
 * kdebug does not start; only `usergroups:read` may be missing. Logs that, surplus scopes, and a missing header.
 * @throws KdebugError slack_scopes_missing
 */
function checkScopes(granted: readonly string[] | undefined, log: Log): void {
  if (granted === undefined) {
    log.warn('Slack did not name the granted scopes: a proxy may have removed the header x-oauth-scopes');
    return;
  }
  const notGranted = BOT_SCOPES.filter((scope) => !granted.includes(scope));
  if (notGranted.some((scope) => CAN_DO_WITHOUT.has(scope)))
    log.warn('Slack did not grant usergroups:read: approvers by user group cannot approve, name people or a channel');
  const missing = notGranted.filter((scope) => !CAN_DO_WITHOUT.has(scope));
  if (missing.length > 0) {
    const named = missing.map((scope) => `${scope} (${NEEDED_FOR[scope]})`).join(', ');
    throw new KdebugError('slack_scopes_missing', {
      detail: `missing: ${named}`,
      facts: { missing: missing.join(' ') },
    });
  }
  const surplus = granted.filter((scope) => scope !== '' && !BOT_SCOPES.includes(scope));
  if (surplus.length > 0) {
    const scopes = surplus.join(' ');
    log.warn('the Slack app has more scopes than kdebug uses: slack-app.yml lists all that it needs', { scopes });
  }
}
