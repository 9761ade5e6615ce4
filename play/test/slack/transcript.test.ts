import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Change, type LocalSlack, startLocalSlack } from '../../slack/index.ts';
import { plainClient } from './bolt-app.ts';

let slack: LocalSlack;

beforeEach(async () => {
  slack = await startLocalSlack();
});
afterEach(() => slack.stop());

const CARD = [
  { type: 'header' as const, text: { type: 'plain_text' as const, text: 'Approve?' } },
  {
    type: 'rich_text' as const,
    elements: [
      {
        type: 'rich_text_section' as const,
        elements: [
          { type: 'user' as const, user_id: 'U0ROY' },
          { type: 'text' as const, text: ' asks & waits' },
        ],
      },
      { type: 'rich_text_preformatted' as const, elements: [{ type: 'text' as const, text: 'one <b>\ntwo' }] },
    ],
  },
  {
    type: 'actions' as const,
    elements: [
      { type: 'button' as const, action_id: 'approve', text: { type: 'plain_text' as const, text: 'Approve' } },
      { type: 'button' as const, action_id: 'reject', text: { type: 'plain_text' as const, text: 'Reject' } },
    ],
  },
];

it('reads like the channel: threads under their roots, newest states, buttons, files, private answers', async () => {
  const client = plainClient(slack);
  const alert = slack.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: 'look &amp; see <@U0BOB>' });
  await client.chat.postMessage({ channel: 'C0SHOP', text: 'card', blocks: CARD, thread_ts: alert.ts });
  const later = await client.chat.postMessage({ channel: 'C0SHOP', text: 'running' });
  await client.filesUploadV2({
    channel_id: 'C0SHOP',
    thread_ts: alert.ts,
    filename: 'log.txt',
    title: 'log.txt',
    content: 'x'.repeat(2048),
  });
  await slack.until(() => slack.transcript('C0SHOP').includes('log.txt'));
  await client.chat.update({ channel: 'C0SHOP', ts: later.ts ?? '', text: 'done' });
  await client.chat.postEphemeral({ channel: 'C0SHOP', user: 'U0BOB', text: 'psst' });
  const shared = [
    'roy',
    '  look & see @bob',
    '',
    '    kdebug APP',
    '      Approve?',
    '      @roy asks & waits',
    '      │ one <b>',
    '      │ two',
    '      [Approve] [Reject]',
    '',
    '    kdebug APP',
    '      [file log.txt, 2.0 KiB]',
    '',
    'kdebug APP',
    '  done',
    '  (edited)',
    '',
  ];
  const psst = (who: string) => [`kdebug APP  (only visible to ${who})`, '  psst', ''];
  expect(slack.transcript('C0SHOP', { times: false }).split('\n')).toEqual([...shared, ...psst('@bob')]);
  expect(slack.transcript('C0SHOP', { times: false, as: 'U0BOB' }).split('\n')).toEqual([...shared, ...psst('you')]);
  expect(slack.transcript('C0SHOP', { times: false, as: 'U0ROY' }).split('\n')).toEqual(shared);
  expect(slack.transcript('C0SHOP', { times: false, thread: alert.ts }).split('\n')).toEqual(
    expect.arrayContaining(shared.slice(0, 13)),
  );
});

it('the feed tells every change in order', async () => {
  const seen: string[] = [];
  slack.changes.on('change', (change: Change) => seen.push(change.kind));
  const client = plainClient(slack);
  const { ts = '' } = await client.chat.postMessage({ channel: 'C0SHOP', text: 'one' });
  await client.chat.update({ channel: 'C0SHOP', ts, text: 'two' });
  await client.chat.delete({ channel: 'C0SHOP', ts });
  expect(seen).toEqual(['posted', 'call', 'updated', 'call', 'deleted', 'call']);
});

it('until gives up with the transcript in its message', async () => {
  slack.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: 'only this' });
  await expect(slack.until(() => slack.messages('C0SHOP').length > 1, 20)).rejects.toThrow(/only this/);
});
