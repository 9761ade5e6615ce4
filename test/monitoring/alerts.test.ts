import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ALERTS, runbookOf } from '../../scripts/monitoring/alerts.ts';
import { tool } from '../contract/rendered.ts';
import { ALERT_CASES, type AlertCase } from './alert-cases.ts';
import { courseOf, coursesOf, EVENTS, OUTAGES } from './alert-courses.ts';
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
/** The rule alone: promtool evaluates what it reads at every sample. */
const ruleFile = (name: string): string => {
  const alone = rules.groups.map((group) => ({ ...group, rules: group.rules.filter(({ alert }) => alert === name) }));
  return file(`${name}.rule.yaml`, { groups: alone });
};

describe('the alerts', () => {
  it('have each a case that fires and one that does not', () => {
    expect(Object.keys(ALERT_CASES).toSorted()).toEqual(ALERTS.map(({ name }) => name).toSorted());
  });

  it('have each a course of things that last, or of things that happen', () => {
    // These two count what lasts no time: the cases above are all there is.
    const withCourse = new Set([
      ...Object.keys(OUTAGES),
      ...Object.keys(EVENTS),
      'KdebugRestarts',
      'KdebugOutOfMemory',
    ]);
    expect([...withCourse].toSorted()).toEqual(ALERTS.map(({ name }) => name).toSorted());
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
      rule_files: [ruleFile(name)],
      evaluation_interval: '1m',
      tests: [test(fires, [fired]), test(quiet, [])],
    });
    expect(runTool('promtool', ['test', 'rules', tests])).toContain('SUCCESS');
  });

  interface Course {
    readonly series: Readonly<Record<string, string>>;
    /** Minutes. */
    readonly fires: readonly number[];
    readonly quiet: readonly number[];
  }

  const follow = (name: string, courses: Readonly<Record<string, Course>>): string => {
    const expr = `count(ALERTS{alertname="${name}", alertstate="firing"}) or vector(0)`;
    const at = (minutes: number, value: number) => ({
      expr,
      eval_time: `${minutes}m`,
      exp_samples: [{ labels: '{}', value }],
    });
    const tests = Object.entries(courses).map(([what, { series, fires, quiet }]) => ({
      name: what,
      interval: '30s',
      input_series: Object.entries(series).map(([series, values]) => ({ series, values })),
      promql_expr_test: [...fires.map((minutes) => at(minutes, 1)), ...quiet.map((minutes) => at(minutes, 0))],
    }));
    const path = file(`${name}.yaml`, { rule_files: [ruleFile(name)], evaluation_interval: '30s', tests });
    return runTool('promtool', ['test', 'rules', path]);
  };

  it.each(Object.entries(OUTAGES))(
    'sees %s follow an outage of 1, 5 and 20 minutes, and end with it',
    (name, outage) => {
      const courses = [1, 5, 20].map((minutes) => [`${minutes} minutes`, courseOf(outage, minutes)] as const);
      expect(follow(name, Object.fromEntries(courses))).toContain('SUCCESS');
    },
  );

  it.each(Object.entries(EVENTS))('sees %s tell what is new, and nothing old', (name, event) => {
    expect(follow(name, coursesOf(event))).toContain('SUCCESS');
  });
});
