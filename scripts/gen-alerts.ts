import { stringify } from 'yaml';
import type { Generated } from './generated.ts';
import { ALERTS, type Alert, runbookOf } from './monitoring/alerts.ts';

const rule = ({ name, severity, expr, for: lasting, summary, description }: Alert) => ({
  alert: name,
  expr,
  ...(lasting !== undefined && { for: lasting }),
  labels: { severity },
  annotations: { summary, description, runbook_url: runbookOf(name) },
});

/** What Prometheus itself reads; a PrometheusRule has the same as its `spec`. */
const groups = [{ name: 'kdebug', rules: ALERTS.map(rule) }];

const yaml = (value: unknown): string => stringify(value, { lineWidth: 0, indentSeq: true });

const HEAD = '# Made from scripts/monitoring/alerts.ts by npm run gen: change it there.\n';

/** The alert rules for the Prometheus Operator. */
export const prometheusRule: Generated = {
  path: 'manifests/components/monitoring/prometheus-rule.yaml',
  text: () =>
    `${HEAD}${yaml({
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: 'kdebug', namespace: 'kdebug', labels: { 'app.kubernetes.io/name': 'kdebug' } },
      spec: { groups },
    })}`,
};

/** The same for the chart, which puts it into the object. */
export const chartRules: Generated = {
  path: 'charts/kdebug/files/alerts.yaml',
  text: () => `${HEAD}${yaml({ groups })}`,
};
