import { describe, expect, it } from 'vitest';
import { loadEnv, sealingKey, secretsOf } from '../../src/config/env.ts';

const TOKEN = 'xoxb-1-not-a-real-token';
const KEY = Buffer.alloc(32, 7).toString('base64');
const HTTP = { SLACK_BOT_TOKEN: TOKEN, SLACK_SIGNING_SECRET: '0123456789abcdef0123456789abcdef' };

const envOf = (variables: Readonly<Record<string, string | undefined>>) => {
  const loaded = loadEnv(variables);
  if (loaded.kind === 'invalid') throw new Error(loaded.problems.join('\n'));
  return loaded.env;
};

const problems = (variables: Readonly<Record<string, string | undefined>>) => {
  const loaded = loadEnv(variables);
  return loaded.kind === 'invalid' ? loaded.problems : [];
};

describe('the environment', () => {
  it('has the defaults of the contract', () => {
    expect(envOf(HTTP)).toEqual({
      slack: {
        botToken: TOKEN,
        receive: { mode: 'http', signingSecret: HTTP.SLACK_SIGNING_SECRET },
        apiUrl: 'https://slack.com/api/',
        command: '/kdebug',
      },
      port: 3000,
      opsPort: 9090,
      key: expect.any(Buffer),
      keyFrom: 'derived',
      policyPath: '/etc/kdebug/policy.yaml',
      logLevel: 'info',
      audit: 'stdout',
      revision: 'unknown',
    });
  });

  it('is read in full', () => {
    const variables = {
      ...HTTP,
      SLACK_API_URL: 'http://127.0.0.1:4000/api',
      PORT: '65535',
      OPS_PORT: '1',
      KDEBUG_KEY: KEY,
      KDEBUG_POLICY: '/p.yaml',
      KDEBUG_COMMAND: '/kdebug-staging',
      KDEBUG_AUDIT: '/var/log/kdebug/audit.log',
      KUBECONFIG: '/a:/b',
      REDIS_URL: 'rediss://user:p%40ss@redis:6380/2',
      REDIS_CA_FILE: '/ca.pem',
      REDIS_KEY_PREFIX: 'kdebug-staging',
      LOG_LEVEL: 'debug',
      KDEBUG_REVISION: '0123abc',
      UNRELATED: 'x',
    };
    expect(envOf(variables)).toMatchObject({
      slack: { apiUrl: 'http://127.0.0.1:4000/api/', command: '/kdebug-staging' },
      port: 65_535,
      opsPort: 1,
      key: Buffer.alloc(32, 7),
      keyFrom: 'given',
      policyPath: '/p.yaml',
      audit: '/var/log/kdebug/audit.log',
      kubeconfig: '/a:/b',
      redis: { url: 'rediss://user:p%40ss@redis:6380/2', caFile: '/ca.pem', keyPrefix: 'kdebug-staging' },
      logLevel: 'debug',
      revision: '0123abc',
    });
  });

  it.each(['kdebug', '/Kdebug', '/k debug', `/${'k'.repeat(32)}`])('has no command named %j', (KDEBUG_COMMAND) => {
    expect(problems({ ...HTTP, KDEBUG_COMMAND })).toEqual([expect.stringMatching(/^KDEBUG_COMMAND must be a slash/)]);
  });

  it('may ask for two free ports', () => {
    expect(envOf({ ...HTTP, PORT: '0', OPS_PORT: '0' })).toMatchObject({ port: 0, opsPort: 0 });
  });

  it('prefers Socket Mode when an app-level token is set', () => {
    expect(envOf({ ...HTTP, SLACK_APP_TOKEN: 'xapp-1-A' }).slack.receive).toEqual({
      mode: 'socket',
      appToken: 'xapp-1-A',
    });
    expect(envOf({ SLACK_BOT_TOKEN: TOKEN, SLACK_APP_TOKEN: 'xapp-1-A' }).slack.receive.mode).toBe('socket');
  });

  it('remembers a signing secret that Socket Mode leaves unused, so that the start can say so', () => {
    expect(envOf({ ...HTTP, SLACK_APP_TOKEN: 'xapp-1-A' }).slack.unusedSecret).toBe(HTTP.SLACK_SIGNING_SECRET);
    expect(envOf({ SLACK_BOT_TOKEN: TOKEN, SLACK_APP_TOKEN: 'xapp-1-A' }).slack.unusedSecret).toBeUndefined();
    expect(envOf(HTTP).slack.unusedSecret).toBeUndefined();
  });

  it('takes an empty variable for an absent one, and drops the newline of a file', () => {
    expect(envOf({ ...HTTP, SLACK_BOT_TOKEN: `${TOKEN}\n`, REDIS_URL: '', SLACK_APP_TOKEN: ' ' })).toEqual(envOf(HTTP));
  });

  it('derives the same key from the same bot token, another from another, and never the token itself', () => {
    const [one, again, other] = [TOKEN, TOKEN, `${TOKEN}2`].map(
      (token) => envOf({ ...HTTP, SLACK_BOT_TOKEN: token }).key,
    );
    expect(one).toHaveLength(32);
    expect(one).toEqual(again);
    expect(one).not.toEqual(other);
  });
});

it('its secrets are the ones that a log must not show, the password of Redis as it is written and as it is sent', () => {
  expect(secretsOf(envOf({ ...HTTP, REDIS_URL: 'redis://user:p%40ss@redis' }))).toEqual([
    TOKEN,
    HTTP.SLACK_SIGNING_SECRET,
    'p%40ss',
    'p@ss',
  ]);
  expect(secretsOf(envOf({ ...HTTP, SLACK_APP_TOKEN: 'xapp-1-A', REDIS_URL: 'redis://redis' }))).toEqual([
    TOKEN,
    'xapp-1-A',
    HTTP.SLACK_SIGNING_SECRET,
  ]);
});

it('tools find the same key as the bot, and none that is not right', () => {
  expect(sealingKey({ KDEBUG_KEY: ` ${KEY}\n`, SLACK_BOT_TOKEN: TOKEN })).toEqual(
    envOf({ ...HTTP, KDEBUG_KEY: KEY }).key,
  );
  expect(sealingKey({ KDEBUG_KEY: '', SLACK_BOT_TOKEN: TOKEN })).toEqual(envOf(HTTP).key);
  expect(sealingKey({ KDEBUG_KEY: 'short', SLACK_BOT_TOKEN: TOKEN })).toBeUndefined();
  expect(sealingKey({})).toBeUndefined();
});

describe('a wrong environment', () => {
  it('has all its problems reported together, by the name of the variable', () => {
    const variables = {
      SLACK_API_URL: 'http://slack.example.com/',
      PORT: '99999',
      OPS_PORT: '99999',
      KDEBUG_KEY: 'short',
      REDIS_URL: 'http://redis',
      LOG_LEVEL: 'loud',
    };
    expect(problems(variables).map((problem) => problem.split(' ')[0])).toEqual([
      'SLACK_BOT_TOKEN',
      'KDEBUG_KEY',
      'REDIS_URL',
      'LOG_LEVEL',
      'PORT',
      'OPS_PORT',
      'SLACK_API_URL',
      'SLACK_SIGNING_SECRET',
      'OPS_PORT',
    ]);
  });

  it('says what to do when nothing is set', () => {
    expect(problems({})).toEqual([
      'SLACK_BOT_TOKEN is missing: the bot token (xoxb-…) of the app, from "OAuth & Permissions"',
      'SLACK_SIGNING_SECRET is missing: set it to receive over HTTP, or SLACK_APP_TOKEN to receive over Socket Mode',
    ]);
  });

  it.each<[string, string]>([
    ['SLACK_BOT_TOKEN', 'xapp-1-canary'],
    ['SLACK_BOT_TOKEN', 'xoxb-1 canary'],
    ['SLACK_APP_TOKEN', 'xoxb-1-canary'],
    ['SLACK_SIGNING_SECRET', 'canary'],
    ['SLACK_API_URL', 'https://user:canary@slack.example.com/api/'],
    ['SLACK_API_URL', 'https://slack.example.com/api/?token=canary'],
    ['SLACK_API_URL', 'http://127.0.0.1.canary.example.com/'],
    ['SLACK_API_URL', 'file:///canary'],
    ['SLACK_API_URL', 'canary'],
    ['PORT', '3000canary'],
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['OPS_PORT', '3000'],
    ['KDEBUG_KEY', Buffer.from('canary').toString('base64')],
    ['KDEBUG_KEY', Buffer.alloc(33).toString('base64')],
    ['KDEBUG_KEY', `${'-'.repeat(43)}=`],
    ['REDIS_URL', 'redis//canary'],
    ['REDIS_URL', 'https://:canary@redis'],
    ['REDIS_URL', 'redis://canary:canary@'],
    ['REDIS_URL', 'redis://:can%ary@redis'],
    ['REDIS_URL', 'redis://redis/canary'],
    ['REDIS_URL', 'redis://redis/?enableOfflineQueue=canary'],
    ['REDIS_KEY_PREFIX', '{canary}'],
    ['REDIS_KEY_PREFIX', 'canary:*'],
    ['KDEBUG_AUDIT', 'canary'],
    ['LOG_LEVEL', 'canary'],
  ])('%s=%s is refused without showing the value', (name, value) => {
    const found = problems({ ...HTTP, [name]: value });
    expect(found).toEqual([expect.stringMatching(new RegExp(`^${name} (?:must|does not look right)`))]);
    expect(found.join()).not.toContain('canary');
  });

  it.each(['http://localhost:1/api/', 'http://[::1]:1/', 'https://slack.example.com/api/'])(
    '%s is a fine address for Slack',
    (url) => {
      expect(envOf({ ...HTTP, SLACK_API_URL: url }).slack.apiUrl).toBe(url);
    },
  );
});
