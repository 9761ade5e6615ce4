import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { doctor, toolsOf } from '../../src/compose-doctor.ts';
import { hasRedis, RedisServer } from '../adapters/store/redis/redis-server.ts';
import { Bed, policyOf } from './bed.ts';

describe('the doctor', () => {
  let bed: Bed;
  beforeEach(async () => {
    bed = await Bed.open();
    bed.bind('shop');
  });
  afterEach(() => bed.close());

  it('finds an installation in order, and ends with 0', async () => {
    const { exitCode, checks } = await bed.ask(policyOf());
    expect(checks.filter(({ state }) => state === 'fail')).toEqual([]);
    expect(exitCode).toBe(0);
    expect(new Set(checks.map(({ area }) => area))).toEqual(
      new Set(['setup', 'policy', 'slack', 'redis', 'cluster main']),
    );
  });

  it('changes nothing: nobody is written to, and the cluster sees reads and reviews only', async () => {
    await bed.ask(policyOf({ approvers: '{ sre: { usergroup: S0SRE, users: [U0BOB], channel: C0OPS } }' }));
    const methods = [...bed.slack.requestCounts.keys()];
    expect(methods.filter((method) => !/\.(test|info|open|list|members)$/.test(method))).toEqual([]);
    const writes = bed.cluster.requests
      .find({})
      .filter(({ method, resource }) => method !== 'GET' && !/^self\w+reviews$/.test(resource));
    expect(writes).toEqual([]);
  });

  it('has a way to fix everything that fails', async () => {
    const { exitCode, checks } = await bed.ask(
      policyOf({ channels: { C0OTHER: 'name: x', C0OLD: 'name: y' }, namespaces: '[shop, away]' }),
    );
    expect(exitCode).toBe(1);
    const failing = checks.filter(({ state }) => state === 'fail');
    expect(failing.length).toBeGreaterThan(2);
    expect(failing.filter(({ fix }) => fix.length === 0)).toEqual([]);
  });

  it('ends with 2 when the policy cannot be read, and still looks at the rest', async () => {
    const { exitCode, check } = await bed.ask('version: 1\nwrong: true\n');
    expect(exitCode).toBe(2);
    expect(check('slack', 'bot token').state).toBe('ok');
  });

  it('says what lint-policy says: a placeholder fails', async () => {
    const { exitCode, check } = await bed.ask(policyOf({ channels: { C0REPLACEME: 'name: x' } }));
    expect(check('policy', 'lint')).toMatchObject({ state: 'fail', result: expect.stringContaining('C0REPLACEME') });
    expect(exitCode).toBe(1);
  });

  it('ends with 2 when the environment is not complete, and names all that is missing', async () => {
    const { exitCode, checks } = await bed.ask(policyOf(), { SLACK_BOT_TOKEN: '', KDEBUG_KEY: 'short' });
    expect(exitCode).toBe(2);
    expect(checks).toMatchObject([
      { state: 'fail', what: 'environment', result: expect.stringContaining('SLACK_BOT_TOKEN') },
      { state: 'fail', what: 'environment', result: expect.stringContaining('KDEBUG_KEY') },
    ]);
  });

  it('never prints a secret, in whatever mood Slack, Redis and the proxy are', async () => {
    const secrets = {
      REDIS_URL: 'redis://kdebug:pass-of-redis@127.0.0.1:1',
      HTTPS_PROXY: 'http://roy:pass-of-proxy@127.0.0.1:1',
    };
    bed.slack.faults.queue({ method: 'auth.test', kind: bed.slack.botToken });
    const { text } = await bed.ask(policyOf(), { ...secrets, SLACK_SIGNING_SECRET: 'a-left-over-signing-secret' });
    for (const secret of [
      bed.slack.botToken,
      bed.slack.appToken,
      'pass-of',
      'a-left-over',
      Buffer.alloc(32, 7).toString('base64'),
    ])
      expect(text).not.toContain(secret);
  });

  it('prints a line a check, what fixes it below, and a sum', async () => {
    const lines: string[] = [];
    const call = { out: (line: string) => void lines.push(line), tool: (name: string) => name };
    await expect(doctor({ ...call, words: [], variables: {} })).resolves.toBe(2);
    expect(lines[0]).toMatch(/^FAIL {2}setup {2}environment: SLACK_BOT_TOKEN is missing/);
    expect(lines[1]).toBe('      → kubectl -n kdebug edit secret kdebug   # plain values: under stringData');
    expect(lines.at(-1)).toBe('2 checks: 0 ok, 0 warn, 2 FAIL');
  });

  it.each([['--wrong'], ['--user', 'roy'], ['word']])('explains itself for the words %s', async (...words) => {
    const lines: string[] = [];
    const call = { out: (line: string) => void lines.push(line), tool: (name: string) => name, variables: {} };
    await expect(doctor({ ...call, words })).resolves.toBe(2);
    expect(lines.join('\n')).toMatch(/^usage: doctor/);
  });
});

describe('this machine', () => {
  let bed: Bed;
  beforeEach(async () => {
    bed = await Bed.open();
  });
  afterEach(() => bed.close());

  it('has a port that another program uses: it fails; one that a kdebug uses: it says how that one is', async () => {
    let body = 'hello';
    const server = createServer((_, response) => response.end(body));
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const OPS_PORT = String((server.address() as AddressInfo).port);
    const look = async () => (await bed.ask(policyOf(), { OPS_PORT })).check('setup', 'OPS_PORT');
    expect(await look()).toMatchObject({ state: 'fail', result: `${OPS_PORT} cannot be used (EADDRINUSE)` });
    body = '[+] slack ok\n[+] store ok\n';
    expect(await look()).toMatchObject({ state: 'ok', result: expect.stringContaining('a kdebug that is ready') });
    body = '[-] slack failed: slack_token_rejected\n[+] store ok\n';
    expect(await look()).toMatchObject({ state: 'warn', result: expect.stringContaining('slack_token_rejected') });
    await new Promise((resolve) => server.close(resolve));
  });

  it('listens for Slack only over HTTP', async () => {
    const http = { SLACK_APP_TOKEN: '', SLACK_SIGNING_SECRET: bed.slack.signingSecret };
    expect((await bed.ask(policyOf(), http)).check('setup', 'PORT').state).toBe('ok');
    expect((await bed.ask(policyOf())).checks.filter(({ what }) => what === 'PORT')).toEqual([]);
  });

  it('has both ways to receive: that is a warning with the command that removes one', async () => {
    const said = await bed.ask(policyOf(), { SLACK_SIGNING_SECRET: bed.slack.signingSecret });
    expect(said.check('setup', 'receiving')).toMatchObject({
      state: 'warn',
      fix: [expect.stringContaining('kubectl'), expect.any(String)],
    });
  });

  it('has no key of its own: that is a warning', async () => {
    expect((await bed.ask(policyOf(), { KDEBUG_KEY: '' })).check('setup', 'KDEBUG_KEY').state).toBe('warn');
  });

  it('has an audit file in a folder that is not there: it fails', async () => {
    expect(
      (await bed.ask(policyOf(), { KDEBUG_AUDIT: '/nowhere/audit.log' })).check('setup', 'KDEBUG_AUDIT'),
    ).toMatchObject({
      state: 'fail',
      result: expect.stringContaining('/nowhere cannot be written to (ENOENT)'),
    });
  });
});

describe.skipIf(!hasRedis)('Redis, as the doctor sees it,', () => {
  let bed: Bed;
  let server: RedisServer;
  beforeEach(async () => {
    [bed, server] = await Promise.all([Bed.open(), RedisServer.start(['--appendonly', 'yes'])]);
  });
  afterEach(async () => {
    await Promise.all([bed.close(), server.stop()]);
  });

  const ask = (url = server.url) => bed.ask(policyOf(), { REDIS_URL: url });

  it('is in order, and its user has rights to spare', async () => {
    const said = await ask();
    expect(said.checks.filter(({ area, state }) => area === 'redis' && state === 'fail')).toEqual([]);
    expect(said.check('redis', 'persistence').state).toBe('ok');
    expect(said.check('redis', 'rights')).toMatchObject({ state: 'warn', result: expect.stringContaining('default') });
  });

  it('has a user with exactly the rights that the doctor prints, and loses one', async () => {
    const [printed = ''] = (await ask()).check('redis', 'rights').fix;
    const words =
      /ACL SETUSER (.*?) {3}#/
        .exec(printed)?.[1]
        ?.replaceAll("'", '')
        .replace('>PASSWORD', '>secret-pass')
        .split(' ') ?? [];
    const redis = server.client();
    await redis.acl('SETUSER', ...(words as [string]));
    const url = server.url.replace('//', '//kdebug:secret-pass@');
    expect((await ask(url)).check('redis', 'rights')).toMatchObject({ state: 'ok' });
    await redis.acl('SETUSER', 'kdebug', '-zpopmin');
    expect((await ask(url)).check('redis', 'rights')).toMatchObject({
      state: 'fail',
      result: expect.stringContaining('ZPOPMIN'),
    });
    await redis.acl('SETUSER', 'kdebug', '-evalsha', '-eval');
    expect((await ask(url)).check('redis', 'rights')).toMatchObject({ state: 'fail', fix: [printed] });
    redis.disconnect();
  });

  it('evicts, is a replica, keeps nothing on disk and is nearly full: each is a line', async () => {
    const redis = server.client();
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await redis.config('SET', 'maxmemory', '900kb');
    await redis.config('SET', 'appendonly', 'no');
    await redis.replicaof('127.0.0.1', '1');
    const said = await ask();
    expect(said.check('redis', 'eviction')).toMatchObject({
      state: 'fail',
      fix: [expect.stringContaining('noeviction')],
    });
    expect(said.check('redis', 'role').state).toBe('fail');
    expect(said.check('redis', 'persistence').state).toBe('warn');
    expect(said.check('redis', 'memory').state).toBe('warn');
    redis.disconnect();
  });

  it('refuses the password, or is not there', async () => {
    const wrong = await ask(server.url.replace('//', '//kdebug:wrong-password@'));
    expect(wrong.check('redis', 'connection')).toMatchObject({
      state: 'fail',
      result: expect.stringMatching(/refuses user or password \(WRONGPASS\)/),
    });
    expect(wrong.text).not.toContain('wrong-password');
    expect((await ask('redis://127.0.0.1:1')).check('redis', 'connection')).toMatchObject({
      state: 'fail',
      result: 'nothing listens at 127.0.0.1:1 (ECONNREFUSED)',
    });
  });
});

it.each([
  ['a checkout', 'file:///app/src/main.ts', 'npm run --silent rbac --', 'npm run doctor'],
  [
    'the image',
    'file:///app/main.js',
    'kubectl -n kdebug exec deploy/kdebug -- node cli.js rbac',
    'node main.js doctor',
  ],
])('%s names its tools as somebody outside the pod calls them', (_, url, rbac, itself) => {
  expect(toolsOf(url)('rbac')).toBe(rbac);
  expect(toolsOf(url)('doctor')).toBe(itself);
});
