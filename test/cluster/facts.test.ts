import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { AppsV1Api, CoreV1Api, KubeConfig, type V1Container, type V1PodSpec } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KubernetesCluster } from '../../src/adapters/kubernetes/cluster.ts';
import { systemClock } from '../../src/adapters/system/index.ts';
import { KdebugError } from '../../src/core/errors.ts';
import type { StampedLine, TargetLogRequest } from '../../src/flow/ports/cluster.ts';
import { Kube } from '../e2e/kube.ts';

const path = process.env.KUBECONFIG ?? '';
if (path === '') console.warn('skipped: KUBECONFIG names no cluster');

const says = (name: string, script: string): V1Container => ({
  name,
  image: 'localhost/busybox:1',
  command: ['sh', '-c', script],
});
const specOf = (...containers: readonly V1Container[]): V1PodSpec => ({
  terminationGracePeriodSeconds: 1,
  containers: [...containers],
});
const GROUP = 'team-facts';

describe.skipIf(path === '')('of a real cluster, a first answer reads', () => {
  let kube: Kube;
  let core: CoreV1Api;
  let cluster: KubernetesCluster;
  let namespace: string;
  let uid: string;

  beforeAll(async () => {
    const kubeconfig = readFileSync(path, 'utf8');
    const config = new KubeConfig();
    config.loadFromString(kubeconfig);
    kube = new Kube(kubeconfig);
    core = config.makeApiClient(CoreV1Api);
    namespace = await kube.namespace('kdebug-facts');
    await kube.letGroupDebug(namespace, GROUP);
    cluster = open();
    await makeWorkloads(config);
  });

  afterAll(async () => {
    await cluster?.close();
    await kube?.cleanUp();
  });

  function open(): KubernetesCluster {
    const silent = () => {};
    return new KubernetesCluster({
      name: 'test',
      source: { cluster: { inCluster: false, default: true }, kubeconfigPath: path },
      version: '0',
      log: { debug: silent, info: silent, warn: silent, error: silent },
      clock: systemClock,
    });
  }

  async function makeWorkloads(config: KubeConfig): Promise<void> {
    await core.createNamespacedPersistentVolumeClaim({
      namespace,
      body: {
        metadata: { name: 'data' },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'absent',
          resources: { requests: { storage: '1Gi' } },
        },
      },
    });
    const ports = [{ port: 80, targetPort: 8080 }];
    const body = { metadata: { name: 'nobody' }, spec: { selector: { app: 'nobody' }, ports } };
    await core.createNamespacedService({ namespace, body });
    await core.createNamespacedResourceQuota({
      namespace,
      body: { metadata: { name: 'team-quota' }, spec: { hard: { 'limits.cpu': '0' } } },
    });
    const labels = { app: 'web' };
    await config.makeApiClient(AppsV1Api).createNamespacedDeployment({
      namespace,
      body: {
        metadata: { name: 'web' },
        spec: {
          replicas: 2,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: specOf(says('web', 'sleep 3600')) },
        },
      },
    });
  }

  /** Makes a pod; the quota wants a limit of everything. Resolves when `until` holds. */
  async function aPod(name: string, spec: V1PodSpec, until: Parameters<Kube['pod']>[3]): Promise<void> {
    const limits = { cpu: '0' };
    const limited = (all: readonly V1Container[]) => all.map((each) => ({ ...each, resources: { limits } }));
    const whole = {
      ...spec,
      containers: limited(spec.containers),
      ...(spec.initContainers ? { initContainers: limited(spec.initContainers) } : {}),
    };
    const made = await kube.pod(namespace, name, whole, until);
    uid = made.metadata?.uid ?? '';
  }

  async function read(podName: string, more: Partial<TargetLogRequest> = {}): Promise<string[]> {
    const lines: StampedLine[] = [];
    const pod = { namespace, name: podName, uid };
    const usual = { pod, containerName: 'app', previous: false, tailLines: 50, limitBytes: 16_384 };
    const { signal } = new AbortController();
    await cluster.readTargetLog({ ...usual, signal, ...more }, (line) => lines.push(line));
    for (const { atMs } of lines) expect(Math.abs(Date.now() - atMs)).toBeLessThan(600_000);
    return lines.map(({ text }) => text);
  }

  const soon = async <T>(ask: () => Promise<T>, holds: (answer: T) => boolean): Promise<T> => {
    for (let left = 60; ; left -= 1) {
      const answer = await ask();
      if (holds(answer) || left === 0) return answer;
      await pause(1_000);
    }
  };

  const noLog = (error: unknown): string[] => {
    if (error instanceof KdebugError && error.code === 'log_unavailable') return [];
    throw error;
  };

  /**
   * The same at each end of a container. Before its next start the kubelet removes the last one, with its log, which the status names until
   * that has started (seen: up to 1.6 s on a busy node).
   */
  const previousOf = (podName: string, more: Partial<TargetLogRequest> = {}) =>
    soon(
      () => read(podName, { previous: true, ...more }).catch(noLog),
      (lines) => lines.length > 0,
    );

  it('what a quota says of a workload without pods', async () => {
    const warnings = await soon(
      () => cluster.warnings(namespace, () => true),
      ({ events }) => events.some(({ reason }) => reason === 'FailedCreate'),
    );
    expect(warnings.events.find(({ reason }) => reason === 'FailedCreate')).toMatchObject({
      type: 'Warning',
      involved: { kind: 'ReplicaSet', name: expect.stringMatching(/^web-/), uid: expect.any(String) },
      message: expect.stringContaining('team-quota'),
    });
    const workload = await soon(
      () => cluster.workload(namespace, { kind: 'deployment', name: 'web' }),
      (each) => typeof each === 'object' && each.conditions.length > 1,
    );
    expect(workload).toMatchObject({ kind: 'deployment', wanted: 2, ready: 0, updated: 0 });
    expect(JSON.stringify(workload)).toContain('"type":"ReplicaFailure"');
    expect(await cluster.workload(namespace, { kind: 'job', name: 'none' })).toBe('not-found');
  });

  it('claims with their class, and Services with nobody behind them', async () => {
    expect(await cluster.claims(namespace)).toEqual([
      { name: 'data', phase: 'Pending', storageClass: 'absent', requested: '1Gi' },
    ]);
    expect(await cluster.storageClasses()).not.toContain('absent');
    expect(await cluster.services(namespace)).toEqual([
      {
        name: 'nobody',
        selector: { app: 'nobody' },
        ports: [{ port: 80, targetPort: 8080 }],
        addresses: { ready: 0, notReady: 0 },
      },
    ]);
  });

  it('the last words of a container between two starts', async () => {
    const script = 'echo one; echo "panic: no config"; exit 2';
    await aPod('crash', specOf(says('app', script)), (pod) => {
      const [app] = pod.status?.containerStatuses ?? [];
      return app?.state?.waiting !== undefined && app.lastState?.terminated !== undefined;
    });
    expect(await previousOf('crash')).toEqual(['one', 'panic: no config']);
    expect(await previousOf('crash', { tailLines: 1 })).toEqual(['panic: no config']);
    expect(await previousOf('crash', { limitBytes: 16 })).toEqual(['panic: no config']);
  });

  it('the last words of an init container; its pod’s own container has none yet', async () => {
    const spec = { ...specOf(says('app', 'sleep 3600')), initContainers: [says('migrate', 'echo no table; exit 3')] };
    await aPod('init', spec, (pod) => {
      const [migrate] = pod.status?.initContainerStatuses ?? [];
      return migrate?.state?.waiting !== undefined && migrate.lastState?.terminated !== undefined;
    });
    expect(await previousOf('init', { containerName: 'migrate' })).toEqual(['no table']);
    expect(await read('init')).toEqual([]);
    expect(await read('init', { previous: true })).toEqual([]);
  });

  it('a finished pod’s log, as the person', async () => {
    const spec = { ...specOf(says('app', 'echo all done; exit 4')), restartPolicy: 'Never' };
    await aPod('finished', spec, (pod) => pod.status?.phase === 'Failed');
    const person = { user: 'roy', groups: [GROUP], slackUser: 'U0ROY' };
    expect(await read('finished', { actingAs: person })).toEqual(['all done']);
    expect(await read('finished', { previous: true })).toEqual([]);
    const stranger = { user: 'eve', groups: [], slackUser: 'U0EVE' };
    await expect(read('finished', { actingAs: stranger })).rejects.toMatchObject({ code: 'cluster_forbidden' });
    await expect(read('none')).rejects.toMatchObject({ code: 'pod_not_found' });
    await expect(read('finished', { containerName: 'none' })).rejects.toMatchObject({ code: 'cluster_failed' });
  });

  it('that there is no log of a program that was not found', async () => {
    const app = { name: 'app', image: 'localhost/busybox:1', command: ['wgett'] };
    await aPod('badcmd', specOf(app), (pod) => pod.status?.containerStatuses?.[0]?.lastState?.terminated !== undefined);
    expect(await read('badcmd')).toEqual([]);
    expect(await read('badcmd', { previous: true })).toEqual([]);
  });

  it('that the node has removed the log of a deleted pod which a finalizer holds', async () => {
    await aPod('held', specOf(says('app', 'echo held; sleep 3600')), undefined);
    const hold = {
      name: 'held',
      namespace,
      body: [{ op: 'add', path: '/metadata/finalizers', value: ['example.com/hold'] }],
    };
    await core.patchNamespacedPod(hold);
    try {
      await kube.remove(namespace, 'held');
      await kube.until(namespace, 'held', (pod) => pod.status?.phase === 'Failed');
      const gone = await soon(
        () => read('held').catch((error: unknown) => error),
        (answer) => answer instanceof Error,
      );
      expect(gone).toMatchObject({ code: 'log_unavailable' });
    } finally {
      await core.patchNamespacedPod({
        name: 'held',
        namespace,
        body: [{ op: 'remove', path: '/metadata/finalizers' }],
      });
    }
  });
});
