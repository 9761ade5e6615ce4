import { WebClient } from '@slack/web-api';
import { afterEach, describe, expect, it } from 'vitest';
import { type LocalSlack, type LocalSlackOptions, startLocalSlack } from '../../../play/slack/index.ts';
import { createClient } from '../../../src/adapters/slack/client.ts';
import { BOT_SCOPES, learnIdentity } from '../../../src/adapters/slack/identity.ts';
import { RecordingLog, startWorld } from './harness.ts';

const without = (scope: string) => BOT_SCOPES.filter((one) => one !== scope);
let local: LocalSlack;
afterEach(() => local?.stop());

async function start(options: LocalSlackOptions = {}) {
  local = await startLocalSlack(options);
  const log = new RecordingLog();
  const learn = () => learnIdentity(createClient(local.botToken, local.apiUrl, log), log);
  return { log, learn };
}

describe('what the app was granted', () => {
  it('is all of the manifest: the start says nothing of it', async () => {
    const { log, learn } = await start();
    await expect(learn()).resolves.toMatchObject({ appId: 'A0KDEBUG' });
    expect(log.records).toEqual([]);
  });

  it.each(BOT_SCOPES.filter((scope) => scope !== 'usergroups:read'))(
    'without %s there is no start, and the error names it and how to fix it',
    async (scope) => {
      const { learn } = await start({ scopes: without(scope) });
      await expect(learn()).rejects.toMatchObject({
        code: 'slack_scopes_missing',
        detail: expect.stringContaining(`missing: ${scope} (`),
        hint: expect.stringMatching(/slack-app\.json.*reinstall.*restart/),
      });
    },
  );

  it('may lack usergroups:read, as on a free plan: that is a warning, and nobody of a group can vote', async () => {
    const { log, learn } = await start({ scopes: without('usergroups:read') });
    await expect(learn()).resolves.toMatchObject({ appId: 'A0KDEBUG' });
    expect(log.records).toMatchObject([{ level: 'warn', message: expect.stringContaining('usergroups:read') }]);
  });

  it('names everything that is missing at once', async () => {
    const { learn } = await start({ scopes: ['chat:write', 'commands'] });
    await expect(learn()).rejects.toMatchObject({
      facts: { missing: expect.stringMatching(/im:history.*users:read/) },
    });
  });

  it('is more than the manifest: that is a warning', async () => {
    const { log, learn } = await start({ scopes: [...BOT_SCOPES, 'chat:write.public', 'users:read.email'] });
    await learn();
    expect(log.records).toMatchObject([{ level: 'warn', fields: { scopes: 'chat:write.public users:read.email' } }]);
  });

  it('is not said, because a proxy took the header away: that is a warning', async () => {
    local = await startLocalSlack();
    const log = new RecordingLog();
    const client = new WebClient(local.botToken, {
      slackApiUrl: local.apiUrl,
      fetch: async (input, init) => {
        const { status, body } = await fetch(input, init);
        return new Response(body, { status });
      },
    });
    await learnIdentity(client, log);
    expect(log.records).toMatchObject([{ level: 'warn', message: expect.stringContaining('x-oauth-scopes') }]);
  });

  it('is looked at by the start of kdebug itself', async () => {
    await expect(startWorld('http', { scopes: without('im:history') })).rejects.toThrow(/im:history/);
  });
});

describe('an installation for a whole organisation', () => {
  it('is refused, with a sentence', async () => {
    const { learn } = await start({
      team: (team) => {
        team.enterpriseId = 'E0ORG';
        team.isEnterpriseInstall = true;
      },
    });
    await expect(learn()).rejects.toMatchObject({
      code: 'slack_org_install',
      hint: expect.stringContaining('one workspace of the organisation'),
    });
  });

  it('is told by the team alone, where Slack does not say it otherwise', async () => {
    const { learn } = await start({
      team: (team) => {
        team.id = 'E0ORG';
      },
    });
    await expect(learn()).rejects.toMatchObject({ code: 'slack_org_install' });
  });

  it('is not what one workspace of an organisation is', async () => {
    const { learn } = await start({
      team: (team) => {
        team.enterpriseId = 'E0ORG';
      },
    });
    await expect(learn()).resolves.toMatchObject({ teamId: 'T0LOCAL', enterpriseId: 'E0ORG' });
  });
});
