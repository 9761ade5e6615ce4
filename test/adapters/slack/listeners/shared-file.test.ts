import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { jobFile, readSharedFile } from '../../../../src/adapters/slack/listeners/message-content.ts';
import { startWorld, type World } from '../harness.ts';

const YAML = 'apiVersion: apps.kruise.io/v1alpha1\nkind: EphemeralJob\n# ä\n';
const ROY = { user: 'U0ROY', channel: 'C0SHOP' };

let world: World;
beforeAll(async () => {
  world = await startWorld('http');
});
afterAll(() => world.stop());
beforeEach(() => world.inbox.forget());

const share = (name: string, content: string) => world.local.share({ ...ROY, name, content });
const apply = (ts: string, callbackId = 'apply-job') => world.local.deliver.shortcut({ ...ROY, ts, callbackId });

describe('the file of a message', () => {
  it('is read with the bot’s token and brought to the inbox', async () => {
    const { ts } = await share('job.yaml', YAML);
    await apply(ts);
    await world.local.until(() => world.inbox.shortcuts.length === 1);
    expect(world.inbox.shortcuts[0]).toMatchObject({ name: 'apply-job', code: YAML });
  });

  it('is found beside one that Slack gives nothing of (a free workspace hides old files)', async () => {
    const old = await share('old.yaml', YAML);
    const { ts, files } = await share('job.yaml', YAML);
    files.unshift(...old.files);
    world.local.hideFile(old.files[0] ?? '');
    await apply(ts);
    await world.local.until(() => world.inbox.shortcuts.length === 1);
    expect(world.inbox.shortcuts[0]).toMatchObject({ code: YAML });
  });

  it('is left alone by the shortcut that needs none', async () => {
    const { ts } = await share('job.yaml', YAML);
    await apply(ts, 'debug-pod');
    await world.local.until(() => world.inbox.shortcuts.length === 1);
    expect(world.inbox.shortcuts[0]).not.toHaveProperty('code');
  });

  it.each([
    ['photo.png', 'x'],
    ['job.yaml', 'x'.repeat(65_537)],
  ])('%s that can be no job is not even read', async (name, content) => {
    const { ts } = await share(name, content);
    await apply(ts);
    await world.local.until(() => world.inbox.shortcuts.length === 1);
    expect(world.inbox.shortcuts[0]).not.toHaveProperty('code');
  });

  it('that Slack does not give is a private answer (slack_file_unreadable), and nothing is taken', async () => {
    const { ts } = await share('job.yaml', YAML);
    world.local.faults.queue({ method: 'download', kind: 'http_500' });
    const before = world.local.ephemerals('U0ROY').length;
    await apply(ts);
    const told = await world.local.until(() => world.local.ephemerals('U0ROY')[before]);
    expect(JSON.stringify(told.blocks)).toContain('slack_file_unreadable');
    expect(world.inbox.shortcuts).toEqual([]);
  });
});

describe('reading a file', () => {
  const reading = () => ({ botToken: world.local.botToken, apiUrl: world.local.apiUrl });
  const urlOf = async (content: string) => {
    const message = await share('job.yaml', content);
    return world.local.state.files.get(message.files[0] ?? '')?.urlPrivate ?? '';
  };
  const file = (url_private: string) => ({ name: 'job.yaml', size: 10, url_private });

  it('gives the token to nobody but Slack', async () => {
    for (const url of [
      'https://evil.example/files',
      'http://files.slack.com/x',
      'https://slack.com.evil.example/',
      'x',
    ]) {
      await expect(readSharedFile(file(url), reading())).rejects.toMatchObject({
        code: 'slack_file_unreadable',
        detail: 'foreign_address',
      });
    }
  });

  it('does not follow Slack to its page to sign in, where the token is not enough', async () => {
    const url = await urlOf(YAML);
    await expect(readSharedFile(file(url), { ...reading(), botToken: 'xoxb-other' })).rejects.toMatchObject({
      code: 'slack_file_unreadable',
      detail: 'status 302',
    });
  });

  it('stops at what a job may have, whatever its size was said to be', async () => {
    await expect(readSharedFile(file(await urlOf('x'.repeat(70_000))), reading())).rejects.toMatchObject({
      detail: 'longer than it was said to be',
    });
    expect(await readSharedFile(file(await urlOf('x'.repeat(65_536))), reading())).toHaveLength(65_536);
  });

  it('takes the first file that may hold a job', () => {
    const [photo, big, job] = [
      { name: 'a.png', size: 1, url_private: '' },
      { name: 'a.yml', size: 65_537, url_private: '' },
      { name: 'B.YAML', size: 65_536, url_private: '' },
    ];
    expect(jobFile([photo, big, job])).toBe(job);
    expect(jobFile([photo])).toBeUndefined();
    expect(jobFile()).toBeUndefined();
  });
});
