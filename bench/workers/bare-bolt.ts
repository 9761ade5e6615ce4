import { App, LogLevel } from '@slack/bolt';
import type { Served } from './served.ts';

export interface BareBoltConfig {
  readonly signingSecret: string;
}

export interface BareBoltResult {
  readonly url: string;
}

/** The least that Bolt can do: verify, parse, acknowledge with an empty handler. */
export async function startBareBolt({ signingSecret }: BareBoltConfig): Promise<Served<BareBoltResult>> {
  const app = new App({
    signingSecret,
    logLevel: LogLevel.ERROR,
    authorize: async () => ({ botToken: 'xoxb-none', botId: 'B0NONE', botUserId: 'U0NONE' }),
  });
  app.command('/kdebug', async ({ ack }) => ack());
  const server = await app.start({ port: 0, host: '127.0.0.1' });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Bolt listens nowhere');
  return {
    result: { url: `http://127.0.0.1:${address.port}/slack/events` },
    stop: async () => {
      await app.stop();
    },
  };
}
