import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../../play/slack/index.ts';
import type { SlackProxy } from '../../../src/adapters/slack/egress.ts';
import { createSlack, type Slack } from '../../../src/adapters/slack/index.ts';
import { ConnectProxy } from './connect-proxy.ts';
import { FakeInbox, RecordingLog, realClock, saying } from './harness.ts';

const ROY = { user: 'U0ROY', channel: 'C0SHOP' };
const SHOP = { channelId: 'C0SHOP' };
let local: LocalSlack;
let proxy: ConnectProxy;
let slack: Slack;
let inbox: FakeInbox;
let log: RecordingLog;

beforeEach(async () => {
  local = await startLocalSlack();
  proxy = await ConnectProxy.start();
  inbox = new FakeInbox();
  log = new RecordingLog();
});
afterEach(async () => {
  await slack.stop();
  await proxy.stop();
  await local.stop();
});

function make(way: Partial<SlackProxy> = {}): Slack {
  slack = createSlack({
    botToken: local.botToken,
    transport: { kind: 'socket', appToken: local.appToken },
    apiUrl: local.apiUrl,
    proxy: { url: `http://${proxy.host}`, noProxy: '', ...way },
    log,
    clock: realClock,
    timeoutMs: 2_000,
  });
  return slack;
}

/** Each of the ways that lead to Slack, once. */
async function useAll(): Promise<void> {
  await slack.start(inbox);
  await slack.thread.post(SHOP, saying('a post'), { run: 'r', kind: 'result', seq: 1 });
  const bytes = Buffer.from('a log');
  async function* open() {
    yield bytes;
  }
  await slack.thread.share(SHOP, () => saying('a file'), [
    { filename: 'run.log', title: 'run.log', bytes: bytes.length, open },
  ]);
  await local.deliver.command({ ...ROY, text: 'pod-1' });
  const { responseUrl } = inbox.commands[0]?.origin ?? {};
  await slack.thread.tell(
    { channelId: 'C0SHOP', userId: 'U0ROY', ...(responseUrl && { responseUrl }) },
    saying('psst'),
  );
  const { ts } = await local.share({ ...ROY, name: 'job.yaml', content: 'kind: EphemeralJob\n' });
  await local.deliver.shortcut({ ...ROY, ts, callbackId: 'apply-job' });
  await local.until(() => inbox.shortcuts.length === 1);
}

const areas = () =>
  [...new Set(proxy.paths.map((path) => /^\/(?:api\/(?:auth|apps)[^/]*|[^/]*)/.exec(path)?.[0]))].sort();

describe('a proxy on the way to Slack', () => {
  it('carries all of it: Web API, uploads, response URLs, files, and both lines of Socket Mode', async () => {
    make();
    await useAll();
    expect(areas()).toEqual([
      '/api',
      '/api/apps.connections.open',
      '/api/auth.test',
      '/files-pri',
      '/hooks',
      '/link',
      '/upload',
    ]);
    expect(proxy.paths.filter((path) => path.startsWith('/link'))).toHaveLength(2);
    // Nothing went past it.
    const seen = (prefix: string) => proxy.paths.filter((path) => path.startsWith(prefix)).length;
    const isMethod = ({ method }: { method: string }) => !['upload', 'download', 'response_url'].includes(method);
    expect(seen('/api')).toBe(local.requests().filter(isMethod).length);
    expect(seen('/upload') + seen('/files-pri') + seen('/hooks')).toBe(3);
    expect(log.records).toContainEqual(expect.objectContaining({ fields: { proxy: `http://${proxy.host}` } }));
  });

  it('gets user and password, and no log shows them', async () => {
    make({ url: `http://kdebug:p%40ss-word@${proxy.host}` });
    await slack.start(inbox);
    const basic = `Basic ${Buffer.from('kdebug:p@ss-word').toString('base64')}`;
    expect(new Set(proxy.authorizations)).toEqual(new Set([basic]));
    expect(JSON.stringify(log.records)).not.toMatch(/p@ss|p%40ss/);
  });

  it('is left out for the hosts of NO_PROXY', async () => {
    make({ noProxy: 'example.com,127.0.0.1' });
    await useAll();
    expect(proxy.tunnels).toBe(0);
  });

  it('that refuses is named, without its password, and nothing goes past it', async () => {
    proxy.refusal = '407 Proxy Authentication Required';
    make({ url: `http://kdebug:p%40ss-word@${proxy.host}` });
    const error = await slack.start(inbox).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'slack_unreachable', detail: `through the proxy http://${proxy.host}` });
    expect(local.requests()).toEqual([]);
    expect(JSON.stringify(log.records)).not.toContain('ss-word');
  });

  it('keeps Socket Mode up when Slack recycles both lines', async () => {
    make();
    await slack.start(inbox);
    await local.sockets.refresh(100);
    await local.until(() => local.sockets.opened === 4 && local.sockets.count === 2);
    expect((await local.deliver.command({ ...ROY, text: 'pod-1' })).status).toBe(200);
  });

  it('does not keep a line that we closed, even where Slack leaves it open', async () => {
    make();
    await slack.start(inbox);
    expect(proxy.lines).toBe(2);
    const thaw = local.sockets.freeze();
    await slack.leave();
    await expect.poll(() => proxy.lines).toBe(0);
    thaw();
  });
});
