import { describe, expect, it } from 'vitest';
import type { WorkloadFact } from '../../../src/core/diagnosis/facts/facts.ts';
import { filteredClusters } from '../../../src/flow/context/filtered-cluster.ts';
import type { Cluster } from '../../../src/flow/ports/cluster.ts';
import { aPod, aPolicy } from '../../support/builders.ts';
import { FakeCluster } from '../support/fakes.ts';

const SECRET = 'blue-parrot-42';
const REDACT = [SECRET];

function filtered(fake: FakeCluster, patterns = () => REDACT): Cluster {
  const policy = () => aPolicy({ output: { ...aPolicy().output, redact: patterns() } });
  return filteredClusters({ get: () => fake }, { policies: { current: policy } as never }).get('prod');
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
    const [seen] = await filtered(fake).warnings('shop');
    expect(seen?.message).not.toContain(SECRET);
    expect(seen).toMatchObject({ reason: 'Failed', involved: { kind: 'Pod', name: 'web' } });
  });

  it('is filtered once while it stays the same, and again by other patterns', async () => {
    const fake = new FakeCluster();
    fake.warningsNow = [warning(`token ${SECRET} refused`)];
    let patterns = ['nothing'];
    const cluster = filtered(fake, () => patterns);
    const before = await cluster.warnings('shop');
    expect(await cluster.warnings('shop')).toBe(before);
    patterns = REDACT;
    expect(JSON.stringify(await cluster.warnings('shop'))).not.toContain(SECRET);
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
    fake.siblings = [{ ...pod, spec: { ...pod.spec, containers } }];
    const [, seen] = await filtered(fake).pods('shop', []);
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

  it('leaves a pod alone that says nothing', async () => {
    const pod = aPod();
    const fake = new FakeCluster();
    fake.siblings = [pod];
    expect((await filtered(fake).pods('shop', []))[1]).toBe(pod);
  });
});
