import { describe, expect, it } from 'vitest';
import type { WorkloadFact } from '../../../src/core/diagnosis/facts/facts.ts';
import { filteredClusters } from '../../../src/flow/context/filtered-cluster.ts';
import type { Cluster, PodSeen } from '../../../src/flow/ports/cluster.ts';
import { Turns } from '../../../src/lib/turns.ts';
import { aPod, aPolicy } from '../../support/builders.ts';
import { FakeCluster } from '../support/fakes.ts';

const SECRET = 'blue-parrot-42';
const REDACT = [SECRET];

const ANY = () => true;

function filtered(fake: FakeCluster, patterns = () => REDACT, elapsed = () => 0): Cluster {
  const policy = () => aPolicy({ output: { ...aPolicy().output, redact: patterns() } });
  const deps = { policies: { current: policy } as never, turns: new Turns({ elapsed }) };
  return filteredClusters({ get: () => fake }, deps).get('prod');
}

const warning = (message: string) => ({
  type: 'Warning',
  reason: 'Failed',
  message,
  atMs: 1,
  involved: { kind: 'Pod', name: 'web' },
});

describe('what the cluster says', () => {
  it('of an object in a warning has no secret', async () => {
    const fake = new FakeCluster();
    fake.warningsNow = [warning(`token ${SECRET} refused`)];
    const { events } = await filtered(fake).warnings('shop', ANY);
    const [seen] = events;
    expect(seen?.message).not.toContain(SECRET);
    expect(seen).toMatchObject({ reason: 'Failed', involved: { kind: 'Pod', name: 'web' } });
  });

  it('is filtered once while it stays the same, and again by other patterns', async () => {
    const fake = new FakeCluster();
    fake.warningsNow = [warning(`token ${SECRET} refused`)];
    let patterns = ['nothing'];
    const cluster = filtered(fake, () => patterns);
    const before = (await cluster.warnings('shop', ANY)).events[0];
    expect((await cluster.warnings('shop', ANY)).events[0]).toBe(before);
    patterns = REDACT;
    expect(JSON.stringify(await cluster.warnings('shop', ANY))).not.toContain(SECRET);
  });

  it('in the conditions, the last change and the marks of a workload has no secret', async () => {
    const fake = new FakeCluster();
    const condition = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: SECRET, since: 't' };
    const workload: WorkloadFact = {
      kind: 'deployment',
      name: 'web',
      uid: 'u',
      ready: 0,
      conditions: [condition],
      createdAtMs: 0,
      lastChange: { atMs: 1, manager: SECRET },
      marks: { 'app.kubernetes.io/version': SECRET },
    };
    fake.workloadNow = workload;
    const seen = await filtered(fake).workload('shop', { kind: 'deployment', name: 'web' });
    expect(JSON.stringify(seen)).not.toContain(SECRET);
    expect(seen).toMatchObject({ conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }] });
    fake.workloadNow = 'not-found';
    expect(await filtered(fake).workload('shop', { kind: 'deployment', name: 'web' })).toBe('not-found');
    fake.workloadNow = undefined;
    expect(await filtered(fake).workload('shop', { kind: 'deployment', name: 'web' })).toBeUndefined();
  });

  it('in the probes of a pod has no secret', async () => {
    const pod = aPod();
    const probes = {
      liveness: { by: 'exec', command: `redis-cli -a ${SECRET} ping` },
      readiness: { by: 'http', port: 80, path: `/healthz?token=${SECRET}` },
    } as const;
    const containers = pod.spec.containers.map((container) => ({ ...container, probes }));
    const fake = new FakeCluster();
    fake.siblings = [{ ...pod, metadata: { ...pod.metadata, name: 'probed' }, spec: { ...pod.spec, containers } }];
    const seen = await filtered(fake).pod('shop', 'probed');
    expect(JSON.stringify(seen)).not.toContain(SECRET);
    expect(seen?.spec.containers[0]?.probes).toMatchObject({ liveness: { by: 'exec' }, readiness: { port: 80 } });
  });

  it('in the name of an image has no secret, and other names stay as they are', async () => {
    const digest = `@sha256:${'0123456789abcdef'.repeat(4)}`;
    const names = [
      'https://ci:hunter2hunter2@registry.example.com/app:1',
      `registry.example.com/app:${SECRET}`,
      `registry.example.com:5000/team/app${digest}`,
      'docker.io/library/web:v1.2.3-rc.1_build',
    ];
    const pod = aPod();
    const [container] = pod.spec.containers;
    const [status] = pod.status.containerStatuses;
    const fake = new FakeCluster();
    fake.siblings = [
      {
        ...pod,
        spec: { ...pod.spec, containers: names.map((image) => ({ ...container!, image })) },
        status: { ...pod.status, containerStatuses: names.map((image) => ({ ...status!, image })) },
      },
    ];
    const [, seen] = await filtered(fake).pods('shop', []);
    expect(JSON.stringify(seen)).not.toMatch(/hunter2|blue-parrot/);
    for (const list of [seen?.spec.containers, seen?.status.containerStatuses])
      expect(list?.slice(2).map(({ image }) => image)).toEqual(names.slice(2));
  });

  it('in a list of pods has no words that a container can make long, only what to count and choose by', async () => {
    const pod = aPod();
    const ended = { exitCode: 3, reason: 'Error', message: 'words', startedAt: 't', finishedAt: 't' };
    const [status] = pod.status.containerStatuses;
    const probed = { ...pod.spec.containers[0]!, probes: { liveness: { by: 'exec', command: 'words' } as const } };
    const unmet = { type: 'Ready', reason: 'ContainersNotReady', message: 'words', since: 't' };
    const fake = new FakeCluster();
    fake.siblings = [
      {
        ...pod,
        metadata: { ...pod.metadata, name: 'loud' },
        spec: { ...pod.spec, containers: [probed] },
        status: {
          ...pod.status,
          message: 'words',
          unmetConditions: [unmet],
          containerStatuses: [
            { ...status!, waiting: { reason: 'CrashLoopBackOff', message: 'words' }, lastTermination: ended },
          ],
        },
      },
    ];
    const cluster = filtered(fake);

    const [, listed] = await cluster.pods('shop', []);
    expect(JSON.stringify(listed)).not.toContain('words');
    expect(listed?.status).toMatchObject({
      unmetConditions: [{ type: 'Ready', reason: 'ContainersNotReady' }],
      containerStatuses: [{ waiting: { reason: 'CrashLoopBackOff' }, lastTermination: { exitCode: 3 } }],
    });
    expect(JSON.stringify(await cluster.pod('shop', 'loud')).match(/words/g)).toHaveLength(5);
  });

  it('is filtered in turns of the event loop, however much it is', async () => {
    const fake = new FakeCluster();
    fake.warningsNow = Array.from({ length: 30 }, (_, at) => warning(`token ${SECRET} refused, ${at}`));
    // Each look at the clock is 4 ms after the last one.
    let nowMs = 0;
    const cluster = filtered(fake, undefined, () => {
      nowMs += 4;
      return nowMs;
    });
    let turns = 0;
    let isDone = false;
    const next = (): void => {
      turns += 1;
      if (!isDone) setImmediate(next);
    };
    setImmediate(next);
    const { events } = await cluster.warnings('shop', ANY);
    isDone = true;
    expect(events).toHaveLength(30);
    expect(turns).toBeGreaterThan(20);
  });

  it('of a pod that changes while it is filtered is the newest', async () => {
    const fake = new FakeCluster();
    const pod = aPod();
    const seen: PodSeen[] = [];
    const said = (message: string): PodSeen => ({ kind: 'pod', pod: { ...pod, status: { ...pod.status, message } } });
    let tell: (seen: PodSeen) => void = () => {};
    fake.watch = (_, onSeen) => {
      tell = onSeen;
      return { close: () => {} };
    };
    filtered(fake).watch(pod.metadata, (sight) => seen.push(sight));
    for (const message of ['first', 'second', `third ${SECRET}`]) tell(said(message));
    await expect.poll(() => seen.length).toBe(2);
    expect(JSON.stringify(seen)).toMatch(/first.*third/);
    expect(JSON.stringify(seen)).not.toMatch(/second|blue-parrot/);
  });

  it('leaves a pod alone that says nothing', async () => {
    const pod = aPod();
    const fake = new FakeCluster();
    fake.siblings = [pod];
    expect((await filtered(fake).pods('shop', []))[1]).toBe(pod);
  });
});
