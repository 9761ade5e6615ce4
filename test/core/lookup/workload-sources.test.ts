import { describe, expect, it } from 'vitest';
import type { Workload } from '../../../src/core/container/pod.ts';
import { ofWorkload, type QuestionTarget, workloadLogs } from '../../../src/core/lookup/workload-sources.ts';
import { aPod, aStatus, START_MS } from '../../support/builders.ts';

type Kind = Workload['kind'] | 'replicaset' | 'cronjob';
const target = (workload: Kind, name = 'web'): QuestionTarget => ({ kind: 'workload', workload, name });
const isOf = (
  kind: string,
  name: string,
  asked: QuestionTarget,
  pods: readonly ReturnType<typeof aPod>[] = [],
): boolean => ofWorkload(asked, pods)({ kind, name });

describe('a warning of a workload', () => {
  it.each([
    ['Deployment', 'web', target('deployment')],
    ['ReplicaSet', 'web-5d9f', target('deployment')],
    ['StatefulSet', 'web', target('statefulset')],
    ['PersistentVolumeClaim', 'data-web-0', target('statefulset')],
    ['Job', 'web', target('job')],
    ['Job', 'web-29384756', target('cronjob')],
    ['Pod', 'web-5d9f-abcde', target('deployment')],
    ['Pod', 'web-x7k2p', target('job')],
    ['Pod', 'web-0', target('statefulset')],
  ] as const)('is one about %s %s', (kind, name, asked) => expect(isOf(kind, name, asked)).toBe(true));

  it.each([
    ['ReplicaSet', 'web-admin-5d9f', target('deployment')],
    ['Deployment', 'web', target('statefulset')],
    ['Job', 'web-full-29384756', target('cronjob')],
    ['PersistentVolumeClaim', 'data-web-0', target('deployment')],
    ['Pod', 'web-admin-5d9f-abcde', target('deployment')],
    ['Pod', 'web-x7k2p', target('statefulset')],
    ['Deployment', 'web', { kind: 'selector', selector: 'app=web' }],
  ] as const)('is not one about %s %s', (kind, name, asked) => expect(isOf(kind, name, asked)).toBe(false));

  it('is one about the owner or a claim of its pods, also for a selector', () => {
    const pod = aPod({
      metadata: { ownerReferences: [{ kind: 'ReplicaSet', name: 'api-1', controller: true }] },
      spec: { claims: ['data'] },
    });
    const selector = { kind: 'selector', selector: 'app=web' } as const;
    expect(isOf('ReplicaSet', 'api-1', selector, [pod])).toBe(true);
    expect(isOf('PersistentVolumeClaim', 'data', selector, [pod])).toBe(true);
    expect(isOf('Pod', 'web-5d9f-abcde', target('deployment'), [pod])).toBe(false);
  });
});

it('the logs of a workload are one of each example before a second of any, then those of others, within the room', () => {
  const running = { running: { startedAt: '2026-11-20T00:00:01Z' } };
  const podOf = (name: string) =>
    aPod({
      metadata: { name },
      status: { containerStatuses: ['web', 'side'].map((each) => aStatus({ name: each, ...running })) },
    });
  const logs = workloadLogs({ examples: [podOf('a'), podOf('b')], others: [podOf('c')] }, START_MS, 5);
  expect(logs.map(({ pod, containerName }) => `${pod.metadata.name} ${containerName}`)).toEqual([
    'a web',
    'b web',
    'a side',
    'b side',
    'c web',
  ]);
  expect(workloadLogs({ examples: [podOf('a')], others: [] }, START_MS, -1)).toEqual([]);
});
