import type { Generated } from './generated.ts';
import { type Panel, ROWS } from './monitoring/dashboard.ts';

/** Grafana's grid has 24 columns. */
const COLUMNS = 24;
const SIZES = { stat: { w: 4, h: 4 }, lines: { w: 8, h: 8 }, table: { w: 8, h: 8 } } as const;
const TYPES = { stat: 'stat', lines: 'timeseries', table: 'table' } as const;
const DATASOURCE = { type: 'prometheus', uid: '$datasource' };

interface Place {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

function defaultsOf({ unit, words, badFrom, kind }: Panel) {
  const [bad = '', good = ''] = words ?? [];
  const options = { 0: { text: bad, color: 'red', index: 0 }, 1: { text: good, color: 'green', index: 1 } };
  const steps = [{ color: 'green', value: null }, ...(badFrom !== undefined ? [{ color: 'red', value: badFrom }] : [])];
  return {
    unit: unit ?? 'short',
    mappings: words ? [{ type: 'value', options }] : [],
    thresholds: { mode: 'absolute', steps },
    ...(kind === 'lines' && {
      min: 0,
      custom: { fillOpacity: 10, spanNulls: true, thresholdsStyle: { mode: badFrom === undefined ? 'off' : 'line' } },
    }),
  };
}

const panelAt = (panel: Panel, gridPos: Place, id: number) => ({
  id,
  type: TYPES[panel.kind],
  title: panel.title,
  ...(panel.description !== undefined && { description: panel.description }),
  gridPos,
  datasource: DATASOURCE,
  fieldConfig: { defaults: defaultsOf(panel), overrides: [] },
  ...(panel.kind === 'table' && {
    transformations: [{ id: 'organize', options: { excludeByName: { Time: true, Value: true } } }],
  }),
  targets: panel.queries.map(({ expr, legend }, index) => ({
    refId: String.fromCharCode('A'.charCodeAt(0) + index),
    datasource: DATASOURCE,
    expr,
    ...(panel.kind === 'lines' ? { legendFormat: legend } : { instant: true, range: false }),
    ...(panel.kind === 'table' && { format: 'table' }),
  })),
});

/** Rows from above, each filled from the left; a panel that does not fit begins a new line. */
function panels(): readonly object[] {
  const placed: object[] = [];
  let y = 0;
  for (const { title, panels: ofRow } of ROWS) {
    const gridPos = { x: 0, y, w: COLUMNS, h: 1 };
    placed.push({ id: placed.length + 1, type: 'row', title, collapsed: false, gridPos, panels: [] });
    y += 1;
    let [x, height] = [0, 0];
    for (const panel of ofRow) {
      const { w, h } = SIZES[panel.kind];
      if (x + w > COLUMNS || (height > 0 && h !== height)) [x, y] = [0, y + height];
      placed.push(panelAt(panel, { x, y, w, h }, placed.length + 1));
      [x, height] = [x + w, h];
    }
    y += height;
  }
  return placed;
}

const variable = (name: string, label: string, rest: object) => ({ name, label, ...rest });

/** For Grafana 10 and later. */
const text = (): string =>
  `${JSON.stringify(
    {
      uid: 'kdebug',
      title: 'kdebug',
      description: 'Made from scripts/monitoring/dashboard.ts by npm run gen: change it there.',
      tags: ['kdebug'],
      schemaVersion: 39,
      editable: true,
      graphTooltip: 1,
      refresh: '30s',
      time: { from: 'now-6h', to: 'now' },
      templating: {
        list: [
          variable('datasource', 'Data source', { type: 'datasource', query: 'prometheus' }),
          variable('namespace', 'Namespace', {
            type: 'query',
            datasource: DATASOURCE,
            query: { query: 'label_values(kdebug_build_info, namespace)', refId: 'namespaces' },
            includeAll: true,
            multi: true,
            refresh: 2,
            current: { text: 'All', value: '$__all' },
          }),
        ],
      },
      panels: panels(),
    },
    undefined,
    1,
  )}\n`;

/** Grafana's sidecar finds it by the label of its ConfigMap. */
export const dashboard: Generated = { path: 'manifests/components/monitoring/dashboard.json', text };

/** The same for the chart. */
export const chartDashboard: Generated = { path: 'charts/kdebug/files/dashboard.json', text };
