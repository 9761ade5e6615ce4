import { describe, expect, it } from 'vitest';
import type { Pod, PodContainer } from '../../../../src/core/container/pod.ts';
import type { ClusterFacts, NotRead } from '../../../../src/core/diagnosis/facts/facts.ts';
import { firstAnswer } from '../../../../src/core/diagnosis/first-answer.ts';
import { aStatus } from '../../../support/builders.ts';
import { about, at, CALM, ended, factsOf, podOf, quietLog, rising, shape, warning, withStatus } from './facts.ts';

const unhealthy = (kind: string, count: number, msAgo: number) =>
  warning(
    'Unhealthy',
    `${kind} probe failed: Get "http://10.0.0.5:8080/": dial tcp 10.0.0.5:8080: connect: connection refused`,
    {
      count,
      atMs: Date.parse(at(-msAgo)),
      fieldPath: 'spec.containers{web}',
    },
  );

/** Not ready yet, for less than a minute by its condition. */
function starting(ms: number, spec: Partial<PodContainer> = {}): Pod {
  const pod = withStatus({ running: { startedAt: at(-ms) } }, spec);
  return {
    ...pod,
    status: {
      ...pod.status,
      unmetConditions: [{ type: 'Ready', reason: 'ContainersNotReady', message: '', since: at(-Math.min(ms, 30_000)) }],
    },
  };
}

const newer = podOf({
  metadata: {
    name: 'web-2',
    uid: 'uid-2',
    creationTimestamp: at(-5_000),
    labels: { 'pod-template-hash': 'bbb' },
    ownerReferences: [{ kind: 'ReplicaSet', name: 'web-bbb', controller: true }],
  },
});
const sidecar = { ...CALM, name: 'proxy', restartPolicy: 'Always' };

/** Each with whether a green tick is right. */
const CONTROLS: readonly (readonly [string, Partial<ClusterFacts>, boolean])[] = [
  ['ready and calm', {}, true],
  ['ready and calm, as far as its warnings were read', { notRead: [{ what: 'events', why: 'cut' }] }, false],
  ['starting within its grace', { pod: starting(20_000), events: [unhealthy('Readiness', 5, 2_000)] }, false],
  [
    'starting as long as its startup probe allows',
    {
      pod: starting(200_000, {
        probes: { startup: { by: 'http', port: 8080, periodSeconds: 10, failureThreshold: 30 } },
      }),
      events: [unhealthy('Startup', 20, 2_000)],
    },
    false,
  ],
  [
    'creating its containers',
    {
      pod: {
        ...rising(),
        metadata: { ...rising().metadata, creationTimestamp: at(-15_000) },
        status: {
          ...rising().status,
          unmetConditions: [{ type: 'Ready', reason: '', message: '', since: at(-15_000) }],
        },
      },
    },
    false,
  ],
  ['in a rolling update', { versionedPods: [podOf(), newer] }, true],
  [
    'a completed pod of a Job',
    { pod: withStatus({ terminated: ended(60_000, { exitCode: 0 }) }, {}, 'Succeeded') },
    false,
  ],
  [
    'a completed pod whose sidecar was ended',
    {
      pod: podOf({
        spec: { initContainers: [sidecar] },
        status: {
          phase: 'Succeeded',
          containerStatuses: [aStatus({ terminated: ended(9_000, { exitCode: 0 }) })],
          initContainerStatuses: [aStatus({ name: 'proxy', terminated: ended(8_000, { exitCode: 143 }) })],
        },
      }),
    },
    false,
  ],
  [
    'with a sidecar that runs',
    {
      pod: podOf({
        spec: { initContainers: [sidecar] },
        status: {
          initContainerStatuses: [aStatus({ name: 'proxy', ready: true, running: { startedAt: at(-9_000_000) } })],
        },
      }),
      logs: [quietLog('web'), quietLog('proxy')],
    },
    true,
  ],
  [
    'restarted once long ago',
    {
      pod: withStatus({
        ready: true,
        running: { startedAt: at(-7_000_000) },
        restartCount: 1,
        lastTermination: ended(7_200_000),
      }),
    },
    true,
  ],
  [
    'killed for lack of memory two days ago',
    {
      pod: withStatus({
        ready: true,
        running: { startedAt: at(0) },
        restartCount: 1,
        lastTermination: ended(172_800_000, { reason: 'OOMKilled', exitCode: 137 }),
      }),
    },
    true,
  ],
  [
    'with warnings that healed',
    {
      events: [
        unhealthy('Readiness', 9, 60_000),
        warning('FailedMount', 'secret "x" not found'),
        warning('FailedScheduling', '0/1 nodes'),
        warning('Failed', 'pull'),
      ],
    },
    true,
  ],
  [
    'just started, and its liveness probe fails',
    {
      pod: withStatus({ ready: true, running: { startedAt: at(-20_000) } }),
      events: [unhealthy('Liveness', 6, 1_000)],
    },
    false,
  ],
  ['with a liveness failure that did not come back', { events: [unhealthy('Liveness', 5, 121_000)] }, true],
  [
    'with errors of its start that did not come back',
    {
      pod: withStatus({ ready: true, running: { startedAt: at(-300_000) } }),
      logs: [quietLog('web', [shape({ line: 'connection refused', lastAtMs: Date.parse(at(-280_000)) })])],
    },
    true,
  ],
  ['with warnings in its log', { logs: [quietLog('web', [shape({ level: 'warning' })])] }, true],
  [
    'with Services of others without pods',
    { services: [{ name: 'cart', selector: { app: 'cart' }, ports: [], addresses: { ready: 0, notReady: 0 } }] },
    true,
  ],
  [
    'beside a pod that cannot be created',
    {
      warnings: [
        about(
          'ReplicaSet',
          'web-aaa',
          'FailedCreate',
          'Error creating: pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
        ),
      ],
    },
    true,
  ],
  [
    'whose claim waits for nothing',
    { pod: podOf({ spec: { claims: ['data'] } }), claims: [{ name: 'data', phase: 'Bound' }] },
    true,
  ],
];

describe('a healthy pod', () => {
  it.each(CONTROLS)('that is %s has no finding of rank 1 or 2', (_name, facts, hasTick) => {
    const verdict = firstAnswer(factsOf(facts));
    expect(verdict.findings.filter(({ rank = 3 }) => rank < 3)).toEqual([]);
    expect(verdict.healthy === true).toBe(hasTick);
  });

  it('says so in one line, with when it was read', () => {
    expect(firstAnswer(factsOf())).toEqual({
      line: 'Healthy: ready, never restarted, no errors in its log; no look inside yet',
      well: 'ready, never restarted, no errors in its log',
      healthy: true,
      findings: [],
      readAtMs: factsOf().nowMs,
    });
  });
});

describe('what was not read', () => {
  const of = (parts: Partial<ClusterFacts>) => firstAnswer(factsOf(parts));

  it('keeps the tick away: the log, an empty log, the warnings', () => {
    expect(of({ logs: [] })).toMatchObject({
      line: 'Nothing found so far: ready, never restarted',
      unseen: ['the log of web: it was not read'],
    });
    expect(of({ logs: [{ ...quietLog(), lines: 0 }] }).unseen).toEqual(['the log of web: it is empty']);
    expect(of({ events: undefined }).unseen).toEqual(['its warnings and probes: they were not read']);
    for (const parts of [{ logs: [] }, { logs: [{ ...quietLog(), lines: 0 }] }, { events: undefined }])
      expect(of(parts).healthy).toBeUndefined();
  });

  it.each<[NotRead, string]>([
    [
      { what: 'log', why: 'policy', containerName: 'web' },
      'the log of web: this channel’s rule gives none (targetLog in the policy)',
    ],
    [
      { what: 'last-words', why: 'forbidden', containerName: 'web' },
      'the last words of web: the right is missing (get pods/log)',
    ],
    [{ what: 'claims', why: 'late' }, 'its claims: no answer in time; ask again'],
    [{ what: 'services', why: 'failed' }, 'its Services: reading it failed; ask again'],
  ])('is named with the reason: %j', (notRead, line) => {
    expect(of({ notRead: [notRead], logs: notRead.what === 'log' ? [] : [quietLog()] }).unseen).toEqual([line]);
  });
});
