import { KdebugError } from '../../core/errors.ts';
import type { SlackChannel, SlackIdentity, SlackProbe } from '../../doctor/probes.ts';
import type { Log } from '../../flow/ports/machine.ts';
import type { Clock } from '../../lib/clock.ts';
import { createClient } from './client.ts';
import { createDirectory } from './directory.ts';
import { createEgress, type SlackProxy } from './egress.ts';
import { callSlack } from './errors.ts';
import { type Identity, NEEDED_SCOPES } from './identity.ts';

export interface SlackProbeOptions {
  readonly botToken: string;
  readonly apiUrl: string;
  readonly proxy?: SlackProxy;
  readonly clock: Clock;
}

const NO_LOG: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** The questions that `doctor` has for Slack, each asked once, by the connections that kdebug itself uses. It receives nothing and posts nothing. */
export function createSlackProbe({ botToken, apiUrl, proxy, clock }: SlackProbeOptions): SlackProbe {
  const egress = createEgress(proxy);
  let slackMs: number | undefined;
  const onDate = (date: string | null): void => {
    const atMs = Date.parse(date ?? '');
    if (Number.isFinite(atMs)) slackMs = atMs;
  };
  const client = createClient(botToken, apiUrl, NO_LOG, { onDate, send: egress.fetch });
  let identity: Identity | undefined;
  const directory = createDirectory({ client, clock, identity: () => identity });

  return {
    proxy: egress.shown,
    async identity(): Promise<SlackIdentity> {
      const sentAtMs = clock.now();
      const answer = await callSlack(() => client.auth.test());
      const answeredAtMs = clock.now();
      const {
        team = '',
        team_id: teamId,
        user = '',
        user_id: userId,
        bot_id: botId,
        enterprise_id: enterpriseId,
      } = answer;
      if (!teamId || !userId || !botId)
        throw new KdebugError('slack_token_rejected', { detail: 'not a bot token (xoxb-…)' });
      const { bot } = await callSlack(() => client.bots.info({ bot: botId })).catch(withoutScope);
      const appId = bot?.app_id ?? '';
      identity = { teamId, botUserId: userId, botId, appId, ...(enterpriseId ? { enterpriseId } : {}) };
      return {
        team,
        teamId,
        user,
        userId,
        appId,
        isOrgInstall: answer.is_enterprise_install === true || teamId.startsWith('E'),
        scopes: answer.response_metadata?.scopes,
        neededScopes: NEEDED_SCOPES,
        // The header has whole seconds, so its middle is the best guess.
        aheadMs: slackMs === undefined ? undefined : answeredAtMs - slackMs - 500,
        tookMs: answeredAtMs - sentAtMs,
      };
    },
    async openSocket(appToken) {
      const socket = createClient(appToken, apiUrl, NO_LOG, { send: egress.fetch });
      await callSlack(() => socket.apps.connections.open());
    },
    async channel(channelId): Promise<SlackChannel> {
      const { channel } = await callSlack(() => client.conversations.info({ channel: channelId }));
      return {
        name: channel?.name ?? '',
        isMember: channel?.is_member === true,
        isShared: channel?.is_ext_shared !== false || channel.is_pending_ext_shared !== false,
        isArchived: channel?.is_archived === true,
      };
    },
    groupSize: async (usergroupId) => (await directory.members(usergroupId)).size,
    async person(userId) {
      const { kind, name } = await directory.person(userId);
      return { isMember: kind === 'member', name };
    },
    close: () => egress.close(),
  };
}

/** Without users:read the app's own id is unknown; the scopes' own check says what is missing. */
function withoutScope(thrown: unknown): { readonly bot?: { readonly app_id?: string } } {
  if (thrown instanceof KdebugError && thrown.facts.error === 'missing_scope') return {};
  throw thrown;
}
