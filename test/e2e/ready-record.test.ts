import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/compose.ts';
import { type BuiltProgram, buildProgram } from '../support/program/built-program.ts';
import { ProgramScene } from '../support/program/program-scene.ts';

/** Nothing listens there: a start asks no cluster. */
const KUBECONFIG = `apiVersion: v1
kind: Config
clusters: [{ name: local, cluster: { server: "https://127.0.0.1:1" } }]
users: [{ name: local, user: { token: not-a-real-token } }]
contexts: [{ name: local, context: { cluster: local, user: local } }]
current-context: local
`;

const policyOf = (channel: string): string => `version: 1
clusters:
  prod: { context: local, default: true }
  spare: { context: local }
identity: { mode: serviceAccount }
images: { debian: { image: "debian:12-slim", class: observe } }
channels: { ${channel}: { rules: [] } }
`;

describe('a process that starts', () => {
  let program: BuiltProgram;
  let scene: ProgramScene;

  beforeAll(async () => {
    program = await buildProgram();
  });
  afterAll(() => program?.remove());
  afterEach(() => scene.close());

  const boot = async (transport: 'http' | 'socket', env: NodeJS.ProcessEnv = {}, policy = policyOf('C0SHOP')) => {
    const options = { program, kubeconfig: KUBECONFIG, policy, transport, store: 'memory', env } as const;
    scene = await ProgramScene.open(options);
    const bot = await scene.boot();
    const warnings = bot.log.filter(({ level }) => level === 'warn');
    return { bot, ready: await bot.says('ready'), warnings: warnings.map(({ message }) => message), log: bot.log };
  };

  it('says its mode, version, commit, clusters, replica, store and policy', async () => {
    const { ready, warnings } = await boot('http', { KDEBUG_REVISION: '0123abc' });
    expect(ready).toMatchObject({
      level: 'info',
      mode: 'http',
      version: VERSION,
      revision: '0123abc',
      node: process.version,
      clusters: ['prod', 'spare'],
      replica: expect.stringMatching(/./),
      store: 'memory',
      port: expect.any(Number),
      opsPort: expect.any(Number),
      policyHash: createHash('sha256').update(policyOf('C0SHOP')).digest('hex'),
    });
    expect(warnings).toEqual([expect.stringMatching(/^no REDIS_URL/)]);
  });

  it('in Socket Mode beside a signing secret, says loudly that nothing listens for HTTP, and shows no secret', async () => {
    const { ready, warnings, log } = await boot('socket', { SLACK_SIGNING_SECRET: 'canary-0123456789abcdef' });
    expect(ready).toMatchObject({ mode: 'socket', revision: 'unknown' });
    expect(ready.port).toBeUndefined();
    expect(warnings).toContainEqual(expect.stringMatching(/^SLACK_APP_TOKEN and SLACK_SIGNING_SECRET are both set/));
    expect(JSON.stringify(log)).not.toContain('canary');
  });

  it('tells of an error that nobody caught in its own log, without secrets, and ends', async () => {
    const defect = "process.on('SIGUSR2',()=>{void Promise.reject(new Error('refused xoxb-1234-secret'))})";
    const { bot } = await boot('http', { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(defect)}` });

    bot.signal('SIGUSR2');

    expect(await bot.exited).toEqual({ code: 1, signal: null });
    expect(bot.errors).toBe('');
    expect(bot.log.at(-1)).toMatchObject({
      level: 'error',
      message: 'unexpected error, the process ends',
      reason: 'internal_error',
      origin: 'unhandledRejection',
      error: { message: 'refused [redacted]' },
    });
  });

  it('says what its policy still has from an example, and starts all the same', async () => {
    const { log } = await boot('socket', {}, policyOf('C0REPLACEME'));
    expect(log.find(({ message }) => message === 'the policy still contains placeholders')).toMatchObject({
      level: 'warn',
      problems: [expect.stringContaining('channels.C0REPLACEME: is a placeholder')],
    });
  });
});
