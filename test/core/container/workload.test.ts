import { describe, expect, it } from 'vitest';
import { workloadOf } from '../../../src/core/container/pod.ts';
import { aPod } from '../../support/builders.ts';

const owned = (kind: string, name: string, labels: Record<string, string> = {}, controller = true) =>
  aPod({ metadata: { labels, ownerReferences: [{ kind, name, controller }] } });

describe('workloadOf', () => {
  it.each([
    ['deployment', 'web', owned('ReplicaSet', 'web-7d9f8', { 'pod-template-hash': '7d9f8' })],
    ['deployment', 'web-admin', owned('ReplicaSet', 'web-admin-7d9f8', { 'pod-template-hash': '7d9f8' })],
    ['statefulset', 'db', owned('StatefulSet', 'db')],
    ['daemonset', 'agent', owned('DaemonSet', 'agent')],
    ['job', 'report-1', owned('Job', 'report-1')],
  ])('finds the %s %s', (kind, name, pod) => {
    expect(workloadOf(pod)).toEqual({ kind, name });
  });

  it.each([
    ['that stands alone', aPod()],
    ['of a ReplicaSet without a hash', owned('ReplicaSet', 'web')],
    ['of a ReplicaSet with an empty hash', owned('ReplicaSet', 'web-', { 'pod-template-hash': '' })],
    ["of a ReplicaSet with another one's hash", owned('ReplicaSet', 'web-7d9f8', { 'pod-template-hash': 'abcde' })],
    ['of a ReplicaSet that is called like its hash', owned('ReplicaSet', '-7d9f8', { 'pod-template-hash': '7d9f8' })],
    ['of something that we do not know', owned('Rollout', 'web')],
    ['of something called like a field of every object', owned('constructor', 'web')],
    ['whose owner does not control it', owned('StatefulSet', 'db', {}, false)],
  ])('finds none of a pod %s', (_, pod) => {
    expect(workloadOf(pod)).toBeUndefined();
  });

  it('is what the first controller says', () => {
    const ownerReferences = [
      { kind: 'Job', name: 'other', controller: false },
      { kind: 'DaemonSet', name: 'agent', controller: true },
    ];
    expect(workloadOf(aPod({ metadata: { ownerReferences } }))).toEqual({ kind: 'daemonset', name: 'agent' });
  });
});
