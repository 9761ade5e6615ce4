import type { Block, KnownBlock } from '@slack/types';
import type { ChartPart, Message } from '../../../core/say/message/message.ts';
import { chartInWords } from '../../../core/say/parts/chart-parts.ts';
import {
  MAX_CHART_CATEGORIES,
  MAX_CHART_NAME,
  MAX_CHART_SERIES,
  MAX_CHART_TITLE,
  MAX_CHARTS,
  MAX_TEXT,
} from '../limits.ts';
import { cleanLine, shorten } from './plain.ts';
import { hasTable, withTables } from './table.ts';

/**
 * Slack's own chart, new in June 2026, which `@slack/types` does not know yet (slackapi/node-slack-sdk#2637). Source:
 * docs.slack.dev/reference/block-kit/blocks/data-visualization-block. Series have different names, and a point for each category.
 */
export interface DataVisualizationBlock extends Block {
  readonly type: 'data_visualization';
  readonly title: string;
  readonly chart: {
    readonly type: 'line';
    readonly series: readonly {
      readonly name: string;
      readonly data: readonly { readonly label: string; readonly value: number }[];
    }[];
    readonly axis_config: {
      readonly categories: readonly string[];
      readonly x_label?: string;
      readonly y_label?: string;
    };
  };
}

/** Blocks of a message: those of `@slack/types`, and charts. */
export type MessageBlock = KnownBlock | DataVisualizationBlock;

const within = (words: string, length: number): string =>
  shorten(cleanLine(words.slice(0, MAX_TEXT)), { weight: Number.POSITIVE_INFINITY, length }) || '…';

/** Lines of the given readings, all within Slack's limits. */
export function chartBlock({ chart }: ChartPart): DataVisualizationBlock {
  const categories = chart.moments.slice(0, MAX_CHART_CATEGORIES).map((label) => within(label, MAX_CHART_NAME));
  const series = chart.lines.slice(0, MAX_CHART_SERIES).map(({ name, values }) => ({
    name: within(name, MAX_CHART_NAME),
    data: categories.map((label, index) => ({ label, value: values[index] ?? 0 })),
  }));
  const axes = chart.unit === '' ? {} : { y_label: within(chart.unit, MAX_CHART_TITLE) };
  return {
    type: 'data_visualization',
    title: within(chart.title, MAX_CHART_TITLE),
    chart: { type: 'line', series, axis_config: { categories, ...axes } },
  };
}

/** The message with its charts in words, except the first ones if `drawn`: Slack draws two in a message and none in a modal. */
function withCharts(message: Message, drawn: boolean): Message {
  let left = drawn ? MAX_CHARTS : 0;
  const parts = message.parts.map((part) => {
    if (part.kind !== 'chart') return part;
    left -= 1;
    return left < 0 ? chartInWords(part) : part;
  });
  return { ...message, parts };
}

/** A Slack that does not know tables or charts may refuse the message. */
export const hasDrawing = (message: Message): boolean =>
  hasTable(message) || message.parts.some(({ kind }) => kind === 'chart');

/** A message holds at most one table and two charts. The others become lists and words. */
export const withDrawings = (message: Message): Message => withCharts(withTables(message, 1), true);

/** Tables as lists and charts in words: for a modal, a Home tab, beside files, and where Slack refuses them. */
export const withoutDrawings = (message: Message): Message => withCharts(withTables(message, 0), false);
