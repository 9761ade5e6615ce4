import { describe, expect, it } from 'vitest';
import { checkMessageBlocks } from '../../../../play/slack/blocks/check.ts';
import { homeTab, simplerViews, view } from '../../../../src/adapters/slack/views/view.ts';
import { type ChartPart, type Message, strong } from '../../../../src/core/say/message/message.ts';

const cpu: ChartPart = {
  kind: 'chart',
  chart: {
    title: 'CPU in use',
    unit: 'millicores',
    moments: ['0.3 s', '0.6 s', '0.9 s'],
    lines: [
      { name: 'CPU in use', values: [20, 480, 500] },
      { name: 'limit', values: [500, 500, 500] },
    ],
  },
};
const message = (...parts: Message['parts']): Message => ({
  summary: 'CPU throttled',
  tone: 'attention',
  parts: [{ kind: 'paragraph', spans: [strong('CPU throttled')] }, ...parts],
});
const typesOf = ({ blocks }: { readonly blocks: readonly { readonly type: string }[] }) =>
  blocks.map(({ type }) => type);
const WORDS = ': 20, 480, 500 millicores from 0.3 s to 0.9 s, limit 500.';

describe('a chart', () => {
  it('is a block of Slack’s own, with a point for each moment', () => {
    const { blocks } = view(message(cpu));
    expect(checkMessageBlocks(blocks)).toEqual([]);
    const of = (name: string, values: readonly number[]) => ({
      name,
      data: values.map((value, index) => ({ label: cpu.chart.moments[index], value })),
    });
    expect(blocks[1]).toEqual({
      type: 'data_visualization',
      title: 'CPU in use',
      chart: {
        type: 'line',
        series: [of('CPU in use', [20, 480, 500]), of('limit', [500, 500, 500])],
        axis_config: { categories: cpu.chart.moments, y_label: 'millicores' },
      },
    });
  });

  it('is drawn twice in a message: Slack refuses a third, which is words', () => {
    const shown = view(message(cpu, cpu, cpu));
    expect(checkMessageBlocks(shown.blocks)).toEqual([]);
    expect(typesOf(shown)).toEqual(['rich_text', 'data_visualization', 'data_visualization', 'rich_text']);
    const drawn = view(message(cpu)).blocks.slice(1);
    expect(checkMessageBlocks([...drawn, ...drawn, ...drawn])).toEqual([
      'no more than 2 data_visualization blocks allowed [json-pointer:/blocks]',
    ]);
  });

  it('is words when Slack refuses it, and in a Home tab', () => {
    const [simpler] = simplerViews(message(cpu));
    for (const shown of [simpler!, homeTab(message(cpu))]) {
      expect(typesOf(shown)).toEqual(['rich_text', 'rich_text']);
      expect(JSON.stringify(shown.blocks)).toContain(WORDS);
    }
  });

  it('keeps Slack’s limits whatever its words are', () => {
    const long = '<!channel> '.repeat(40);
    const chart = { ...cpu.chart, title: long, unit: long, lines: [{ name: long, values: [1, 2, 3] }] };
    expect(checkMessageBlocks(view(message({ kind: 'chart', chart })).blocks)).toEqual([]);
  });
});

describe('the local Slack refuses a chart', () => {
  const [, drawn] = view(message(cpu)).blocks;
  const block = drawn as unknown as { chart: { series: { name: string; data: object[] }[]; axis_config: object } };
  const [first, second] = block.chart.series;
  const changed = (parts: object) => checkMessageBlocks([{ ...block, chart: { ...block.chart, ...parts } }]).join('\n');
  it.each<[string, object, string]>([
    ['whose series have the same name', { series: [first, { ...second, name: first!.name }] }, 'must be unique'],
    ['that lacks a point', { series: [{ ...first, data: first!.data.slice(1) }] }, 'labels must match'],
    ['of another kind', { type: 'radar' }, 'unsupported type: radar'],
    ['without axes', { axis_config: undefined }, 'missing required field: axis_config'],
    [
      'with 21 categories',
      { axis_config: { categories: [...Array(21)].map((_, index) => `${index}`) } },
      'no more than 20',
    ],
    [
      'with seven series',
      { series: [...Array(7)].map((_, index) => ({ ...first, name: `${index}` })) },
      'no more than 6',
    ],
    [
      'with a value that is no number',
      { series: [{ ...first, data: [{ label: '0.3 s', value: '1' }] }] },
      'must be a number',
    ],
    ['of a pie with nothing in it', { type: 'pie', segments: [{ label: 'x', value: 0 }] }, 'must be more than 0'],
  ])('%s', (_, parts, complaint) => {
    expect(changed(parts)).toContain(complaint);
  });
});
