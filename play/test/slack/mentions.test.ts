import { describe, expect, it } from 'vitest';
import { mentionsIn, type StoredMessage, wouldUnfurl } from '../../slack/index.ts';

function message(more: Partial<StoredMessage>): StoredMessage {
  return {
    channel: 'C0SHOP',
    ts: '1.000001',
    user: 'U',
    text: '',
    blocks: [],
    files: [],
    revisions: 0,
    reactions: [],
    ...more,
  };
}

const kinds = (more: Partial<StoredMessage>) => mentionsIn(message(more)).map((one) => one.kind);
const mrkdwn = (text: string, more: object = {}) => ({
  blocks: [{ type: 'section', text: { type: 'mrkdwn', text, ...more } }],
});
const rich = (...elements: object[]) => ({
  blocks: [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }],
});

describe('what Slack would render of a text', () => {
  it.each([
    ['<!channel>', ['broadcast']],
    ['<!here|here>', ['broadcast']],
    ['<!everyone>', ['broadcast']],
    ['<@U0ROY>', ['user']],
    ['<!subteam^S0SRE>', ['usergroup']],
    ['<#C0SHOP|shop>', ['channel']],
    ['<https://evil.example|click>', ['link']],
    ['<mailto:a@b.example|mail>', ['link']],
    ['see https://evil.example/x now', ['link']],
    ['see evil.com now', ['link']],
    ['mail a@b.example now', ['link']],
    [':smile:', ['emoji']],
    ['*bold*', ['bold']],
    ['_italic_', ['italic']],
    ['~strike~', ['strike']],
    ['`code`', ['code']],
    ['```fence```', ['preformatted']],
    ['> quote', ['quote']],
    ['&gt; quote', ['quote']],
    ['```a``` *b* ```c```', ['preformatted', 'preformatted', 'bold']],
    ['a < b > c', []],
    ['&lt;!channel&gt;', []],
    ['&amp;lt;!channel&amp;gt;', []],
    ['snake_case_name and 2*3*4', []],
    ['12:34:56', []],
    ['pod-1 exited with 3', []],
  ])('%s', (text, expected) => {
    expect(kinds({ text })).toEqual(expected);
    expect(kinds(mrkdwn(text))).toEqual(expected);
  });

  it('bare @channel and #name count where names are looked up: in mrkdwn objects unless verbatim, in text on demand', () => {
    expect(kinds({ text: '@channel #general' })).toEqual([]);
    expect(kinds({ text: '@channel #general', linkNames: true })).toEqual(['broadcast', 'channel']);
    expect(kinds(mrkdwn('@channel #general'))).toEqual(['broadcast', 'channel']);
    expect(kinds(mrkdwn('@channel https://evil.example', { verbatim: true }))).toEqual([]);
  });

  it('parse none links no bare address, mrkdwn false formats nothing', () => {
    expect(kinds({ text: 'https://evil.example', parse: 'none' })).toEqual([]);
    expect(kinds({ text: '*bold* `code`', mrkdwn: false })).toEqual([]);
    expect(kinds({ text: '<!channel>', mrkdwn: false, parse: 'none' })).toEqual(['broadcast']);
  });

  it('plain_text shows letters, but emoji unless switched off', () => {
    const header = (emoji?: boolean) => ({
      blocks: [
        {
          type: 'header',
          text: { type: 'plain_text', text: '<!here> *b* :smile:', ...(emoji === undefined ? {} : { emoji }) },
        },
      ],
    });
    expect(kinds(header())).toEqual(['emoji']);
    expect(kinds(header(false))).toEqual([]);
  });

  it('rich text is structure: its letters are never parsed, its elements are reported', () => {
    expect(kinds(rich({ type: 'text', text: '<!channel> *b* `c` https://evil.example :smile:' }))).toEqual([]);
    expect(kinds(rich({ type: 'broadcast', range: 'here' }, { type: 'user', user_id: 'U0ROY' }))).toEqual([
      'broadcast',
      'user',
    ]);
    expect(kinds(rich({ type: 'text', text: 'x', style: { bold: true, code: true } }))).toEqual(['bold', 'code']);
    expect(mentionsIn(message(rich({ type: 'link', url: 'https://a.example' })))).toEqual([
      { kind: 'link', text: 'https://a.example', where: '/blocks/0/elements/0/elements/0' },
    ]);
  });

  it('a markdown block is parsed in full', () => {
    expect(kinds({ blocks: [{ type: 'markdown', text: '[x](https://evil.example) **b**' }] })).toEqual(
      expect.arrayContaining(['link', 'bold']),
    );
  });

  it('previews: media by default, links on demand, nothing when both are false', () => {
    expect(wouldUnfurl(message({}))).toEqual({ links: false, media: true });
    expect(wouldUnfurl(message({ unfurlLinks: false, unfurlMedia: false }))).toEqual({ links: false, media: false });
  });
});
