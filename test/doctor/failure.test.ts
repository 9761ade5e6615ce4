import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { WebClient } from '@slack/web-api';
import { generate } from 'selfsigned';
import { describe, expect, it } from 'vitest';
import { callSlack } from '../../src/adapters/slack/errors.ts';
import { loadEnv } from '../../src/config/env.ts';
import { KdebugError, REASONS, type ReasonCode } from '../../src/core/errors.ts';
import { explainFailure, explainStart } from '../../src/doctor/failure.ts';
import { itInFull } from '../support/sample.ts';

const coded = (code: string, more: object = {}): Error => Object.assign(new Error('low level'), { code, ...more });
const unreachable = (cause: unknown): KdebugError => new KdebugError('slack_unreachable', { cause });

describe('an error for an operator', () => {
  it.each([
    ['ENOTFOUND', { hostname: 'slack.com' }, 'DNS knows no host slack.com (ENOTFOUND)', /DNS of this pod/],
    [
      'ECONNREFUSED',
      { address: '10.0.0.7', port: 443 },
      'nothing listens at slack.com (10.0.0.7:443) (ECONNREFUSED)',
      /port/,
    ],
    ['ETIMEDOUT', {}, 'slack.com did not answer in time (ETIMEDOUT)', /NetworkPolicy/],
    ['CERT_HAS_EXPIRED', {}, 'the certificate of slack.com has expired (CERT_HAS_EXPIRED)', /clock/],
    ['SELF_SIGNED_CERT_IN_CHAIN', {}, /not signed by a CA that this machine trusts/, /NODE_EXTRA_CA_CERTS/],
  ])('of %s names the cause, three errors deep, and what to do', (code, more, cause, fix) => {
    const deep = Object.assign(new Error('a request error occurred'), {
      original: new TypeError('x', { cause: coded(code, more) }),
    });
    const failure = explainFailure(unreachable(deep), 'slack.com');
    expect(failure).toMatchObject({ code: 'slack_unreachable', fix: expect.stringMatching(fix) });
    expect(failure.cause).toMatch(cause);
  });

  it.each(Object.keys(REASONS) as ReasonCode[])('of %s says the names in words, whoever its hint is for', (code) => {
    expect(JSON.stringify(explainFailure(new KdebugError(code)))).not.toMatch(/[\uFFF0\uFFF1]/);
  });

  it('finds the code that the store writes into its detail', () => {
    const error = new KdebugError('store_unreachable', { detail: 'no connection (ECONNREFUSED)' });
    expect(explainFailure(error, 'redis:6379').cause).toBe('nothing listens at redis:6379 (ECONNREFUSED)');
  });

  it.each([
    ['slack_unreachable', true],
    ['store_unreachable', false],
    ['cluster_unreachable', false],
  ] as const)('of %s speaks of HTTPS_PROXY only where kdebug would use it', (code, wanted) => {
    for (const low of ['ECONNRESET', 'ETIMEDOUT', 'ENETUNREACH']) {
      const { fix } = explainFailure(new KdebugError(code, { cause: coded(low) }), 'host');
      expect(fix.includes('HTTPS_PROXY'), low).toBe(wanted);
      expect(fix).toContain('NetworkPolicy');
    }
  });

  it('names the proxy', () => {
    const error = new KdebugError('slack_unreachable', {
      detail: 'through the proxy http://proxy:3128',
      cause: coded('ECONNREFUSED'),
    });
    expect(explainFailure(error, 'slack.com').cause).toMatch(
      /\(ECONNREFUSED\), through the proxy http:\/\/proxy:3128$/,
    );
  });

  it('sends who has no account in a cluster to the pod, where inCluster works', () => {
    const { cause, fix } = explainFailure(
      new KdebugError('cluster_unauthenticated', { detail: 'the credentials cannot be read' }),
    );
    expect(cause).toContain('the credentials cannot be read');
    expect(fix).toContain('kubectl -n kdebug exec deploy/kdebug -- node main.js doctor');
  });

  it('of an unknown cause has the first words of all, and no hint for people in Slack', () => {
    const failure = explainFailure(unreachable(new TypeError('fetch failed', { cause: new Error('bad port') })));
    expect(failure.cause).toBe('Slack does not answer: bad port');
    expect(failure.fix).not.toMatch(/try again in a minute/);
  });

  it('of anything thrown has words', () => {
    expect(explainFailure('what?')).toEqual({
      code: 'internal_error',
      cause: expect.stringContaining('what?'),
      fix: expect.any(String),
    });
    expect(explainFailure(undefined).cause).toContain('undefined');
    const loop: { cause?: unknown } = {};
    loop.cause = loop;
    expect(explainFailure(loop).code).toBe('internal_error');
  });
});

describe('an error of the real client', () => {
  const failureAt = async (slackApiUrl: string, timeout = 2_000) => {
    const logger = {
      debug() {},
      info() {},
      warn() {},
      error() {},
      setLevel() {},
      getLevel: () => 'error',
      setName() {},
    };
    const client = new WebClient('xoxb-1', {
      slackApiUrl,
      retryConfig: { retries: 0 },
      timeout,
      logger: logger as never,
    });
    const thrown = await callSlack(() => client.auth.test()).catch((error: unknown) => error);
    return explainFailure(thrown, new URL(slackApiUrl).host);
  };
  const serve = async (answer: (end: (status: number) => void) => void) => {
    const server = createServer((_, response) => answer((status) => response.writeHead(status).end()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`;
    return { url, close: () => server.closeAllConnections() ?? server.close() };
  };

  it('says that DNS knows no such host', async () => {
    await expect(failureAt('https://kdebug.invalid/api/')).resolves.toMatchObject({
      cause: expect.stringMatching(/^DNS .* kdebug\.invalid/),
    });
  });

  it('says with which status a proxy or Slack answered', async () => {
    const server = await serve((end) => end(503));
    await expect(failureAt(server.url)).resolves.toMatchObject({ cause: 'Slack does not answer: HTTP 503' });
    server.close();
  });

  it('says that nothing came in time', async () => {
    const server = await serve(() => undefined);
    await expect(failureAt(server.url, 200)).resolves.toMatchObject({
      cause: expect.stringMatching(/did not answer in time/),
    });
    server.close();
  });

  it('says that a certificate is from nobody whom this machine trusts', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: '127.0.0.1' }], { keyType: 'ec' });
    const server = createTlsServer({ key, cert });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { cause, fix } = await failureAt(`https://127.0.0.1:${(server.address() as AddressInfo).port}/api/`);
    server.close();
    expect(cause).toMatch(/not signed by a CA that this machine trusts/);
    expect(fix).toMatch(/NODE_EXTRA_CA_CERTS/);
  });
});

describe('what ended a start', () => {
  const loaded = loadEnv({
    SLACK_BOT_TOKEN: 'xoxb-1',
    SLACK_APP_TOKEN: 'xapp-1',
    REDIS_URL: 'redis://kdebug:pass-word-1@redis.example.com/2',
    OPS_PORT: '9191',
  });
  const explain = (code: ReasonCode, cause: Error) => {
    if (loaded.kind === 'invalid') throw new Error(loaded.problems.join());
    return explainStart(new KdebugError(code, { cause }), loaded.env).cause;
  };

  it('is named by what was called: Slack, Redis without its password, a port', () => {
    expect(explain('slack_unreachable', coded('ETIMEDOUT'))).toMatch(/^slack\.com did not answer/);
    expect(explain('store_unreachable', coded('ETIMEDOUT'))).toMatch(/^redis\.example\.com:6379 did not answer/);
    expect(explain('slack_port_unavailable', coded('EADDRINUSE'))).toMatch(/^another program uses PORT 3000/);
    expect(explain('internal_error', coded('EADDRINUSE'))).toMatch(/^another program uses OPS_PORT 9191/);
  });
});

describe('a start that fails', () => {
  const start = async (variables: NodeJS.ProcessEnv) => {
    const env = {
      PATH: process.env.PATH,
      SLACK_BOT_TOKEN: 'xoxb-not-a-real-token',
      SLACK_APP_TOKEN: 'xapp-not-a-real-token',
      KDEBUG_POLICY: 'manifests/base/policy.yaml',
      OPS_PORT: '0',
      ...variables,
    };
    const run = promisify(execFile)(process.execPath, ['--import', 'tsx', 'src/main.ts'], { env });
    const { code, stdout } = await run.then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error: { code: number; stdout: string }) => error,
    );
    const records = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    return { code, stdout, record: records.find(({ level }) => level === 'error') };
  };

  it('because Slack is away names the cause, the remedy and the doctor, and no password; another try may help', async () => {
    const { code, stdout, record } = await start({ HTTPS_PROXY: 'http://roy:pass-word-1@127.0.0.1:2' });
    expect(code).toBe(1);
    expect(record).toMatchObject({
      message: 'kdebug could not start',
      reason: 'slack_unreachable',
      detail: 'nothing listens at slack.com (127.0.0.1:2) (ECONNREFUSED), through the proxy http://127.0.0.1:2',
      hint: 'Check host and port, and that the server runs. For all checks: npm run doctor',
    });
    expect(stdout).not.toContain('pass-word-1');
  });

  itInFull('because of its settings refers to the doctor too, and another try does not help', async () => {
    await expect(start({ SLACK_BOT_TOKEN: '' })).resolves.toMatchObject({
      code: 2,
      record: {
        hint: 'For all checks: npm run doctor',
        problem: expect.stringContaining('SLACK_BOT_TOKEN is missing'),
      },
    });
  });
});
