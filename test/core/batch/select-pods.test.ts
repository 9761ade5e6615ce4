import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SKIP_REASONS } from '../../../src/core/batch/batch.ts';
import { REASON_OF_SKIP } from '../../../src/core/batch/pod-state.ts';
import { type BatchTarget, type Selection, selectorOf, selectPods } from '../../../src/core/batch/select-pods.ts';
import { targetWords } from '../../../src/core/command/print.ts';
import { REASONS } from '../../../src/core/errors.ts';
import { aPod, type PodParts } from '../../support/builders.ts';

const pod = (name: string, parts: PodParts = {}) =>
  aPod({ ...parts, metadata: { name, uid: `uid-${name}`, ...parts.metadata } });

const select = (pods: readonly ReturnType<typeof pod>[], selection: Partial<Selection> = {}) =>
  selectPods(pods, {
    target: { kind: 'all' },
    targetContainers: [undefined],
    room: { most: 10, mostOfPerson: 10, requesterId: 'U0ROY' },
    ...selection,
  });

const namesOf = (selected: ReturnType<typeof selectPods>) =>
  selected.kind === 'selected' ? selected.pods.map((each) => each.pod.metadata.name) : selected;

const owned = (name: string, kind: string, owner: string, labels: Record<string, string> = {}, controller = true) =>
  pod(name, { metadata: { ownerReferences: [{ kind, name: owner, controller }], labels } });

describe('the snapshot of a batch', () => {
  it('is oldest first, then by name, whatever order the pods come in', () => {
    const pods = [
      pod('b', { metadata: { creationTimestamp: '2026-11-20T00:00:01Z' } }),
      pod('c'),
      pod('a'),
      pod('young', { metadata: { creationTimestamp: '2026-11-21T00:00:00Z' } }),
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(pods, { minLength: 4 }), (shuffled) => {
        expect(namesOf(select(shuffled))).toEqual(['a', 'c', 'b', 'young']);
      }),
    );
  });

  it('tells apart what cannot be worked on, with its reason, after what can', () => {
    const selected = select([
      pod('finished', { status: { phase: 'Succeeded' } }),
      pod('static', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }),
      pod('deleting', { metadata: { deletionTimestamp: '2026-11-21T00:00:00Z' } }),
      pod('windows', { spec: { os: 'windows' } }),
      pod('full', { spec: { ephemeralContainers: Array.from({ length: 10 }, () => ({ name: 'x', image: 'x' })) } }),
      pod('web'),
    ]);
    expect(selected).toMatchObject({ kind: 'selected', eligible: 1 });
    expect(
      selected.kind === 'selected' && selected.pods.map(({ pod: each, skip }) => [each.metadata.name, skip]),
    ).toEqual([
      ['web', undefined],
      ['deleting', 'deleting'],
      ['finished', 'finished'],
      ['full', 'cap-reached'],
      ['static', 'static'],
      ['windows', 'windows'],
    ]);
  });

  it('skips a pod on no node, without the named target, or without room for all containers', () => {
    const { nodeName: _, ...spec } = aPod().spec;
    const unscheduled = { ...pod('unscheduled'), spec };
    const nearlyFull = pod('nearly', {
      spec: {
        containers: [{ name: 'app', image: 'x', securityContext: {} }],
        ephemeralContainers: Array.from({ length: 9 }, () => ({ name: 'x', image: 'x' })),
      },
    });
    const named = { kind: 'named', name: 'app' } as const;
    const two = select([unscheduled, nearlyFull, pod('other')], { targetContainers: [named, named] });
    expect(two).toEqual({
      kind: 'refused',
      code: 'no_pod_fits',
      subject: '1 at their limit of debug containers, 1 without that container, 1 not scheduled yet',
    });
    expect(select([nearlyFull], { targetContainers: [named] })).toMatchObject({ kind: 'selected', eligible: 1 });
  });

  it('is an error when nothing matches, at once', () => {
    const target = { kind: 'workload', workload: 'deployment', name: 'web' } as const;
    expect(select([pod('web-1')], { target })).toEqual({
      kind: 'refused',
      code: 'no_pod_matches',
      subject: 'deployment/web',
    });
  });

  it('of a deployment follows the ReplicaSet of the pod’s own template hash', () => {
    const target: BatchTarget = { kind: 'workload', workload: 'deployment', name: 'web' };
    const hash = { 'pod-template-hash': '5c7d' };
    const pods = [
      owned('mine', 'ReplicaSet', 'web-5c7d', hash),
      owned('admin', 'ReplicaSet', 'web-admin-5c7d', hash),
      owned('no-hash', 'ReplicaSet', 'web-5c7d'),
      owned('not-controlled', 'ReplicaSet', 'web-5c7d', hash, false),
      owned('set', 'StatefulSet', 'web', hash),
      pod('nobodys', { metadata: { labels: hash } }),
    ];
    expect(namesOf(select(pods, { target }))).toEqual(['mine']);
  });

  it.each([
    ['statefulset', 'StatefulSet'],
    ['daemonset', 'DaemonSet'],
    ['job', 'Job'],
  ] as const)('of a %s follows its own pods', (workload, kind) => {
    const target: BatchTarget = { kind: 'workload', workload, name: 'web' };
    const pods = [owned('mine', kind, 'web'), owned('other', kind, 'web-2'), owned('set', 'ReplicaSet', 'web')];
    expect(namesOf(select(pods, { target }))).toEqual(['mine']);
    expect([selectorOf(target), targetWords(target).join(' ')]).toEqual(['', `${workload}/web`]);
  });

  it('of a rerun holds only the pods that are named by uid', () => {
    expect(namesOf(select([pod('a'), pod('b')], { onlyUids: new Set(['uid-b']) }))).toEqual(['b']);
  });

  it('asks the cluster for the selector, and for everything otherwise', () => {
    expect(selectorOf({ kind: 'selector', selector: 'app=web' })).toBe('app=web');
    expect([selectorOf({ kind: 'all' }), targetWords({ kind: 'all' }).join(' ')]).toEqual(['', '--all']);
  });

  it('has words for every reason to skip', () => {
    for (const reason of SKIP_REASONS) expect(REASONS[REASON_OF_SKIP[reason]].hint).not.toBe('');
    expect(REASON_OF_SKIP['beyond-replicas']).toBe('batch_beyond_replicas');
  });
});
