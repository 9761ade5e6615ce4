import { describe, expect, it } from 'vitest';
import type { ContainerStatus, Pod, PodEvent } from '../../../src/core/container/pod.ts';
import { type ClusterFacts, lookAtCluster } from '../../../src/core/diagnosis/look-at-cluster.ts';
import { aPod, aStatus, aTermination, type PodParts, START_MS } from '../../support/builders.ts';

const HEALTHY = {
  name: 'web',
  image: 'web:1',
  securityContext: {},
  memoryLimit: '128Mi',
  cpuLimit: '500m',
  hasRequests: true,
};

const podOf = (parts: PodParts = {}): Pod => aPod({ ...parts, spec: { containers: [HEALTHY], ...parts.spec } });

const look = (facts: Partial<ClusterFacts> = {}) =>
  lookAtCluster({
    pod: podOf(),
    targetContainerName: 'web',
    versionedPods: [],
    events: [],
    node: { name: 'node-a', conditions: [{ type: 'Ready', status: 'True' }] },
    nowMs: START_MS,
    ...facts,
  });

const found = (facts: Partial<ClusterFacts> = {}) => Object.values(look(facts)).flat();
const codes = (facts: Partial<ClusterFacts> = {}) => found(facts).map(({ code }) => code);

const withStatus = (parts: Partial<ContainerStatus>): Partial<ClusterFacts> => ({
  pod: podOf({ status: { containerStatuses: [aStatus(parts)] } }),
});

const endedAgo = (ms: number, parts = {}) =>
  aTermination({ exitCode: 1, reason: 'Error', finishedAt: new Date(START_MS - ms).toISOString(), ...parts });

const event = (parts: Partial<PodEvent> = {}): PodEvent => ({
  reason: 'Unhealthy',
  message: 'Readiness probe failed: HTTP probe failed with statuscode: 503',
  type: 'Warning',
  atMs: START_MS - 3_000,
  count: 14,
  fieldPath: 'spec.containers{web}',
  ...parts,
});

const ofTemplate = (name: string, hash: string, creationTimestamp: string, parts: PodParts = {}): Pod =>
  podOf({
    ...parts,
    metadata: {
      name,
      creationTimestamp,
      labels: { 'pod-template-hash': hash },
      ownerReferences: [{ kind: 'ReplicaSet', name: `web-${hash}`, controller: true }],
      ...parts.metadata,
    },
  });

describe('what only the API knows', () => {
  it('finds nothing in a healthy pod', () => {
    expect(look()).toEqual({ restarts: [], probes: [], events: [], node: [], resources: [], rollout: [] });
  });

  it('has no word on what was not read', () => {
    expect(Object.keys(look({ events: undefined, node: undefined }))).toEqual(['restarts', 'resources', 'rollout']);
  });

  it('is the same text for the same facts', () => {
    const facts = { ...withStatus({ restartCount: 3, lastTermination: endedAgo(12_000) }), events: [event()] };
    expect(look(facts)).toEqual(look(structuredClone(facts)));
  });
});

describe('restarts', () => {
  it('tells a crash loop with its number, its age and its exit code', () => {
    const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 5m0s' };
    expect(found(withStatus({ restartCount: 14, waiting, lastTermination: endedAgo(12_000) }))).toEqual([
      { code: 'crash_loop', value: 14, text: 'web restarted 14 times, last exited 12 s ago: exit code 1 (Error)' },
    ]);
  });

  it('says first that memory was the cause, for a day', () => {
    const killed = (ms: number) =>
      withStatus({ restartCount: 2, lastTermination: endedAgo(ms, { exitCode: 137, reason: 'OOMKilled' }) });
    expect(found(killed(3_600_000))).toEqual([
      {
        code: 'last_oom_killed',
        value: 2,
        text: 'web restarted 2 times, last exited 1 h ago: out of memory (OOMKilled)',
      },
    ]);
    expect(found(killed(25 * 3_600_000))).toEqual([]);
  });

  it('forgets a restart after an hour', () => {
    expect(codes(withStatus({ restartCount: 1, lastTermination: endedAgo(59 * 60_000) }))).toEqual(['restarts']);
    expect(codes(withStatus({ restartCount: 1, lastTermination: endedAgo(61 * 60_000) }))).toEqual([]);
  });

  it('tells an end that was not yet followed by a start', () => {
    expect(found(withStatus({ terminated: endedAgo(1_000) }))[0]?.text).toBe('web exited 1 s ago: exit code 1 (Error)');
    expect(codes(withStatus({ terminated: endedAgo(1_000, { exitCode: 0 }) }))).toEqual([]);
  });

  it('tells a container that cannot start in the words of the kubelet', () => {
    const waiting = { reason: 'ImagePullBackOff', message: 'Back-off\n\u001b[31mpulling' };
    expect(found(withStatus({ waiting }))).toEqual([
      { code: 'not_starting', text: 'web cannot start: ImagePullBackOff Back-off pulling' },
    ]);
  });

  it('looks at sidecars and failed init containers, and not at those that run or have done their work', () => {
    const init = (name: string, exitCode = 1) =>
      aStatus({ name, restartCount: 4, terminated: endedAgo(1_000, { exitCode }) });
    const initContainers = [
      { ...HEALTHY, name: 'migrate' },
      { ...HEALTHY, name: 'fetch' },
      { ...HEALTHY, name: 'again' },
      { ...HEALTHY, name: 'proxy', restartPolicy: 'Always' },
    ];
    const again = aStatus({ name: 'again', restartCount: 1, running: { startedAt: '' }, lastTermination: endedAgo(1) });
    const pod = podOf({
      spec: { initContainers },
      status: { initContainerStatuses: [init('migrate', 0), init('fetch'), again, init('proxy')] },
    });
    expect(found({ pod }).map(({ text }) => text.split(' ')[0])).toEqual(['proxy', 'fetch']);
  });
});

describe('the pod as a whole', () => {
  const unmet = (type: string, message: string, agoMs = 120_000) => ({
    unmetConditions: [{ type, reason: 'Why', message, since: new Date(START_MS - agoMs).toISOString() }],
  });

  it('tells an eviction in the words of the kubelet', () => {
    const pod = podOf({ status: { phase: 'Failed', reason: 'Evicted', message: 'low on\nmemory' } });
    expect(found({ pod })).toEqual([{ code: 'pod_failed', text: 'the pod failed: Evicted low on memory' }]);
  });

  it('tells a failure once: by its container while that is news, else by the pod', () => {
    const failed = (ms: number) => ({
      pod: podOf({ status: { phase: 'Failed', containerStatuses: [aStatus({ terminated: endedAgo(ms) })] } }),
    });
    expect(codes(failed(1_000))).toEqual(['restarts']);
    expect(found(failed(2 * 3_600_000))).toEqual([
      { code: 'pod_failed', text: 'the pod failed: web ended with exit code 1 (Error)' },
    ]);
  });

  it('tells that no node can run it, once, and nothing of that while it is deleted', () => {
    const { nodeName: _, ...spec } = podOf().spec;
    const parts = { spec, status: { phase: 'Pending', ...unmet('PodScheduled', '0/3 nodes are available') } } as const;
    const pod = { ...podOf(parts), spec };
    const events = [event({ reason: 'FailedScheduling' })];
    expect(found({ pod, events })).toEqual([
      { code: 'not_scheduled', text: 'no node can run the pod: 0/3 nodes are available' },
    ]);
    const metadata = { ...pod.metadata, deletionTimestamp: new Date(START_MS).toISOString() };
    expect(codes({ pod: { ...pod, metadata } })).toEqual([]);
    expect(codes({ pod: podOf({ status: unmet('PodScheduled', 'long ago') }) })).toEqual([]);
  });

  it('tells a pod that is still there a minute after its time', () => {
    const deleted = (ms: number) => ({
      pod: podOf({ metadata: { deletionTimestamp: new Date(START_MS - ms).toISOString() } }),
    });
    expect(codes(deleted(60_000))).toEqual([]);
    expect(found(deleted(61_000))[0]?.text).toBe('the pod should have been gone 1 min 1 s ago');
  });

  it('tells after a minute that it is not ready, unless another finding says why', () => {
    const status = unmet('Ready', 'containers with unready status: [web]');
    expect(found({ pod: podOf({ status }) })).toEqual([
      {
        code: 'not_ready',
        text: 'the pod has not been ready for 2 min: containers with unready status: [web]',
      },
    ]);
    expect(codes({ pod: podOf({ status: unmet('Ready', '', 60_000) }) })).toEqual([]);
    expect(codes({ pod: podOf({ status }), events: [event()] })).toEqual(['probe_failing']);
    expect(codes({ pod: podOf({ status: { ...status, phase: 'Unknown' } }) })).toEqual([]);
  });

  it('tells of a pod that does not start what Kubernetes warned of last, once', () => {
    const status = { phase: 'Pending', ...unmet('Ready', 'containers with unready status: [web]') } as const;
    const events = [event({ reason: 'FailedMount', message: 'no such volume', fieldPath: '' })];
    expect(found({ pod: podOf({ status }), events })).toEqual([
      { code: 'not_ready', text: 'the pod has been starting for 2 min: FailedMount no such volume' },
    ]);
  });
});

describe('events', () => {
  it('counts the failures of a container’s probes, and quotes the newest', () => {
    const startup = event({ count: 2, atMs: START_MS - 60_000, message: 'Startup probe failed' });
    expect(found({ events: [event(), startup] })).toEqual([
      {
        code: 'probe_failing',
        value: 16,
        threshold: 2,
        text: 'a probe of web failed 16 times, last 3 s ago: Readiness probe failed: HTTP probe failed with statuscode: 503',
      },
    ]);
  });

  it('leaves out what the kubelet itself is patient with, and what is long ago', () => {
    expect(codes({ events: [event({ count: 2 })] })).toEqual([]);
    expect(codes({ events: [event({ atMs: START_MS - 7 * 60_000 })] })).toEqual([]);
  });

  it('forgets what a container that is ready now failed while it started, but not that it seems dead', () => {
    const messages = ['Startup probe failed: timeout', 'Readiness probe failed: 503', 'Liveness probe failed: 500'];
    const events = messages.map((message) => event({ message }));
    expect(found({ events, ...withStatus({ ready: true }) })).toMatchObject([
      { code: 'probe_failing', value: 14, text: expect.stringContaining('Liveness probe failed') },
    ]);
    expect(found({ events, ...withStatus({ ready: false }) })).toMatchObject([{ value: 42 }]);
  });

  it('gathers other warnings, but for those about debug containers', () => {
    const mount = event({ reason: 'FailedMount', message: 'not\nfound', count: 3, atMs: START_MS - 120_000 });
    const ours = event({ reason: 'Failed', fieldPath: 'spec.ephemeralContainers{kdebug-a}' });
    const events = [mount, ours, event({ type: 'Normal', reason: 'Pulled' }), event({ reason: 'BackOff' })];
    expect(found({ events })).toEqual([
      { code: 'warning_events', value: 3, text: '3 warnings, last 2 min ago: FailedMount not found' },
    ]);
  });

  it('bounds the words of others', () => {
    const [finding] = found({ events: [event({ reason: 'Failed', message: '😀'.repeat(2_000) })] });
    expect([...(finding?.text ?? '')].length).toBeLessThan(220);
    expect(finding?.text.endsWith('😀…')).toBe(true);
  });
});

describe('the node', () => {
  const node = (...conditions: { type: string; status: string }[]) => ({ node: { name: 'node-a', conditions } });

  it('is told when it is not ready, or under pressure', () => {
    expect(codes(node({ type: 'Ready', status: 'Unknown' }))).toEqual(['node_not_ready']);
    expect(found(node({ type: 'MemoryPressure', status: 'True' }, { type: 'PIDPressure', status: 'True' }))).toEqual([
      { code: 'node_pressure', value: 2, text: 'the node node-a reports MemoryPressure, PIDPressure' },
    ]);
    expect(codes(node({ type: 'DiskPressure', status: 'False' }, { type: 'KernelDeadlock', status: 'True' }))).toEqual(
      [],
    );
  });
});

describe('requests and limits', () => {
  const target = (parts: object) => ({ pod: podOf({ spec: { containers: [{ ...HEALTHY, ...parts }] } }) });

  it.each([
    [{ cpuLimit: '50m' }, ['cpu_limit_tight'], 95],
    [{ cpuLimit: '100m' }, [], undefined],
    [{ cpuLimit: '2' }, [], undefined],
    [{ cpuLimit: 'nonsense' }, [], undefined],
    [{ hasRequests: false }, ['no_requests'], undefined],
  ])('of %j are %j', (parts, expected, value) => {
    expect(codes(target(parts))).toEqual(expected);
    expect(found(target(parts))[0]?.value).toBe(value);
  });

  it('are those of the target, a sidecar too, and of the first container only where none was named', () => {
    const sidecar = { ...HEALTHY, name: 'proxy', restartPolicy: 'Always', cpuLimit: '50m' };
    const pod = podOf({ spec: { containers: [{ ...HEALTHY, cpuLimit: '20m' }], initContainers: [sidecar] } });
    const values = (targetContainerName: string | undefined) =>
      found({ pod, targetContainerName }).map(({ value }) => value);
    expect(values('proxy')).toEqual([95]);
    expect(values('gone')).toEqual([]);
    expect(values(undefined)).toEqual([98]);
  });

  it('are missed where there are none', () => {
    const { memoryLimit: _, hasRequests: __, ...bare } = HEALTHY;
    expect(codes({ pod: podOf({ spec: { containers: [bare] } }) })).toEqual(['no_memory_limit', 'no_requests']);
  });
});

describe('a rollout', () => {
  const old = ofTemplate('web-1', 'aaa', '2026-11-20T00:00:00Z');

  it('is under way when pods of another template of the same Deployment live', () => {
    const next = ofTemplate('web-2', 'bbb', '2026-11-21T00:00:00Z');
    expect(found({ pod: old, versionedPods: [old, next] })).toEqual([
      {
        code: 'rollout_under_way',
        value: 1,
        text: 'a rollout of web is in progress: 1 pod of 2 of the newer version',
      },
    ]);
    expect(found({ pod: next, versionedPods: [old, next] })[0]?.text).toContain('of the older version');
  });

  it('is not seen in pods that are going, of other Deployments, or without an owner', () => {
    const going = ofTemplate('web-2', 'bbb', '2026-11-21T00:00:00Z', {
      metadata: { deletionTimestamp: '2026-11-21T07:00:00Z' },
    });
    const foreign = ofTemplate('x', 'bbb', '2026-11-21T00:00:00Z', {
      metadata: { ownerReferences: [{ kind: 'ReplicaSet', name: 'other-bbb', controller: true }] },
    });
    expect(codes({ pod: old, versionedPods: [old, going, foreign, podOf()] })).toEqual([]);
    expect(codes({ pod: podOf(), versionedPods: [old] })).toEqual([]);
  });
});

describe('the clock of the node', () => {
  const launch = { containerName: 'kdebug-a', launchedAtMs: START_MS - 10_000 };
  const at = (ms: number) => new Date(START_MS + ms).toISOString();
  const ran = (startedMs: number, finishedMs: number) => {
    const terminated = aTermination({ startedAt: at(startedMs), finishedAt: at(finishedMs) });
    return {
      pod: podOf({ status: { ephemeralContainerStatuses: [aStatus({ name: 'kdebug-a', terminated })] } }),
      launch,
    };
  };

  it('is right when our container started after it was asked for and ended before now', () => {
    expect(look(ran(-9_000, -3_000)).clock).toEqual([]);
    expect(look(ran(-15_000, 5_000)).clock).toEqual([]);
    expect(look({ launch }).clock).toBeUndefined();
    expect(look({ ...ran(-9_000, -3_000), launch: undefined }).clock).toBeUndefined();
  });

  it.each([
    ['behind', ran(-40_000, -33_000), 30],
    ['ahead of', ran(51_000, 60_000), 60],
  ])('is %s ours by at least what is impossible otherwise', (which, facts, value) => {
    const text = expect.stringMatching(`is at least .* ${which} kdebug’s$`);
    expect(look(facts).clock).toEqual([{ code: 'clock_skew', value, threshold: 5, text }]);
  });

  it('is not told from a container that never started', () => {
    expect(look(ran(-START_MS, -1_000)).clock).toEqual([]);
  });
});
