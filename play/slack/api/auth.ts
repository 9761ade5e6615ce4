import type { Json } from '../state/message.ts';
import { optional } from './args.ts';
import type { Call, Method } from './method.ts';
import { SlackError } from './slack-error.ts';

function authTest({ slack, token }: Call): Json {
  const { team, app } = slack;
  if (token.kind === 'app') return { app_name: 'kdebug', app_id: app.appId };
  const enterprise = team.enterpriseId === undefined ? {} : { enterprise_id: team.enterpriseId };
  return {
    url: `https://${team.domain}.slack.com/`,
    team: team.name,
    user: team.users[app.botUserId]?.name ?? 'kdebug',
    team_id: team.isEnterpriseInstall ? team.enterpriseId : team.id,
    user_id: app.botUserId,
    bot_id: app.botId,
    is_enterprise_install: team.isEnterpriseInstall ?? false,
    ...enterprise,
  };
}

function botsInfo({ slack, args }: Call): Json {
  const { app } = slack;
  const id = optional(args, 'bot') ?? app.botId;
  if (id !== app.botId) throw new SlackError('bot_not_found');
  return {
    bot: { id, deleted: false, name: 'kdebug', updated: 0, app_id: app.appId, user_id: app.botUserId, icons: {} },
  };
}

function apiTest({ args }: Call): Json {
  const error = optional(args, 'error');
  if (error !== undefined) throw new SlackError(error, { args: { ...args } });
  return { args: { ...args } };
}

/** docs.slack.dev: auth.test, api.test, bots.info, apps.connections.open */
export const AUTH_METHODS: readonly Method[] = [
  { name: 'auth.test', token: 'any', scopes: [], tier: 'special', run: authTest },
  { name: 'api.test', token: 'any', scopes: [], tier: 'special', run: apiTest },
  { name: 'bots.info', token: 'bot', scopes: ['users:read'], tier: 'tier3', takes: 'form', run: botsInfo },
  {
    name: 'apps.connections.open',
    token: 'app',
    scopes: ['connections:write'],
    tier: 'tier3',
    run: (call) => ({ url: call.openSocket() }),
  },
];
