import fc from 'fast-check';
import { expect, it } from 'vitest';
import { messageText } from '../../../../src/adapters/slack/listeners/message-content.ts';

const rich = (...elements: unknown[]) => [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }];

it("a person's message is its rich text, not its fallback again", () => {
  const blocks = rich({ type: 'text', text: 'pod ' }, { type: 'text', text: 'web-1', style: { code: true } });
  expect(messageText({ text: 'pod web-1', blocks })).toBe('pod web-1');
});

it('a text that says something else than the blocks is kept', () => {
  expect(messageText({ text: 'fallback', blocks: rich({ type: 'text', text: 'a < b' }) })).toBe('a < b\nfallback');
});

it("Slack's links, dates and entities become words", () => {
  const text = '<http://x/y|web-1> &lt;a&gt; &amp;amp; <https://z> <!date^1^{date}|today> <@U0BOB>';
  expect(messageText({ text })).toBe('web-1 <a> &amp; https://z today @U0BOB');
  expect(messageText({ blocks: rich({ type: 'link', url: 'http://x' }, { type: 'text', text: ' &amp;' }) })).toBe(
    'http://x &amp;',
  );
});

it('an alert is its attachments: title, text and fields, and the fallback only where there is nothing else', () => {
  const attachments = [
    { title: 'PodCrashLooping', text: 'in *shop*', fields: [{ title: 'pod', value: 'web-1' }], fallback: 'no' },
    { fallback: 'only this' },
  ];
  expect(messageText({ text: '', attachments })).toBe('PodCrashLooping\nin *shop*\npod\nweb-1\nonly this');
});

/** As Slack sends it (slackapi/java-slack-sdk#1179). */
const forwarded = (blocks: unknown, text = '') => ({
  ...{ is_msg_unfurl: true, is_share: true, author_name: 'Alertmanager', text, fallback: '[today] Alertmanager' },
  message_blocks: [{ team: 'T0LOCAL', channel: 'C0OPS', ts: '1688651267.097029', message: { blocks } }],
});

it('a forwarded message is its blocks, and those only where it has no text', () => {
  const blocks = rich({ type: 'text', text: 'web-1 is down' });
  expect(messageText({ text: '', attachments: [forwarded(blocks)] })).toBe('Alertmanager\nweb-1 is down');
  expect(messageText({ text: 'look', attachments: [forwarded(blocks, 'web-1 *is* down')] })).toBe(
    'look\nAlertmanager\nweb-1 *is* down',
  );
});

it('sections, headers, fields and context are read; buttons and images are not', () => {
  const blocks = [
    { type: 'header', text: { type: 'plain_text', text: 'Alert' } },
    { type: 'section', text: { type: 'mrkdwn', text: 'web-1' }, fields: [{ type: 'mrkdwn', text: 'ns: shop' }] },
    {
      type: 'context',
      elements: [
        { type: 'mrkdwn', text: 'small' },
        { type: 'image', alt_text: 'x' },
      ],
    },
    { type: 'actions', elements: [{ type: 'button', text: { type: 'plain_text', text: 'Silence' } }] },
  ];
  expect(messageText({ blocks })).toBe('Alert\nweb-1\nns: shop\nsmall');
});

it('it is at most 4,000 characters, without hidden ones', () => {
  expect(messageText({ text: 'x'.repeat(9_000) })).toHaveLength(4_000);
  expect(messageText({ text: 'we\u200Bb\u202E-1\u0000' })).toBe('web-1');
});

it('no shape breaks it', () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), fc.jsonValue(), (text, blocks, attachments) => {
      expect(messageText({ text, blocks, attachments }).length).toBeLessThanOrEqual(4_000);
    }),
  );
  let deep: unknown = 'bottom';
  for (let depth = 0; depth < 5_000; depth += 1) deep = { elements: [deep] };
  expect(messageText({ blocks: [deep] })).toBe('');
});
