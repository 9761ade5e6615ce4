import { describe, expect, it } from 'vitest';
import { checkedView } from '../../../../play/slack/api/views.ts';
import { checkMessageBlocks } from '../../../../play/slack/blocks/check.ts';
import { homeTab, simplerViews, view } from '../../../../src/adapters/slack/views/view.ts';
import { code, type Message, strong, type TablePart, text } from '../../../../src/core/say/message/message.ts';

const outcomes: TablePart = {
  kind: 'table',
  columns: [{ label: 'Pod' }, { label: 'Exit code', align: 'right' }],
  rows: [[[code('cart-1')], [text('1')]], [[code('cart-2')], []], [[code(':tada: <!channel>')]]],
};
const message = (...parts: Message['parts']): Message => ({
  summary: 'two of three failed',
  tone: 'failure',
  parts: [{ kind: 'paragraph', spans: [strong('two of three failed')] }, ...parts],
});
const many = (rows: number, words: string): TablePart => ({
  ...outcomes,
  rows: Array.from({ length: rows }, () => [[text(words)], [text('0')]]),
});
const kindsOf = (one: Message): readonly string[] => view(one).blocks.map(({ type }) => type);

describe('a table', () => {
  it('has a head, literal cells, and a dash where a cell is empty or missing', () => {
    const { blocks } = view(message(outcomes));
    expect(checkMessageBlocks(blocks)).toEqual([]);
    const rich = (element: object) => ({
      type: 'rich_text',
      elements: [{ type: 'rich_text_section', elements: [element] }],
    });
    const dash = { type: 'raw_text', text: '–' };
    expect(blocks[1]).toEqual({
      type: 'table',
      column_settings: [
        { align: 'left', is_wrapped: true },
        { align: 'right', is_wrapped: true },
      ],
      rows: [
        [
          { type: 'raw_text', text: 'Pod' },
          { type: 'raw_text', text: 'Exit code' },
        ],
        [rich({ type: 'text', text: 'cart-1', style: { code: true } }), { type: 'raw_text', text: '1' }],
        [rich({ type: 'text', text: 'cart-2', style: { code: true } }), dash],
        [rich({ type: 'text', text: ':tada: <!channel>', style: { code: true } }), dash],
      ],
    });
  });

  it('counts the rows that do not fit, by number or by size', () => {
    for (const [table, left] of [
      [many(150, 'x'), '… 52 more'],
      [many(60, 'long words '.repeat(20)), /^… \d+ more$/],
    ] as const) {
      const { blocks } = view(message(table));
      expect(checkMessageBlocks(blocks)).toEqual([]);
      const block = blocks[1];
      const rows = block?.type === 'table' ? block.rows : [];
      expect(rows.length).toBeLessThanOrEqual(100);
      expect(rows.at(-1)?.[0]).toEqual({
        type: 'raw_text',
        text: typeof left === 'string' ? left : expect.stringMatching(left),
      });
    }
  });

  it('with all of its hundred rows has no row that counts', () => {
    const block = view(message(many(99, 'x'))).blocks[1];
    expect(block?.type === 'table' && block.rows.length).toBe(100);
    expect(JSON.stringify(block)).not.toContain('more');
  });

  it('is shown once in a message: a second one is a list, and one without rows is nothing', () => {
    expect(kindsOf(message(outcomes, outcomes))).toEqual(['rich_text', 'table', 'rich_text']);
    expect(kindsOf(message({ ...outcomes, rows: [] }))).toEqual(['rich_text']);
  });

  it('is a list in a Home tab, which has no buttons either: a click there comes without a channel', () => {
    const button = { action: 'rerun', label: 'Run again', value: 'abcdefgh23' } as const;
    const tab = homeTab(message(outcomes, { kind: 'actions', buttons: [button] }));
    expect(checkedView(tab, 'home')).toBe(tab);
    expect(tab.blocks.map(({ type }) => type)).toEqual(['rich_text', 'rich_text']);
  });

  it('is a list with the same words when Slack refuses it', () => {
    const [simpler] = simplerViews(message(outcomes));
    expect(simpler?.blocks.map(({ type }) => type)).toEqual(['rich_text', 'rich_text']);
    const words = [...JSON.stringify(simpler?.blocks[1]).matchAll(/"text":"([^"]*)"/g)].map(([, word]) => word);
    expect(words).toEqual(['cart-1', ' · Exit code: ', '1', 'cart-2', ':tada: <!channel>']);
  });
});
