import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../play/slack/index.ts';
import { startApp } from '../src/compose.ts';
import { loadEnv } from '../src/config/env.ts';
import { freePort } from './adapters/store/redis/redis-server.ts';
import { Lines } from './adapters/store/redis/stores.ts';
import { aPolicy } from './support/builders.ts';

let slack: LocalSlack;
let directory: string;

beforeEach(async () => {
  slack = await startLocalSlack();
  directory = mkdtempSync(join(tmpdir(), 'kdebug-start-'));
  writeFileSync(join(directory, 'policy.yaml'), '');
});
afterEach(async () => {
  await slack.stop();
  rmSync(directory, { recursive: true, force: true });
});

const policies = {
  current: () => aPolicy(),
  status: () => ({ hash: '', sinceMs: 0 }),
  onReload: () => undefined,
  close: () => undefined,
};

it.each(['OPS_PORT', 'ALERTS_PORT'])(
  'a start that fails at %s takes no requests from Slack any more: else it would live on without probes',
  async (taken) => {
    const other = createServer().listen(0);
    await once(other, 'listening');
    const port = await freePort();
    const loaded = loadEnv({
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_SIGNING_SECRET: slack.signingSecret,
      SLACK_API_URL: slack.apiUrl,
      PORT: String(port),
      OPS_PORT: '0',
      [taken]: String((other.address() as AddressInfo).port),
      KDEBUG_POLICY: join(directory, 'policy.yaml'),
      KDEBUG_AUDIT: join(directory, 'audit'),
    });
    if (loaded.kind === 'invalid') throw new Error(loaded.problems.join());
    await expect(startApp({ env: loaded.env, policies, log: new Lines() })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    await expect(fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST' })).rejects.toThrow();
    other.close();
  },
);
