import { ErrorCode, WebAPIPlatformError } from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { ALERTS } from '../../scripts/monitoring/alerts.ts';
import { ROWS } from '../../scripts/monitoring/dashboard.ts';
import { type Definition, METRICS } from '../../src/adapters/metrics/definitions.ts';
import { timed } from '../../src/adapters/slack/client.ts';
import { readProjectFile } from '../contract/source-tree.ts';

const panels = ROWS.flatMap((row) => row.panels);
const queries = [
  ...ALERTS.map(({ name, expr }) => ({ name, expr })),
  ...panels.flatMap(({ title, queries }) =>
    queries.map(({ expr }, index) => ({ name: `${title} ${index + 1}`, expr })),
  ),
];

/** What Prometheus adds to each series; `le` is of histograms. */
const OF_TARGET = ['namespace', 'pod', 'le'];

const definitionOf = (metric: string): Definition | undefined => {
  const definitions: Readonly<Record<string, Definition>> = METRICS;
  const whole = definitions[metric];
  const [, base = '', part] = /^(.+)_(bucket|count|sum)$/.exec(metric) ?? [];
  if (part === undefined) return whole?.type === 'histogram' ? undefined : whole;
  return definitions[base]?.type === 'histogram' ? definitions[base] : undefined;
};

describe.each(queries)('the query of $name', ({ expr }) => {
  const selectors = [...expr.matchAll(/\bkdebug_([a-z_]+)(?:\{([^}]*)\})?/g)].map(([, metric = '', words = '']) => ({
    metric,
    labels: [...words.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]*)"/g)].map(([, label = '', value = '']) => ({
      label,
      value,
    })),
  }));

  it('asks for metrics, labels and values that kdebug has', () => {
    for (const { metric, labels } of selectors) {
      const definition = definitionOf(metric);
      expect(definition, metric).toBeDefined();
      for (const { label, value } of labels.filter((each) => !OF_TARGET.includes(each.label))) {
        const values = definition?.labels?.[label];
        expect(values, `${metric}{${label}}`).toBeDefined();
        if (values !== 'open') expect(values).toEqual(expect.arrayContaining(value.split('|')));
      }
    }
  });

  it('groups by labels that its metrics have', () => {
    const known = new Set(selectors.flatMap(({ metric }) => Object.keys(definitionOf(metric)?.labels ?? {})));
    if (/\bkube_deployment_/.test(expr)) known.add('deployment');
    const grouped = [...expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, words = '']) => words.split(', '));
    expect(grouped.filter((label) => !known.has(label) && !OF_TARGET.includes(label))).toEqual([]);
  });
});

describe('KdebugSlackFailing', () => {
  const words = /api="slack", result=~"([^"]+)"/.exec(
    ALERTS.find(({ name }) => name === 'KdebugSlackFailing')?.expr ?? '',
  );
  const broken = (statusCode?: number) =>
    Object.assign(new Error('x'), statusCode && { code: ErrorCode.HTTPError, statusCode });
  const ofSlack = (error: string) => new WebAPIPlatformError({ ok: false, error });

  it.each([
    ['without an answer', broken(), true],
    ['answered by a proxy with 503', broken(503), true],
    ['answered with what is not JSON', ofSlack('<html>'), true],
    ['that failed inside Slack', ofSlack('internal_error'), true],
    ['refused for its message', ofSlack('message_not_found'), false],
  ])('asks for a call %s as kdebug counts it: %#', async (_, thrown, isFailure) => {
    const counted: string[] = [];
    const metrics = {
      apiCall: (...[, , result]: string[]) => void counted.push(result ?? ''),
      rateLimited: () => undefined,
    };
    const around = timed((_method, call) => call(), { elapsed: () => 0 }, metrics as never);
    await around('chat.postMessage', () => Promise.reject(thrown)).catch(() => undefined);
    expect(new RegExp(`^(?:${words?.[1]})$`).test(counted[0] ?? '')).toBe(isFailure);
  });
});

describe('the dashboard', () => {
  const { panels: shown } = JSON.parse(readProjectFile('manifests/components/monitoring/dashboard.json')) as {
    readonly panels: readonly { readonly id: number; readonly title: string; readonly gridPos: Place }[];
  };

  it('has no two panels of one name, and each says something of its own', () => {
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    const asked = panels.map((panel) => JSON.stringify(panel.queries));
    expect(new Set(asked).size).toBe(panels.length);
  });

  it('shows every panel, none over another', () => {
    expect(shown.map(({ title }) => title)).toEqual(
      ROWS.flatMap((row) => [row.title, ...row.panels.map(({ title }) => title)]),
    );
    expect(new Set(shown.map(({ id }) => id)).size).toBe(shown.length);
    const over = shown.flatMap((one, index) =>
      shown.slice(index + 1).filter((other) => overlap(one.gridPos, other.gridPos)),
    );
    expect(over).toEqual([]);
    for (const { gridPos } of shown) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });

  it('leaves out no metric of kdebug', () => {
    const text = panels.flatMap((panel) => panel.queries.map(({ expr }) => expr)).join(' ');
    // Reloads are in the log; the file's state and its age are here.
    const elsewhere = ['policy_reloads_total'];
    const missing = Object.keys(METRICS).filter((name) => !text.includes(`kdebug_${name}`));
    expect(missing).toEqual(elsewhere);
  });
});

interface Place {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

const overlap = (one: Place, other: Place): boolean =>
  one.x < other.x + other.w && other.x < one.x + one.w && one.y < other.y + other.h && other.y < one.y + one.h;
