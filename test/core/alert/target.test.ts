import { describe, expect, it } from 'vitest';
import type { Labels } from '../../../src/core/alert/notification.ts';
import { aimOfAlert, workloadKeyOf } from '../../../src/core/alert/target.ts';

const SHOP: Labels = { alertname: 'A', namespace: 'shop' };
const aim = (labels: Labels, clusters?: Readonly<Record<string, string>>) =>
  aimOfAlert({ ...SHOP, ...labels }, clusters ? { clusters } : {});
const name = (labels: Labels) => {
  const aimed = aim(labels);
  return aimed.kind === 'target' ? `${aimed.target.namespace}/${aimed.target.name}` : aimed.code;
};

describe('an alert is about', () => {
  it.each<[string, Labels, string]>([
    ['its pod', { pod: 'web-1' }, 'shop/web-1'],
    ['its pod, before the workload', { pod: 'web-1', deployment: 'web' }, 'shop/web-1'],
    ['the pod that an exporter reports about', { exported_pod: 'web-1', pod: 'kube-state-metrics-0' }, 'shop/web-1'],
    ['the namespace that it reports about', { pod: 'web-1', exported_namespace: 'pay' }, 'pay/web-1'],
    [
      'its workload, where the pod is the exporter',
      { pod: 'kube-state-metrics-0', deployment: 'web' },
      'shop/deployment/web',
    ],
    ['a Deployment', { deployment: 'web' }, 'shop/deployment/web'],
    ['a StatefulSet', { statefulset: 'db' }, 'shop/statefulset/db'],
    ['a Job by its own label', { job: 'kube-state-metrics', job_name: 'nightly' }, 'shop/job/nightly'],
    ['nothing by the scrape job', { job: 'api' }, 'alert_names_no_pod'],
    ['nothing by a name that is none', { pod: 'web-1; rm -rf /' }, 'alert_names_no_pod'],
    ['nothing by a mention', { pod: '<!channel>' }, 'alert_names_no_pod'],
    ['nothing in a namespace that is none', { namespace: '../kube-system', pod: 'web-1' }, 'alert_names_no_pod'],
    ['an exporter never', { pod: 'prometheus-node-exporter-x7k2p' }, 'alert_of_exporter'],
  ])('%s', (_, labels, expected) => {
    expect(name(labels)).toBe(expected);
  });
});

describe('the cluster of an alert', () => {
  it('is the default one only where no label and no map says otherwise', () => {
    expect(aim({ pod: 'web-1' })).toEqual({ kind: 'target', target: { namespace: 'shop', name: 'web-1' } });
    expect(aim({ pod: 'web-1', cluster: 'prod' })).toMatchObject({ code: 'alert_cluster_unknown', subject: 'prod' });
  });

  it('is what the map says, and nothing else', () => {
    const map = { 'eu-1': 'prod' };
    expect(aim({ pod: 'web-1', cluster: 'eu-1' }, map)).toMatchObject({ target: { cluster: 'prod' } });
    expect(aim({ pod: 'web-1', cluster: 'prod' }, map)).toMatchObject({ code: 'alert_cluster_unknown' });
    expect(aim({ pod: 'web-1', cluster: 'constructor' }, map)).toMatchObject({ code: 'alert_cluster_unknown' });
    expect(aim({ pod: 'web-1' }, map)).toMatchObject({ code: 'alert_cluster_unknown', subject: 'no label cluster' });
  });
});

it.each([
  ['web-7d4b9c8f6d-abcde', 'web-7d4b9c8f6d-fghij'],
  ['db-0', 'db-11'],
  ['agent-x7k2p', 'agent-q8j3n'],
  ['deployment/web', 'web-7d4b9c8f6d-abcde'],
])('%s and %s count as one workload', (one, other) => {
  const key = (pod: string) => workloadKeyOf({ namespace: 'shop', name: pod });
  expect(key(one)).toBe(key(other));
  expect(key(one)).not.toBe(workloadKeyOf({ namespace: 'pay', name: other }));
});
