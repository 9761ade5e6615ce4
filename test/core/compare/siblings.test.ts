import { describe, expect, it } from 'vitest';
import { chooseCompared } from '../../../src/core/compare/siblings.ts';
import type { Pod } from '../../../src/core/container/pod.ts';
import { aPod, aStatus } from '../../support/builders.ts';

interface Parts {
  readonly version?: string;
  readonly node?: string;
  readonly isReady?: boolean;
  readonly owner?: string;
  readonly restarts?: number;
  readonly created?: string;
}

function aReplica(name: string, parts: Parts = {}): Pod {
  const {
    version = 'v1',
    node = 'n1',
    isReady = true,
    owner = 'web',
    restarts = 0,
    created = '2026-11-21T07:00:00Z',
  } = parts;
  const unmet = { type: 'Ready', reason: 'ContainersNotReady', message: '', since: created };
  return aPod({
    metadata: {
      name,
      uid: `uid-${name}`,
      creationTimestamp: created,
      labels: { 'pod-template-hash': version },
      ownerReferences: [{ kind: 'ReplicaSet', name: `${owner}-${version}`, controller: true }],
    },
    spec: { nodeName: node },
    status: {
      containerStatuses: [aStatus({ ready: isReady, restartCount: restarts })],
      ...(!isReady && { unmetConditions: [unmet] }),
    },
  });
}

const choose = (...pods: readonly Pod[]) =>
  chooseCompared(pods, {
    name: 'sick',
    targetContainer: undefined,
    room: { most: 100, mostOfPerson: 100, requesterId: 'U0ROY' },
  });
const namesOf = (chosen: ReturnType<typeof choose>) =>
  chosen.kind === 'selected' ? chosen.pods.map(({ metadata }) => metadata.name) : chosen;
const sick = aReplica('sick', { isReady: false });

describe('the pods to compare', () => {
  it('are the sick pod and two ready siblings on nodes of their own', () => {
    const others = [
      aReplica('a'),
      aReplica('b', { node: 'n2' }),
      aReplica('c', { node: 'n2' }),
      aReplica('d', { node: 'n3' }),
    ];
    expect(namesOf(choose(sick, ...others))).toEqual(['sick', 'b', 'd']);
  });

  it('are rather of the same version than on another node, and rather those without restarts', () => {
    const others = [aReplica('a', { version: 'v2', node: 'n2' }), aReplica('b', { restarts: 4 }), aReplica('c')];
    expect(namesOf(choose(sick, ...others))).toEqual(['sick', 'c', 'b']);
  });

  it('may be of another version of the same deployment, and that is said', () => {
    const chosen = choose(sick, aReplica('a', { version: 'v2' }), aReplica('b', { version: 'v2', node: 'n2' }));
    expect(namesOf(chosen)).toEqual(['sick', 'b', 'a']);
    expect(chosen).toMatchObject({ notes: ['Of another version: b, a.'] });
  });

  it('are never unready pods, nor those of another deployment', () => {
    const chosen = choose(
      sick,
      aReplica('a'),
      aReplica('b', { isReady: false }),
      aReplica('c', { owner: 'web-admin' }),
    );
    expect(namesOf(chosen)).toEqual(['sick', 'a']);
    expect(chosen).toMatchObject({
      notes: [
        '1 sibling not ready, so not compared with.',
        'Only one sibling: what differs between any two pods is here too.',
      ],
    });
  });
});

describe('nothing is compared', () => {
  it('without an owner', () => {
    expect(choose(aPod({ metadata: { name: 'sick' } }), aReplica('a'))).toMatchObject({ code: 'compare_no_owner' });
  });

  it('without a ready sibling, and it says what the others are', () => {
    expect(choose(sick)).toMatchObject({ code: 'compare_no_siblings', subject: 'deployment/web has no other pod' });
    expect(choose(sick, aReplica('a', { isReady: false }))).toMatchObject({
      code: 'compare_no_siblings',
      subject: '1 other pod of deployment/web: 1 not ready',
    });
  });

  it('without the pod', () => {
    expect(choose(aReplica('a'))).toMatchObject({ code: 'pod_not_found', subject: 'sick' });
  });
});
