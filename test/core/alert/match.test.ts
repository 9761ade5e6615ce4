import { describe, expect, it } from 'vitest';
import { matchesLabels } from '../../../src/core/alert/match.ts';
import type { Labels } from '../../../src/core/alert/notification.ts';
import type { AlertSource } from '../../../src/core/policy/policy.ts';

const matches = (match: AlertSource['match'], labels: Labels): boolean =>
  matchesLabels({ alertname: 'A', namespace: 'shop', ...labels }, { match });

/** The exporter's own pod, and what it reports about. */
const EXPORTER = { namespace: 'monitoring', pod: 'kube-state-metrics-7d4b9c8f6d-abcde' };

describe('a label of match that says where', () => {
  it.each<[string, AlertSource['match'], Labels, boolean]>([
    ['is the namespace that is looked into', { namespace: ['shop'] }, { pod: 'x' }, true],
    [
      'is no namespace beside it',
      { namespace: ['shop'] },
      { exported_namespace: 'payments', pod: 'x', exported_pod: 'victim' },
      false,
    ],
    [
      'is the namespace that an exporter reports about',
      { namespace: ['shop'] },
      { ...EXPORTER, exported_namespace: 'shop', exported_pod: 'web-1' },
      true,
    ],
    ['counts for a card without a target, too', { namespace: ['shop'] }, { exported_namespace: 'payments' }, false],
    ['is the pod that is looked into', { pod: ['web-*'] }, { pod: 'web-1' }, true],
    ['is no other pod', { pod: ['web-*'] }, { pod: 'web-1', exported_pod: 'victim' }, false],
    [
      'is no pod where a workload is looked into',
      { pod: ['web-*'] },
      { pod: 'web-exporter-1', deployment: 'victim' },
      false,
    ],
    [
      'is no name that is none, beside a workload',
      { exported_pod: ['web-*'] },
      { exported_pod: 'web-!', deployment: 'victim' },
      false,
    ],
    ['is the workload', { deployment: ['web'] }, { deployment: 'web' }, true],
    ['is no other workload', { deployment: ['web'] }, { deployment: 'web', exported_deployment: 'victim' }, false],
    ['is no second workload', { deployment: ['web'] }, { statefulset: 'victim', exported_deployment: '!' }, false],
    [
      'is the workload of the pod, as far as its name tells',
      { deployment: ['web'] },
      { deployment: 'web', pod: 'web-7d4b9c8f6d-2xk7p' },
      true,
    ],
    [
      'is the ReplicaSet of it',
      { replicaset: ['web-7d4b9c8f6d'] },
      { replicaset: 'web-7d4b9c8f6d', pod: 'web-7d4b9c8f6d-2xk7p' },
      true,
    ],
    [
      'is no workload beside a pod of another one',
      { deployment: ['web'] },
      { deployment: 'web', pod: 'victim' },
      false,
    ],
    ['is a Job by its own label', { job_name: ['nightly'] }, { job_name: 'nightly' }, true],
  ])('%s', (_, match, labels, expected) => {
    expect(matches(match, labels)).toBe(expected);
  });
});

describe('any other label of match', () => {
  it.each<[string, AlertSource['match'], Labels, boolean]>([
    ['is itself', { severity: ['critical'] }, { severity: 'critical', exported_severity: 'info' }, true],
    ['is itself also where it is the scrape job', { job: ['api'] }, { job: 'api', pod: 'web-1' }, true],
    ['is not there', { severity: ['*'] }, {}, false],
    ['has one of its values', { severity: ['warning', 'crit*'] }, { severity: 'critical' }, true],
  ])('%s', (_, match, labels, expected) => {
    expect(matches(match, labels)).toBe(expected);
  });
});
