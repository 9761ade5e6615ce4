import { App, type Logger, LogLevel } from '@slack/bolt';
import { WebClient } from '@slack/web-api';
import type { LocalSlack } from '../../slack/index.ts';

/** A logger for libraries that would talk into the test's output. */
export const quiet: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => LogLevel.ERROR,
  setName() {},
};

/** The real Bolt app, started; with HTTP the local Slack is told where it listens. */
export async function startBolt(slack: LocalSlack, via: 'http' | 'socket', register: (app: App) => void): Promise<App> {
  const app = new App({
    token: slack.botToken,
    clientOptions: { slackApiUrl: slack.apiUrl },
    convoStore: false,
    logger: quiet,
    deferInitialization: true,
    ...(via === 'http' ? { signingSecret: slack.signingSecret } : { socketMode: true, appToken: slack.appToken }),
  });
  await app.init();
  register(app);
  if (via === 'socket') {
    await app.start();
    await slack.until(() => slack.sockets.count > 0);
    return app;
  }
  const server = await app.start({ port: 0, host: '127.0.0.1' });
  const address = server.address();
  if (typeof address === 'string' || address === null) throw new Error('no address');
  slack.requestUrl = `http://127.0.0.1:${address.port}/slack/events`;
  return app;
}

/** A client that hides nothing: no retries, no waiting. */
export function plainClient(slack: LocalSlack, token = slack.botToken): WebClient {
  return new WebClient(token, {
    slackApiUrl: slack.apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: 3_000,
    logger: quiet,
  });
}

/** The error word with which the call was refused; `ok` when it was not. */
export async function outcome(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'ok';
  } catch (error) {
    const { data, code } = error as { data?: { error?: string }; code?: string };
    return data?.error ?? code ?? String(error);
  }
}
