import type { Chart } from '../../diagnosis/facts/verdict.ts';
import type { Run } from '../../run/run.ts';
import { paragraph } from '../message/line.ts';
import { type ChartPart, type Part, strong } from '../message/message.ts';

/** The charts of a diagnosis, where the output may be seen. */
export const chartParts = ({ verdict }: Run): readonly Part[] =>
  (verdict?.charts ?? []).map((chart) => ({ kind: 'chart', chart }));

/**
 * The same in words, for where no chart can be drawn: `CPU in use: 480, 500, 20 millicores from 0.3 s to 0.9 s, limit
 * 500.`
 */
export function chartInWords({ chart }: ChartPart): Part {
  const { title, moments, lines } = chart;
  const [read, ...others] = lines;
  const values = `: ${read?.values.join(', ')}${unitOf(chart)} from ${moments.at(0)} to ${moments.at(-1)}`;
  const rest = others.map(({ name, values: [value] }) => `, ${name} ${value}`);
  return paragraph`${strong(title)}${values}${rest.join('')}.`;
}

const unitOf = ({ unit }: Chart): string => (unit === '' || unit === '%' ? unit : ` ${unit}`);

/** A card in the channel draws them, so the result in its thread repeats them in words. */
export const withChartsInWords = (parts: readonly Part[]): readonly Part[] =>
  parts.map((part) => (part.kind === 'chart' ? chartInWords(part) : part));
