import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const POLICY = `version: 1
clusters: { prod: { inCluster: true, default: true } }
identity: { mode: serviceAccount }
images: { debian: { image: "debian:12-slim", class: observe } }
channels: { C0SHOP: { rules: [] } }
`;

it('a process that is told to stop while it starts leaves at once: as process 1 of a container it would hear no signal that it does not handle', async () => {
  // A Slack that never answers, so that the start lasts.
  const slack = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(slack, 'listening');
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-main-'));
  const policy = join(directory, 'policy.yaml');
  writeFileSync(policy, POLICY);
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts'], {
    env: {
      PATH: process.env.PATH,
      SLACK_BOT_TOKEN: 'xoxb-1-2-abcdefghijkl',
      SLACK_SIGNING_SECRET: '0123456789abcdef0123456789abcdef',
      SLACK_API_URL: `http://127.0.0.1:${(slack.address() as AddressInfo).port}/api/`,
      PORT: '0',
      OPS_PORT: '0',
      KDEBUG_POLICY: policy,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let log = '';
  child.stdout.on('data', (piece: Buffer) => {
    log += piece.toString();
  });
  const ended = once(child, 'exit');
  try {
    await Promise.race([once(slack, 'request'), ended]);
    child.kill('SIGTERM');
    expect(await ended, log).toEqual([0, null]);
    expect(log).toContain('"message":"stopping"');
  } finally {
    child.kill('SIGKILL');
    slack.closeAllConnections();
    slack.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
