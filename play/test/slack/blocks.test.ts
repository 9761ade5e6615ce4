import { describe, expect, it } from 'vitest';
import { blocksTooLong, checkMessageBlocks, checkViewBlocks, HIDDEN_BLOCKS_LIMIT } from '../../slack/blocks/check.ts';

const plain = (text: string) => ({ type: 'plain_text', text });
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
const x = (length: number) => 'x'.repeat(length);
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const button = (more: object = {}) => ({ type: 'button', text: plain('Go'), ...more });
const rich = (...elements: object[]) => ({ type: 'rich_text', elements });
const section = (...elements: object[]) => ({ type: 'rich_text_section', elements });
const word = (text: string) => ({ type: 'text', text });

const link = (url: string) => ({ type: 'link', url });
const cellOf = (text: string) => ({ type: 'raw_text', text });

const table = (rows: number, columns: number, text = 'x') => ({
  type: 'table',
  rows: many(rows, () => many(columns, () => ({ type: 'raw_text', text }))),
});

/** What is just allowed, and one step further. */
const LIMITS: readonly [string, unknown[], unknown[]][] = [
  ['50 blocks', many(50, () => ({ type: 'divider' })), many(51, () => ({ type: 'divider' }))],
  ['section text 3000', [{ type: 'section', text: mrkdwn(x(3000)) }], [{ type: 'section', text: mrkdwn(x(3001)) }]],
  ['section text not empty', [{ type: 'section', text: mrkdwn('x') }], [{ type: 'section', text: mrkdwn('') }]],
  [
    'section fields 10',
    [{ type: 'section', fields: many(10, () => mrkdwn('x')) }],
    [{ type: 'section', fields: many(11, () => mrkdwn('x')) }],
  ],
  [
    'section field 2000',
    [{ type: 'section', fields: [plain(x(2000))] }],
    [{ type: 'section', fields: [plain(x(2001))] }],
  ],
  ['header 150', [{ type: 'header', text: plain(x(150)) }], [{ type: 'header', text: plain(x(151)) }]],
  [
    'table cells not empty',
    [{ type: 'table', rows: [[{ type: 'raw_text', text: '–' }]] }],
    [{ type: 'table', rows: [[{ type: 'raw_text', text: '' }]] }],
  ],
  [
    'rich table cells not empty',
    [{ type: 'table', rows: [[rich(section({ type: 'user', user_id: 'U0BOB' }))]] }],
    [{ type: 'table', rows: [[rich(section())]] }],
  ],
  [
    'table rows of one length',
    [{ type: 'table', rows: [[cellOf('a'), cellOf('b')]] }],
    [{ type: 'table', rows: [[cellOf('a'), cellOf('b')], [cellOf('a')]] }],
  ],
  [
    'an image has a picture',
    [{ type: 'image', alt_text: 'cpu', image_url: 'https://example.com/cpu.png' }],
    [{ type: 'image', alt_text: 'cpu' }],
  ],
  [
    'an image has one picture',
    [{ type: 'image', alt_text: 'cpu', slack_file: { id: 'F0CPU' } }],
    [{ type: 'image', alt_text: 'cpu', slack_file: { id: 'F0CPU' }, image_url: 'https://example.com/cpu.png' }],
  ],
  [
    'a small image has a picture',
    [{ type: 'context', elements: [{ type: 'image', alt_text: 'cpu', slack_file: { id: 'F0CPU' } }] }],
    [{ type: 'context', elements: [{ type: 'image', alt_text: 'cpu' }] }],
  ],
  [
    'the address of a button',
    [{ type: 'actions', elements: [button({ url: 'https://example.com' })] }],
    [{ type: 'actions', elements: [button({ url: 'the runbook' })] }],
  ],
  ['the address of a link', [rich(section(link('https://example.com')))], [rich(section(link('the runbook')))]],
  ['the scheme of a link', [rich(section(link('mailto:a@example.com')))], [rich(section(link('javascript:x')))]],
  ['table rows 100', [table(100, 1)], [table(101, 1)]],
  ['one table', [table(1, 1)], [table(1, 1), table(1, 1)]],
  ['table characters 10,000', [table(10, 1, x(1_000))], [table(10, 1, x(1_001))]],
  ['header plain only', [{ type: 'header', text: plain('x') }], [{ type: 'header', text: mrkdwn('x') }]],
  [
    'context elements 10',
    [{ type: 'context', elements: many(10, () => mrkdwn('x')) }],
    [{ type: 'context', elements: many(11, () => mrkdwn('x')) }],
  ],
  [
    'actions 25',
    [{ type: 'actions', elements: many(25, () => button()) }],
    [{ type: 'actions', elements: many(26, () => button()) }],
  ],
  ['actions not empty', [{ type: 'actions', elements: [button()] }], [{ type: 'actions', elements: [] }]],
  [
    'button text 75',
    [{ type: 'actions', elements: [button({ text: plain(x(75)) })] }],
    [{ type: 'actions', elements: [button({ text: plain(x(76)) })] }],
  ],
  [
    'button value 2000',
    [{ type: 'actions', elements: [button({ value: x(2000) })] }],
    [{ type: 'actions', elements: [button({ value: x(2001) })] }],
  ],
  [
    'action_id 255',
    [{ type: 'actions', elements: [button({ action_id: x(255) })] }],
    [{ type: 'actions', elements: [button({ action_id: x(256) })] }],
  ],
  ['block_id 255', [{ type: 'divider', block_id: x(255) }], [{ type: 'divider', block_id: x(256) }]],
  [
    'button styles',
    [{ type: 'actions', elements: [button({ style: 'danger' })] }],
    [{ type: 'actions', elements: [button({ style: 'default' })] }],
  ],
  [
    'confirm texts',
    [
      {
        type: 'actions',
        elements: [
          button({ confirm: { title: plain('t'), text: plain(x(300)), confirm: plain('y'), deny: plain('n') } }),
        ],
      },
    ],
    [
      {
        type: 'actions',
        elements: [
          button({ confirm: { title: plain('t'), text: plain(x(301)), confirm: plain('y'), deny: plain('n') } }),
        ],
      },
    ],
  ],
  ['unique block ids', [{ type: 'divider', block_id: 'a' }], many(2, () => ({ type: 'divider', block_id: 'a' }))],
  [
    'unique action ids in a block',
    many(2, () => ({ type: 'actions', elements: [button({ action_id: 'a' })] })),
    [{ type: 'actions', elements: [button({ action_id: 'a' }), button({ action_id: 'a' })] }],
  ],
  ['known types', [{ type: 'divider' }], [{ type: 'banner' }]],
  ['known properties', [{ type: 'divider' }], [{ type: 'divider', colour: 'red' }]],
  [
    'known elements',
    [{ type: 'actions', elements: [button()] }],
    [{ type: 'actions', elements: [{ type: 'lever', text: plain('x') }] }],
  ],
  [
    'markdown 12000 in all',
    [{ type: 'markdown', text: x(12_000) }],
    many(2, () => ({ type: 'markdown', text: x(6_001) })),
  ],
  ['rich text not empty', [rich(section(word('x')))], [rich(section(word('')))]],
  ['rich text parts', [rich(section(word('x')))], [rich(word('x'))]],
  [
    'preformatted takes text and links',
    [rich({ type: 'rich_text_preformatted', elements: [word('x')] })],
    [rich({ type: 'rich_text_preformatted', elements: [{ type: 'user', user_id: 'U0ROY' }] })],
  ],
  [
    'list of sections',
    [rich({ type: 'rich_text_list', style: 'bullet', elements: [section(word('x'))] })],
    [rich({ type: 'rich_text_list', style: 'bullet', elements: [word('x')] })],
  ],
  ['user ids', [rich(section({ type: 'user', user_id: 'U0ROY' }))], [rich(section({ type: 'user', user_id: 'roy' }))]],
  [
    'styles',
    [rich(section({ ...word('x'), style: { bold: true } }))],
    [rich(section({ ...word('x'), style: { huge: true } }))],
  ],
];

describe('Block Kit limits', () => {
  it.each(LIMITS)('%s', (_name, allowed, refused) => {
    expect(checkMessageBlocks(allowed)).toEqual([]);
    expect(checkMessageBlocks(refused)).not.toEqual([]);
  });

  it('complaints are in Slack’s words, with a pointer', () => {
    expect(checkMessageBlocks([{ type: 'section', text: mrkdwn(x(3001)) }])).toEqual([
      'must be less than 3001 characters [json-pointer:/blocks/0/text/text]',
    ]);
  });

  it.each([
    ['markdown in a menu', { options: [{ text: mrkdwn('a'), value: 'a' }] }],
    ['a link in a menu', { options: [{ text: plain('a'), value: 'a', url: 'https://example.com' }] }],
  ])('%s is refused: it belongs into boxes, or an overflow menu', (_name, more) => {
    const menu = (given: object) => ({ type: 'actions', elements: [{ type: 'static_select', ...given }] });
    expect(checkMessageBlocks([menu({ options: [{ text: plain('a'), value: 'a' }] })])).toEqual([]);
    expect(checkMessageBlocks([menu(more)])).not.toEqual([]);
    const links = [{ text: plain('a'), value: 'a', url: 'https://example.com' }];
    expect(checkMessageBlocks([{ type: 'actions', elements: [{ type: 'overflow', options: links }] }])).toEqual([]);
  });

  it.each(['static_select', 'multi_static_select'])('a %s has options, in groups or not', (type) => {
    const menu = (more: object) => [{ type: 'section', text: plain('x'), accessory: { type, ...more } }];
    const options = [{ text: plain('a'), value: 'a' }];
    expect(checkMessageBlocks(menu({ options }))).toEqual([]);
    expect(checkMessageBlocks(menu({ option_groups: [{ label: plain('g'), options }] }))).toEqual([]);
    expect(checkMessageBlocks(menu({}))).toEqual([
      'missing required field: options [json-pointer:/blocks/0/accessory]',
    ]);
    expect(checkMessageBlocks(menu({ options, option_groups: [{ label: plain('g'), options }] }))).not.toEqual([]);
  });

  it('what stands in a search menu from the start is plain text', () => {
    const search = (text: object) => ({
      ...{ type: 'input', label: plain('Pod') },
      element: { type: 'external_select', action_id: 'pod', initial_option: { text, value: 'a' } },
    });
    expect(checkViewBlocks([search(plain('a'))])).toEqual([]);
    expect(checkViewBlocks([search(mrkdwn('a'))])).not.toEqual([]);
  });

  it('one element of a view has the focus from the start', () => {
    const input = { type: 'input', label: plain('Pod'), element: { type: 'plain_text_input', focus_on_load: true } };
    expect(checkViewBlocks([input])).toEqual([]);
    expect(checkViewBlocks([input, input])).toEqual([
      'only one element can have `focus_on_load` [json-pointer:/blocks]',
    ]);
  });

  it('inputs belong in views only', () => {
    const input = { type: 'input', label: plain('Pod'), element: { type: 'plain_text_input', action_id: 'pod' } };
    expect(checkViewBlocks([input])).toEqual([]);
    expect(checkMessageBlocks([input])).toEqual(['unsupported type: input [json-pointer:/blocks/0]']);
  });

  it('hostile JSON never throws and never passes', () => {
    const hostile: unknown[] = [
      null,
      1,
      'x',
      [],
      { type: '__proto__' },
      { type: 'constructor' },
      { type: { type: 'divider' } },
    ];
    for (const one of hostile) expect(checkMessageBlocks([one])).not.toEqual([]);
  });

  it('the hidden total counts JSON, with entities for what Slack escapes', () => {
    const blocksOf = (text: string) => [rich({ type: 'rich_text_preformatted', elements: [word(text)] })];
    const frame = JSON.stringify(blocksOf('')).length;
    expect(blocksTooLong(blocksOf(x(HIDDEN_BLOCKS_LIMIT - frame)))).toBe(false);
    expect(blocksTooLong(blocksOf(x(HIDDEN_BLOCKS_LIMIT - frame + 1)))).toBe(true);
    expect(blocksTooLong(blocksOf('&'.repeat(3_000)))).toBe(true);
  });
});
