import type { ReactNode } from 'react';
import { type Json, objectOf, objectsOf, stringOf } from '../json.ts';

const WIDTH = 420;
const HEIGHT = 150;
const LEFT = 72;
const BOTTOM = 22;
const TOP = 8;

interface Line {
  readonly name: string;
  readonly values: readonly number[];
}

/** A `data_visualization` block of lines, bars or areas: all are drawn as lines here. */
export function Chart({ block }: { readonly block: Json }): ReactNode {
  const chart = objectOf(block.chart);
  const axes = objectOf(chart.axis_config);
  const categories = Array.isArray(axes.categories) ? axes.categories.map(stringOf) : [];
  const lines = objectsOf(chart.series).map((series) => ({
    name: stringOf(series.name),
    values: objectsOf(series.data).map(({ value }) => (typeof value === 'number' ? value : 0)),
  }));
  const title = stringOf(block.title);
  return (
    <figure className="block-chart">
      <figcaption>
        {title}
        {lines.map(({ name }, index) => (
          <span key={name} className={`chart-name chart-line-${index % 2}`}>
            {name}
          </span>
        ))}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={spoken(title, lines, stringOf(axes.y_label))}>
        <Axes categories={categories} lines={lines} unit={stringOf(axes.y_label)} />
        {lines.map(({ name, values }, index) => (
          <polyline
            key={name}
            className={`chart-line chart-line-${index % 2}`}
            points={pointsOf(values, topOf(lines))}
          />
        ))}
      </svg>
    </figure>
  );
}

function Axes({
  categories,
  lines,
  unit,
}: {
  readonly categories: readonly string[];
  readonly lines: readonly Line[];
  readonly unit: string;
}): ReactNode {
  const top = topOf(lines);
  const floor = HEIGHT - BOTTOM;
  return (
    <g className="chart-axes">
      <line x1={LEFT} x2={WIDTH} y1={floor} y2={floor} />
      <line x1={LEFT} x2={WIDTH} y1={TOP} y2={TOP} />
      <text x={LEFT - 6} y={TOP + 9} textAnchor="end">
        {top}
      </text>
      <text x={LEFT - 6} y={floor} textAnchor="end">
        0
      </text>
      <text x={LEFT - 6} y={(TOP + floor) / 2} textAnchor="end">
        {unit}
      </text>
      <text x={LEFT} y={HEIGHT - 6}>
        {categories.at(0)}
      </text>
      <text x={WIDTH} y={HEIGHT - 6} textAnchor="end">
        {categories.at(-1)}
      </text>
    </g>
  );
}

const topOf = (lines: readonly Line[]): number => Math.max(1, ...lines.flatMap(({ values }) => values));

function pointsOf(values: readonly number[], top: number): string {
  const step = (WIDTH - LEFT - 4) / Math.max(1, values.length - 1);
  const height = HEIGHT - BOTTOM - TOP;
  return values.map((value, index) => `${LEFT + 2 + index * step},${TOP + height * (1 - value / top)}`).join(' ');
}

const spoken = (title: string, lines: readonly Line[], unit: string): string =>
  `${title}: ${lines.map(({ name, values }) => `${name} ${values.join(', ')} ${unit}`.trim()).join('; ')}`;
