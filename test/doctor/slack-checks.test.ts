import { afterEach, describe, expect, it } from 'vitest';
import type { Team } from '../../play/slack/index.ts';
import { startOpsServer } from '../../src/adapters/http/index.ts';
import { createMetrics } from '../../src/adapters/metrics/index.ts';
import { BOT_SCOPES } from '../../src/adapters/slack/identity.ts';
import { Refusals } from '../../src/adapters/slack/receiving/refusals.ts';
import type { SlackIdentity, SlackProbe } from '../../src/doctor/probes.ts';
import { checkSlack } from '../../src/doctor/slack-checks.ts';
import { RecordingLog, realClock } from '../adapters/slack/harness.ts';
import { Bed, type BedOptions, type PolicyParts, policyOf } from './bed.ts';

let bed: Bed;
afterEach(() => bed?.close());

async function ask(parts: PolicyParts = {}, options: BedOptions['slack'] = {}, variables: NodeJS.ProcessEnv = {}) {
  bed = await Bed.open({ slack: options });
  return bed.ask(policyOf(parts), variables);
}

describe('the bot token', () => {
  it.each(['invalid_auth', 'token_revoked', 'account_inactive', 'team_disabled', 'user_removed_from_team'])(
    'that Slack refuses with %s fails alone: nothing else can be asked',
    async (kind) => {
      bed = await Bed.open();
      bed.slack.faults.queue({ method: 'auth.test', kind });
      const said = await bed.ask(policyOf());
      expect(said.checks.filter(({ area }) => area === 'slack')).toHaveLength(1);
      expect(said.check('slack', 'bot token')).toMatchObject({
        state: 'fail',
        result: `Slack refuses it (${kind})`,
        fix: [
          expect.stringContaining('xoxb-'),
          expect.stringContaining('secret kdebug   # add a line: stringData: { SLACK_BOT_TOKEN: … }'),
          expect.stringContaining('rollout restart'),
        ],
      });
    },
  );

  it('cannot be tried when Slack is away: the line names the cause', async () => {
    const said = await ask({}, {}, { SLACK_API_URL: 'http://127.0.0.1:2/api/' });
    expect(said.check('slack', 'bot token')).toMatchObject({ result: 'nothing listens at 127.0.0.1:2 (ECONNREFUSED)' });
  });

  it('of a whole organisation fails', async () => {
    const said = await ask(
      {},
      { team: (team) => Object.assign(team, { enterpriseId: 'E0ORG', isEnterpriseInstall: true }) },
    );
    expect(said.check('slack', 'installation').state).toBe('fail');
  });
});

describe('the granted scopes', () => {
  it.each(['im:history', 'users:read'])('without %s fail, and the line names it', async (scope) => {
    const said = await ask({}, { scopes: BOT_SCOPES.filter((one) => one !== scope) });
    expect(said.check('slack', 'scopes')).toMatchObject({
      state: 'fail',
      result: expect.stringContaining(`missing: ${scope} (`),
    });
  });

  it('may lack usergroups:read, and may be more than needed: warnings', async () => {
    const lacking = await ask({}, { scopes: BOT_SCOPES.filter((one) => one !== 'usergroups:read') });
    expect(lacking.check('slack', 'scopes')).toMatchObject({
      state: 'warn',
      result: expect.stringContaining('usergroups:read'),
    });
    await bed.close();
    const more = await ask({}, { scopes: [...BOT_SCOPES, 'chat:write.public'] });
    expect(more.check('slack', 'scopes')).toMatchObject({
      state: 'warn',
      result: expect.stringContaining('chat:write.public'),
    });
  });
});

describe('receiving', () => {
  it('by an app token without connections:write fails', async () => {
    const said = await ask({}, { appScopes: ['authorizations:read'] });
    expect(said.check('slack', 'app token')).toMatchObject({ state: 'fail', result: 'lacks connections:write' });
  });

  it('by Socket Mode promises no more than the token: Slack says only on a connection that it is off', async () => {
    bed = await Bed.open();
    bed.slack.sockets.switchedOff = true;
    const said = await bed.ask(policyOf());
    expect(said.check('slack', 'app token')).toMatchObject({
      state: 'ok',
      result: expect.stringContaining('slack_socket_mode_off'),
    });
  });

  it('by a token that is none of Slack’s, or of another app, fails', async () => {
    const wrong = await ask({}, {}, { SLACK_APP_TOKEN: 'xapp-wrong' });
    expect(wrong.check('slack', 'app token')).toMatchObject({
      state: 'fail',
      result: 'Slack refuses it (invalid_auth)',
    });
    await bed.close();
    bed = await Bed.open();
    Object.assign(bed.slack.state.app, { appToken: 'xapp-1-A0ELSE-1-secret' });
    const other = await bed.ask(policyOf(), {});
    expect(other.check('slack', 'app token')).toMatchObject({
      state: 'fail',
      result: 'belongs to the app A0ELSE, the bot token to A0KDEBUG',
    });
    expect(other.text).not.toContain('A0ELSE-1-secret');
  });

  it('by HTTP needs the signing secret, of which the doctor promises nothing where no kdebug answers', async () => {
    const said = await ask({}, {}, HTTP);
    expect(said.check('slack', 'signing secret')).toMatchObject({
      state: 'warn',
      result: expect.stringContaining('cannot be seen from here'),
      fix: [expect.stringContaining('exec deploy/kdebug -- node main.js doctor')],
    });
    expect(said.checks.filter(({ what }) => what === 'app token')).toEqual([]);
  });
});

const HTTP = { SLACK_APP_TOKEN: '', SLACK_SIGNING_SECRET: 'some-signing-secret' };

describe('over HTTP the kdebug that runs here says', () => {
  const look = async (happened: (refusals: Refusals) => void) => {
    const refusals = new Refusals({ clock: realClock, log: new RecordingLog() });
    happened(refusals);
    const ops = await startOpsServer({
      port: 0,
      host: '127.0.0.1',
      checks: { slack: async () => undefined },
      infos: { policy: () => ['in force'], requests: () => refusals.lines() },
      metrics: createMetrics({ clock: realClock, ofProcess: false }),
      clock: realClock,
    });
    const said = await ask({}, {}, { ...HTTP, OPS_PORT: String(ops.port) });
    await ops.close();
    return said;
  };

  it('that the signing secret is another one, which fails', async () => {
    const said = await look((refusals) => refusals.refused('signature'));
    expect(said.check('slack', 'signing secret')).toMatchObject({
      state: 'fail',
      result: expect.stringMatching(/refused since \d{4}-.+, 1 in all/),
      fix: [
        expect.stringContaining('Basic Information'),
        expect.stringContaining('SLACK_SIGNING_SECRET'),
        expect.stringContaining('rollout restart'),
      ],
    });
    expect(said.exitCode).toBe(1);
  });

  it('that the clock is off, which fails', async () => {
    const said = await look((refusals) => refusals.refused('clock', 310_000));
    expect(said.check('slack', 'requests')).toMatchObject({
      state: 'fail',
      fix: [expect.stringContaining('timedatectl')],
    });
  });

  it('that requests are accepted', async () => {
    const said = await look((refusals) => refusals.accepted());
    expect(said.check('slack', 'signing secret')).toMatchObject({
      state: 'ok',
      result: expect.stringMatching(/^is right: requests are accepted, the last one /),
    });
  });

  it('that none came yet: nothing is proven', async () => {
    const said = await look(() => undefined);
    expect(said.check('slack', 'signing secret')).toMatchObject({
      state: 'warn',
      result: expect.stringContaining('no request from Slack has come yet'),
    });
  });
});

describe('a channel of the policy', () => {
  it.each([
    ['C0SHOP', 'name: "#shop-oncall"', 'ok', /^kdebug is in it$/],
    ['C0SHOP', 'name: "#shop-old-name"', 'warn', /Slack calls it #shop-oncall/],
    ['C0OTHER', 'name: "#other"', 'fail', /kdebug is not in it/],
    ['C0DARK', 'name: "#dark"', 'fail', /shows no such channel/],
    ['C0NOWHERE', 'name: "#no"', 'fail', /shows no such channel/],
    ['C0OLD', 'name: "#old"', 'fail', /archived/],
  ])('%s with %s: %s', async (id, settings, state, result) => {
    const said = await ask({ channels: { [id]: settings } });
    expect(said.check('slack', new RegExp(`^channel ${id}`))).toMatchObject({
      state,
      result: expect.stringMatching(result),
    });
  });

  it.each(['C0OTHER', 'C0DARK', 'C0OLD', 'C0OPS'])(
    '%s, where nothing can be said, names the alerts that are refused',
    async (id) => {
      const alerts = `{ pay: { source: alertmanager, secretEnv: SECRET, channel: ${id} } }`;
      const team = ({ channels }: Team): void =>
        void Object.assign(channels.C0OPS ?? {}, { is_pending_ext_shared: true });
      const said = await ask({ alerts, channels: { [id]: 'name: "#name"' } }, { team });
      expect(said.check('slack', new RegExp(`^channel ${id}`))).toMatchObject({
        state: 'fail',
        result: expect.stringContaining('alerts of pay are refused with 503'),
      });
    },
  );

  it('that another company shares fails, unless the policy allows it', async () => {
    const shared = (team: { channels: Record<string, { is_ext_shared: boolean }> }) => {
      Object.assign(team.channels.C0OPS ?? {}, { is_ext_shared: true });
    };
    const denied = await ask({ channels: { C0OPS: 'name: "#ops"' } }, { team: shared });
    expect(denied.check('slack', /^channel C0OPS/).state).toBe('fail');
    await bed.close();
    const allowed = await ask({ channels: { C0OPS: 'name: "#ops", slackConnect: allowed' } }, { team: shared });
    expect(allowed.check('slack', /^channel C0OPS/).state).toBe('ok');
  });

  it('waits for nobody: when Slack limits the rate, the line says how many are left', async () => {
    bed = await Bed.open();
    bed.slack.faults.queue({ method: 'conversations.info', kind: 'ratelimited', skip: 1, times: 9 });
    const said = await bed.ask(policyOf({ channels: { C0SHOP: 'name: a', C0OPS: 'name: b', C0OTHER: 'name: c' } }));
    expect(said.check('slack', 'channels')).toMatchObject({
      state: 'warn',
      result: expect.stringContaining('2 channels not looked up'),
    });
  });
});

describe('approvers', () => {
  it.each([
    ['{ sre: { usergroup: S0SRE, users: [U0BOB], channel: C0OPS } }', 'ok', /S0SRE.*C0OPS.*U0BOB/],
    ['{ sre: { usergroup: S0NOBODY } }', 'fail', /S0NOBODY/],
    ['{ sre: { users: [U0GUEST, U0BOB] } }', 'fail', /^U0GUEST is no full member/],
    ['{ sre: { users: [U0MISSING] } }', 'fail', /U0MISSING/],
    ['{ sre: { channel: C0OTHER } }', 'fail', /kdebug is not in C0OTHER/],
  ])('%s: %s', async (approvers, state, result) => {
    const said = await ask({ approvers });
    expect(said.check('slack', 'approvers sre')).toMatchObject({ state, result: expect.stringMatching(result) });
  });

  it('of an empty user group fail', async () => {
    const said = await ask(
      { approvers: '{ sre: { usergroup: S0SRE } }' },
      { team: (team) => void team.usergroups.S0SRE!.users.splice(0) },
    );
    expect(said.check('slack', 'approvers sre').result).toMatch(/empty or disabled/);
  });
});

describe('the names that people type', () => {
  it('the command is as configured, with what nobody can look up; the bot is invited by its own name', async () => {
    const withOtherName: BedOptions['slack'] = {
      team: ({ users, channels }) => {
        users.U0KDEBUG!.name = 'poddy';
        channels.C0SHOP!.members.splice(channels.C0SHOP!.members.indexOf('U0KDEBUG'), 1);
      },
    };
    const said = await ask({}, withOtherName, { KDEBUG_COMMAND: '/debug-pods' });
    expect(said.check('slack', 'slash command')).toMatchObject({
      state: 'ok',
      result: expect.stringMatching(/call it \/debug-pods; .* installed last/),
    });
    const fixes = said.checks.flatMap(({ fix }) => fix);
    expect(fixes).toContain('in that channel: /invite @poddy');
  });
});

describe('what Slack says of time and way', () => {
  const identity: SlackIdentity = {
    team: 'Acme',
    teamId: 'T0',
    user: 'kdebug',
    userId: 'U0',
    appId: 'A0',
    isOrgInstall: false,
    scopes: [],
    neededScopes: [],
    aheadMs: 0,
    tookMs: 20,
  };
  const look = async (facts: Partial<SlackIdentity>) => {
    const slack: SlackProbe = {
      identity: async () => ({ ...identity, ...facts }),
      openSocket: async () => undefined,
      channel: async () => ({ name: '', isMember: true, isShared: false, isArchived: false }),
      groupSize: async () => 1,
      person: async () => ({ isMember: true, name: '' }),
      proxy: 'http://proxy:3128',
      close: async () => undefined,
    };
    const receive = { mode: 'socket', appToken: 'xapp-1' } as const;
    const env = {
      slack: { botToken: 'xoxb-1', receive, apiUrl: 'https://slack.com/api/', command: '/kdebug' },
      opsPort: 9090,
    };
    const machine = { readiness: async () => undefined };
    const { checks } = await checkSlack({ env, policy: undefined, slack, machine });
    return (what: string) => checks.find((check) => check.what === what);
  };

  it.each([
    [0, 'ok'],
    [-59_000, 'ok'],
    [61_000, 'warn'],
    [-299_000, 'warn'],
    [301_000, 'fail'],
    [undefined, 'warn'],
  ])('a clock that is %s ms ahead: %s', async (aheadMs, state) => {
    const { aheadMs: _, ...rest } = identity;
    expect((await look({ ...rest, aheadMs }))('clock')?.state).toBe(state);
  });

  it('names the proxy, and a slow way', async () => {
    expect((await look({}))('reach')).toMatchObject({
      state: 'ok',
      result: expect.stringContaining('through the proxy http://proxy:3128'),
    });
    expect((await look({ tookMs: 1_500 }))('reach')?.state).toBe('warn');
  });

  it('says nothing of the scopes when a proxy took the header away: a warning', async () => {
    expect((await look({ scopes: undefined }))('scopes')?.state).toBe('warn');
  });
});
