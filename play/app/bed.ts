import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog, type LogLevel } from '../../src/adapters/log/index.ts';
import { type App, startApp } from '../../src/compose.ts';
import { loadEnv } from '../../src/config/env.ts';
import { loadPolicy } from '../../src/config/load-policy.ts';
import { watchPolicy } from '../../src/config/policy-reload.ts';
import { type LocalSlack, type LocalSlackOptions, startLocalSlack } from '../slack/index.ts';
import type { AlertsPort } from './alert.ts';

export interface BedOptions {
  /** The text of a kubeconfig. */
  readonly kubeconfig: string;
  /** The text of a policy file. */
  readonly policy: string;
  readonly transport?: 'http' | 'socket';
  readonly logLevel?: LogLevel;
  /** Where the bot's own log goes; default: nowhere. */
  readonly logTo?: (line: string) => void;
  readonly slack?: LocalSlackOptions;
  /** Takes notifications of alerts from the policy's source of this name, whose secret is in `ALERTS_SECRET_ENV`. */
  readonly alerts?: string;
  /** `REDIS_URL`; without it, runs are in memory. */
  readonly redisUrl?: string;
}

/** The real application, unchanged, between a local Slack and a cluster. */
export interface Bed {
  readonly slack: LocalSlack;
  readonly app: App;
  /** The policy file; rewriting it reloads the policy. */
  readonly policyPath: string;
  /** With the option `alerts`. */
  readonly alerts?: AlertsPort;
  stop(): Promise<void>;
}

/** Fresh in every process. */
export const ALERTS_SECRET_ENV = 'BED_ALERTS_SECRET';

function alertsSecret(): string {
  const secret = process.env[ALERTS_SECRET_ENV] ?? randomBytes(24).toString('hex');
  process.env[ALERTS_SECRET_ENV] = secret;
  return secret;
}

/** Starts a local Slack and the application, configured by environment and files as in production. */
export async function startBed(options: BedOptions): Promise<Bed> {
  const slack = await startLocalSlack(options.slack);
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-bed-'));
  const policyPath = join(directory, 'policy.yaml');
  const kubeconfigPath = join(directory, 'kubeconfig');
  writeFileSync(policyPath, options.policy);
  writeFileSync(kubeconfigPath, options.kubeconfig, { mode: 0o600 });
  try {
    const app = await startConfigured(options, slack, { policyPath, kubeconfigPath });
    if (app.port !== undefined) slack.requestUrl = `http://127.0.0.1:${app.port}/slack/events`;
    const stop = async (): Promise<void> => {
      await app.stop();
      await slack.stop();
      rmSync(directory, { recursive: true, force: true });
    };
    const { alerts: source } = options;
    const url = `http://127.0.0.1:${app.alertsPort}/alerts/${source}`;
    return { slack, app, policyPath, stop, ...(source !== undefined && { alerts: { url, secret: alertsSecret() } }) };
  } catch (error) {
    await slack.stop();
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

async function startConfigured(
  options: BedOptions,
  slack: LocalSlack,
  paths: { readonly policyPath: string; readonly kubeconfigPath: string },
): Promise<App> {
  const loaded = loadEnv({
    SLACK_BOT_TOKEN: slack.botToken,
    ...(options.transport === 'socket'
      ? { SLACK_APP_TOKEN: slack.appToken }
      : { SLACK_SIGNING_SECRET: slack.signingSecret }),
    SLACK_API_URL: slack.apiUrl,
    PORT: '0',
    OPS_PORT: '0',
    ...(options.alerts === undefined ? {} : { ALERTS_PORT: '0' }),
    ...(options.redisUrl === undefined ? {} : { REDIS_URL: options.redisUrl }),
    KDEBUG_KEY: randomBytes(32).toString('base64'),
    KDEBUG_POLICY: paths.policyPath,
    KDEBUG_AUDIT: `${paths.policyPath}.audit`,
    KUBECONFIG: paths.kubeconfigPath,
  });
  if (loaded.kind === 'invalid') throw new Error(loaded.problems.join('\n'));
  const policy = loadPolicy(paths.policyPath);
  if (policy.kind === 'invalid') throw new Error(policy.problems.join('\n'));
  const { logTo } = options;
  const log = createLog({
    level: logTo ? (options.logLevel ?? 'info') : 'silent',
    secrets: [slack.botToken, slack.appToken, slack.signingSecret],
    ...(logTo && { destination: { write: logTo } }),
  });
  const policies = watchPolicy(paths.policyPath, { initial: policy, log });
  return startApp({ env: loaded.env, policies, log });
}
