import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../slack/index.ts';
import { plainClient } from './bolt-app.ts';

let slack: LocalSlack;

beforeEach(async () => {
  slack = await startLocalSlack({ rates: { off: true } });
});
afterEach(async () => {
  await slack.stop();
  expect(slack.unknown).toEqual([]);
});

const post = async (more: object = {}) =>
  (await plainClient(slack).chat.postMessage({ channel: 'C0SHOP', text: 'hi', ...more })).ts ?? '';
const rich = (element: object) => ({
  blocks: [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [element] }] }],
});
const why = (user: string) => slack.notified(user).map((one) => one.why);

describe('who is notified of a post', () => {
  it('who is named in it, by text or by a rich text element', async () => {
    await post({ text: 'done, <@U0ROY>' });
    await post({ text: 'done', ...rich({ type: 'user', user_id: 'U0ROY' }) });
    expect(slack.notified('U0ROY')).toMatchObject([
      { user: 'U0ROY', channel: 'C0SHOP', why: 'mention', phone: 'done, @roy' },
      { why: 'mention', phone: 'done', desktop: '@roy' },
    ]);
    expect(why('U0BOB')).toEqual([]);
  });

  it('nobody by a name in the text of a message with blocks', async () => {
    await post({ text: 'done, <@U0ROY>', blocks: [{ type: 'divider' }] });
    expect(why('U0ROY')).toEqual([]);
  });

  it('nobody by a name in a text whose markup is switched off', async () => {
    await post({ text: 'done, <@U0ROY>', mrkdwn: false });
    expect(why('U0ROY')).toEqual([]);
  });

  it('the members of a group that are in the channel, and not those that are not', async () => {
    slack.deliver.remove({ channel: 'C0SHOP', user: 'U0ALICE' });
    await post(rich({ type: 'usergroup', usergroup_id: 'S0SRE' }));
    expect([why('U0BOB'), why('U0ALICE'), why('U0ROY')]).toEqual([['group'], [], []]);
  });

  it('nobody who is named where they are not a member', async () => {
    await post({ channel: 'C0SECRET', text: '<@U0ROY> and <@U0BOB>' });
    expect([why('U0ROY'), why('U0BOB')]).toEqual([[], ['mention']]);
  });

  it('the person of a direct message', async () => {
    await post({ channel: 'U0ROY' });
    expect(slack.notified('U0ROY')).toMatchObject([{ channel: 'D00ROY', why: 'direct' }]);
  });

  it('all people of the channel by @channel, without its bots and its sender', async () => {
    slack.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: '<!channel> lunch' });
    expect([why('U0BOB'), why('U0ROY'), why('U0ROBOT')]).toEqual([['mention'], [], []]);
  });
});

describe('what a notification says', () => {
  const roy = [{ type: 'user', user_id: 'U0ROY' }];
  const button = { type: 'button', action_id: 'rerun', text: { type: 'plain_text', text: 'Run again' } };
  const blocks = [
    {
      type: 'rich_text',
      elements: [{ type: 'rich_text_section', elements: [...roy, { type: 'text', text: ': it failed' }] }],
    },
    { type: 'divider' },
    { type: 'actions', elements: [button] },
  ];

  async function share(where: object): Promise<void> {
    const client = plainClient(slack);
    const { upload_url: url = '', file_id: id } = await client.files.getUploadURLExternal({
      filename: 'log.txt',
      length: 3,
    });
    await fetch(url, { method: 'POST', body: 'abc' });
    await client.apiCall('files.completeUploadExternal', { files: [{ id }], ...where });
  }

  it('on a phone the text alone, on a desktop the words of the blocks', async () => {
    await post({ text: 'web-1 failed, &lt;1 s', blocks });
    expect(slack.notified('U0ROY')).toMatchObject([{ phone: 'web-1 failed, <1 s', desktop: '@roy: it failed' }]);
  });

  it('on a phone an id where markup is switched off', async () => {
    await post({ text: '<@U0ROY>: web-1 failed', mrkdwn: false, blocks });
    expect(slack.notified('U0ROY')).toMatchObject([{ phone: '<@U0ROY>: web-1 failed' }]);
  });

  it('on a phone nothing of a message with files and blocks, because its call takes no text', async () => {
    await share({ channel_id: 'C0SHOP', blocks });
    const pushed = await slack.until(() => slack.notified('U0ROY')[0]);
    expect(pushed).toMatchObject({ phone: '', desktop: '@roy: it failed' });
  });

  it('of a bare file its name, and of an alert the fallback of its attachment, on both', async () => {
    await share({ channel_id: slack.state.direct('U0ROY').id });
    expect(await slack.until(() => slack.notified('U0ROY')[0])).toMatchObject({ phone: 'log.txt', desktop: 'log.txt' });
    await post({ channel: 'U0ROY', text: '', attachments: [{ fallback: 'web-1 crashes', text: 'more' }] });
    expect(slack.notified('U0ROY').at(-1)).toMatchObject({ phone: 'web-1 crashes', desktop: 'web-1 crashes' });
  });
});

describe('who follows a thread', () => {
  it('who began it, wrote in it, or was named in a reply; not who was named in its root', async () => {
    const { ts } = slack.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: 'pod-1 is down, <@U0JONAS>' });
    slack.deliver.say({ user: 'U0BOB', channel: 'C0SHOP', text: 'I look, <@U0ALICE>', threadTs: ts });
    const reply = await post({ thread_ts: ts });
    const last = (user: string) => slack.notified(user).find((one) => one.ts === reply)?.why;
    expect(['U0ROY', 'U0BOB', 'U0ALICE', 'U0JONAS', 'U0GINGER'].map(last)).toEqual([
      'thread',
      'thread',
      'thread',
      undefined,
      undefined,
    ]);
    expect(slack.notified('U0ROY').at(-1)).toMatchObject({ threadTs: ts });
  });

  it('nobody who only typed the command that the bot’s thread is about', async () => {
    const root = await post();
    await post({ thread_ts: root });
    expect(why('U0ROY')).toEqual([]);
  });
});

it('an edit, a reaction and a private answer notify nobody', async () => {
  const ts = await post();
  const client = plainClient(slack);
  await client.chat.update({ channel: 'C0SHOP', ts, text: '<@U0ROY>' });
  await client.chat.postEphemeral({ channel: 'C0SHOP', user: 'U0ROY', text: '<@U0ROY>' });
  expect(why('U0ROY')).toEqual([]);
});

it('each notification is a change after the post, and a person nobody knows is an error', async () => {
  const seen: string[] = [];
  slack.changes.on('change', ({ kind }) => seen.push(kind));
  await post({ text: '<@U0ROY>' });
  expect(seen.filter((kind) => kind !== 'call')).toEqual(['posted', 'notified']);
  expect(() => slack.notified('U0NOBODY')).toThrow('nobody here is U0NOBODY');
});
