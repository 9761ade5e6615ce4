import { describe, expect, it } from 'vitest';
import type { ObjectEvent } from '../../../src/core/diagnosis/facts/facts.ts';
import { goneText } from '../../../src/core/lookup/gone-pod.ts';
import { aPod, START_MS } from '../../support/builders.ts';

const podOf = (name: string, kind: string, owner: string, labels = {}) =>
  aPod({ metadata: { name, labels, ownerReferences: [{ kind, name: owner, controller: true }] } });
const ofWeb = (name: string, hash: string) => podOf(name, 'ReplicaSet', `web-${hash}`, { 'pod-template-hash': hash });
const warning = (kind: string, name: string, message: string): ObjectEvent => ({
  type: 'Warning',
  reason: 'BackoffLimitExceeded',
  message,
  atMs: START_MS,
  involved: { kind, name },
});

describe('a pod that is gone', () => {
  it('leads to the pod that its ReplicaSet, or its Deployment, has now', () => {
    const text = 'web-7d9-abcde is gone; deployment/web has web-7d9-xyzxy now';
    expect(goneText('web-7d9-abcde', [ofWeb('web-7d9-xyzxy', '7d9')], [])).toBe(text);
    expect(goneText('web-5d4-abcde', [ofWeb('web-7d9-xyzxy', '7d9')], [])).toBe(
      text.replace('web-7d9-abcde', 'web-5d4-abcde'),
    );
    expect(goneText('webmail-7d9-abcde', [ofWeb('web-7d9-xyzxy', '7d9')], [])).toBeUndefined();
  });

  it('of a DaemonSet or a CronJob leads to the one in its place', () => {
    expect(goneText('agent-aaaaa', [podOf('agent-bbbbb', 'DaemonSet', 'agent')], [])).toContain(
      'daemonset/agent has agent-bbbbb',
    );
    expect(goneText('dump-100-aaaaa', [podOf('dump-101-bbbbb', 'Job', 'dump-101')], [])).toContain(
      'job/dump-101 has dump-101-bbbbb',
    );
  });

  it('whose Job has removed it is told by what Kubernetes says of the Job, or said of the pod', () => {
    const gone = (kind: string, name: string) => goneText('backup-x7k2p', [], [warning(kind, name, 'Job has\nfailed')]);
    expect(gone('Job', 'backup')).toBe(
      'backup-x7k2p is gone; of its Job, job/backup, Kubernetes says: “BackoffLimitExceeded: Job has failed”',
    );
    expect(gone('Pod', 'backup-x7k2p')).toContain('Kubernetes said last: “');
    expect(gone('Job', 'other')).toBeUndefined();
  });
});
