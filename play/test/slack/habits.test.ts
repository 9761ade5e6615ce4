import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../slack/index.ts';
import { outcome, plainClient } from './bolt-app.ts';

let slack: LocalSlack;
const client = () => plainClient(slack);
const GONE = '1600000000.000001';

beforeEach(async () => {
  slack = await startLocalSlack({ rates: { off: true } });
});
afterEach(() => slack.stop());

const post = (more: object = {}) => client().chat.postMessage({ channel: 'C0SHOP', text: 'hi', ...more });
const whisper = (more: object = {}) =>
  client().chat.postEphemeral({ channel: 'C0SHOP', user: 'U0ROY', text: 'psst', ...more });

async function file(more: object = {}): Promise<string> {
  const { upload_url: url = '', file_id: id = '' } = await client().files.getUploadURLExternal({
    filename: 'log.txt',
    length: 3,
  });
  await fetch(url, { method: 'POST', body: 'abc' });
  await client().apiCall('files.completeUploadExternal', { files: [{ id }], channel_id: 'C0SHOP', ...more });
  return id;
}

const sharesOf = async (id: string) => (await client().files.info({ file: id })).file?.shares?.public?.C0SHOP?.[0]?.ts;

describe('a reply to a message that is gone', () => {
  it('stands in the channel itself, and its answer names no thread', async () => {
    const answer = await post({ thread_ts: GONE });
    expect(answer.message).not.toHaveProperty('thread_ts');
    expect(slack.messages('C0SHOP')).toMatchObject([{ ts: answer.ts }]);
    await file({ thread_ts: GONE });
    await slack.until(() => slack.messages('C0SHOP')[1]?.files.length === 1);
  });

  it('is refused where Slack does that', async () => {
    slack.habits.lostThreads = 'refuse';
    expect(await outcome(post({ thread_ts: GONE }))).toBe('thread_not_found');
    expect(await outcome(file({ thread_ts: GONE }))).toBe('thread_not_found');
  });
});

it('knows no block of a type that the workspace does not have, and says which', async () => {
  slack.habits.withoutBlocks = ['table'];
  const rows = [[{ type: 'raw_text', text: 'a' }]];
  const blocks = [{ type: 'divider' }, { type: 'table', rows }];
  await expect(client().apiCall('chat.postMessage', { channel: 'C0SHOP', blocks })).rejects.toMatchObject({
    data: { error: 'invalid_blocks', errors: ['unsupported type: table [json-pointer:/blocks/1/type]'] },
  });
  slack.habits.withoutBlocks = [];
  expect(await outcome(client().apiCall('chat.postMessage', { channel: 'C0SHOP', blocks }))).toBe('ok');
});

it('a press on a message with files is shown to nobody where such buttons are dead; others arrive', async () => {
  slack.habits.fileButtons = 'dead';
  const button = { type: 'button', action_id: 'rerun', text: { type: 'plain_text', text: 'Run again' } };
  const blocks = [{ type: 'actions', elements: [button] }];
  await file({ blocks });
  const shared = await slack.until(() => slack.messages('C0SHOP').find(({ files }) => files.length === 1));
  const press = (ts: string) => slack.deliver.action({ user: 'U0ROY', channel: 'C0SHOP', ts, actionId: 'rerun' });
  const lost = await press(shared.ts);
  expect([lost.status, lost.error]).toEqual([0, undefined]);
  const { ts = '' } = await post({ blocks });
  // Nobody listens here, so it fails at the door, and not before.
  expect((await press(ts)).error).toBe('dispatch_failed');
});

describe('a private answer', () => {
  it('reaches only who is active, and the app is not told', async () => {
    slack.habits.away = new Set(['U0ROY']);
    expect(await outcome(whisper())).toBe('ok');
    expect(slack.ephemerals('U0ROY')).toEqual([]);
    slack.habits.away = new Set();
    await whisper();
    expect(slack.ephemerals('U0ROY')).toHaveLength(1);
  });

  it('is gone after a reload, for that person', async () => {
    await whisper();
    await whisper({ user: 'U0BOB' });
    slack.reload('U0ROY');
    expect([slack.ephemerals('U0ROY').length, slack.ephemerals('U0BOB').length]).toEqual([0, 1]);
  });

  it('is refused where only some may post', async () => {
    slack.team.channels.C0SHOP!.posting = 'nobody';
    expect(await outcome(whisper())).toBe('restricted_action');
  });
});

describe('where a file was shared', () => {
  it('may be said late, and its message stands above what came in between', async () => {
    slack.habits.fileShares = 'late';
    slack.state.background.delayMs = 60_000;
    const id = await file();
    const { ts } = await post();
    slack.state.background.flush();
    expect(slack.messages('C0SHOP').map(({ files, ts }) => [files.length, ts])).toEqual([
      [1, expect.any(String)],
      [0, ts],
    ]);
    expect(await sharesOf(id)).toBeUndefined();
    slack.state.background.flush();
    expect(await sharesOf(id)).toBe(slack.messages('C0SHOP')[0]?.ts);
  });

  it('may never be said, and the message may never come', async () => {
    slack.state.background.delayMs = 60_000;
    slack.habits.fileShares = 'unrecorded';
    const id = await file();
    slack.state.background.flush();
    expect([slack.messages('C0SHOP').length, await sharesOf(id)]).toEqual([1, undefined]);
    slack.habits.fileShares = 'lost';
    const lost = await file();
    slack.state.background.flush();
    expect([slack.messages('C0SHOP').length, await sharesOf(lost)]).toEqual([1, undefined]);
  });
});
