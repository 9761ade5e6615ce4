import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/core/container/pod.ts';
import { KdebugError } from '../../../src/core/errors.ts';
import { aPod, aStatus, aTermination, START_MS } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { BATCH_RULE, policyOf } from '../batch/batch-world.ts';
import type { FakeCluster } from '../support/fakes.ts';
import { World } from '../support/world.ts';

const owned = (kind: string, name: string) => [{ kind, name, controller: true }];
const named = { name: 'web-1', labels: { app: 'web', 'pod-template-hash': '5d9' } };

/** A pod for each source that a first answer reads, so that the source matters. */
const PODS: Readonly<Record<string, Pod>> = {
  claim: aPod({
    metadata: { ...named, ownerReferences: owned('ReplicaSet', 'web-5d9') },
    spec: { claims: ['data'] },
    status: { phase: 'Pending', containerStatuses: [] },
  }),
  job: aPod({
    metadata: { ...named, ownerReferences: owned('Job', 'web') },
    status: { phase: 'Failed', containerStatuses: [aStatus({ terminated: aTermination({ exitCode: 1 }) })] },
  }),
  crash: aPod({
    metadata: { ...named, ownerReferences: owned('ReplicaSet', 'web-5d9') },
    status: {
      containerStatuses: [
        aStatus({
          waiting: { reason: 'CrashLoopBackOff', message: '' },
          lastTermination: aTermination({ exitCode: 1 }),
        }),
      ],
    },
  }),
  well: aPod({
    metadata: { ...named, ownerReferences: owned('ReplicaSet', 'web-5d9') },
    status: { containerStatuses: [aStatus({ ready: true, running: { startedAt: '2026-11-20T00:00:01Z' } })] },
  }),
};

type Source = 'warnings' | 'node' | 'claims' | 'storageClasses' | 'services' | 'workload' | 'readTargetLog';
const NAMED: Readonly<Record<Source, RegExp | undefined>> = {
  warnings: /^its warnings and probes/,
  node: /^its node/,
  claims: /^its claims/,
  // Without them a claim says less, and nothing false.
  storageClasses: undefined,
  services: /^its Services/,
  workload: /^its workload/,
  readTargetLog: /^(?:the log|the last words) of web/,
};

const USED: readonly (readonly [string, string, Source])[] = [
  ...(['warnings', 'node', 'claims', 'storageClasses'] as const).map((source) => ['web-1', 'claim', source] as const),
  ['web-1', 'job', 'workload'],
  ['web-1', 'crash', 'readTargetLog'],
  ['web-1', 'well', 'services'],
  ['web-1', 'well', 'readTargetLog'],
  ...(['warnings', 'node', 'services', 'workload', 'readTargetLog'] as const).map(
    (source) => ['deployment/web', 'crash', source] as const,
  ),
  ['deployment/web', 'claim', 'claims'],
];

type Trouble = (cluster: FakeCluster, source: Source) => void;
const TROUBLES: Readonly<Record<string, Trouble>> = {
  hangs: (cluster, source) => Object.assign(cluster, { [source]: () => new Promise(() => {}) }),
  'is forbidden': (cluster, source) =>
    Object.assign(cluster, { [source]: () => Promise.reject(new KdebugError('cluster_forbidden')) }),
  'is busy': (cluster, source) =>
    Object.assign(cluster, {
      [source]: () => Promise.reject(new KdebugError('cluster_busy', { facts: { retryAfterMs: 60_000 } })),
    }),
  fails: (cluster, source) =>
    Object.assign(cluster, { [source]: () => Promise.reject(new KdebugError('cluster_failed')) }),
};

describe.each(Object.entries(TROUBLES))('a source that %s', (what, trouble) => {
  it.each(USED)('delays the answer to %s (%s) by a second at most, and is named: %s', async (words, pod, source) => {
    const world = new World({ policy: policyOf(BATCH_RULE) });
    world.cluster.setPod(PODS[pod]);
    Object.assign(world.cluster, { claimsNow: [], storageClassesNow: [], servicesNow: [] });
    world.cluster.nodeNow = { name: 'node-a', conditions: [{ type: 'Ready', status: 'True' }] };
    trouble(world.cluster, source);
    await world.say(words);
    if (what === 'hangs') expect((await world.run()).verdict).toBeUndefined();
    await world.clock.advance(what === 'hangs' ? 1_000 : 0);
    await settle();
    const { verdict } = await world.run();
    expect(verdict?.readAtMs).toBeLessThanOrEqual(START_MS + 1_000);
    const missing = NAMED[source];
    if (missing) expect(verdict?.unseen).toContainEqual(expect.stringMatching(missing));
    expect(verdict?.healthy).toBeUndefined();
  });
});
