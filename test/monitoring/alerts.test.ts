import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ALERTS, runbookOf } from '../../scripts/monitoring/alerts.ts';
import { tool } from '../contract/rendered.ts';
import { ALERT_CASES, type AlertCase } from './alert-cases.ts';
import { runTool } from './tools.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The rules as Prometheus itself reads them: the `spec` of what the Operator gets. */
const rules = parse(read('manifests/components/monitoring/prometheus-rule.yaml')).spec as {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[];
};

const directory = mkdtempSync(join(tmpdir(), 'kdebug-alerts-'));
afterAll(() => rmSync(directory, { recursive: true }));
const file = (name: string, value: unknown): string => {
  const path = join(directory, name);
  writeFileSync(path, JSON.stringify(value));
  return path;
};
const rulesFile = file('rules.yaml', rules);

describe('the alerts', () => {
  it('have each a case that fires and one that does not', () => {
    expect(Object.keys(ALERT_CASES).toSorted()).toEqual(ALERTS.map(({ name }) => name).toSorted());
  });

  it('have each a section of the runbooks, and no section is left over', () => {
    const sections = [...read('docs/runbooks.md').matchAll(/^## (Kdebug\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(ALERTS.map(({ name }) => name));
  });

  it('lead to their section, which says what it means, where to look and what to do', () => {
    for (const { name } of ALERTS) {
      expect(runbookOf(name)).toMatch(new RegExp(`/docs/runbooks\\.md#${name.toLowerCase()}$`));
      const [, after = ''] = read('docs/runbooks.md').split(`## ${name}\n`);
      const [section = ''] = after.split('\n## ');
      for (const part of ['**Means.**', '**Look.**', '**Do.**']) expect(section, name).toContain(part);
    }
  });
});

describe.skipIf(tool('promtool') === undefined)('promtool', () => {
  it('finds nothing wrong with the rules', () => {
    expect(runTool('promtool', ['check', 'rules', '--lint=all', '--lint-fatal', rulesFile])).toContain('SUCCESS');
  });

  it.each(ALERTS)('sees $name fire when it must, and be quiet when it must', ({ name, severity, description }) => {
    const { fires, quiet } = ALERT_CASES[name]!;
    const test = ({ series, at }: AlertCase['quiet'], alerts: readonly unknown[]) => ({
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      alert_rule_test: [{ eval_time: `${at}m`, alertname: name, exp_alerts: alerts }],
    });
    const fired = {
      exp_labels: { severity, ...fires.labels },
      exp_annotations: { summary: fires.summary, description, runbook_url: runbookOf(name) },
    };
    const tests = file(`${name}.yaml`, {
      rule_files: [rulesFile],
      evaluation_interval: '1m',
      tests: [test(fires, [fired]), test(quiet, [])],
    });
    expect(runTool('promtool', ['test', 'rules', tests])).toContain('SUCCESS');
  });
});
