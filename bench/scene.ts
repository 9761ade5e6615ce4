import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { startLocalCluster } from '../play/cluster/index.ts';

/** A cluster with pods to debug; each has one container, `app`. */
export interface Scene {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly image: string;
  readonly pods: readonly string[];
  /** Requests so far whose user agent begins so; undefined where nobody counts them. */
  calls(userAgent: string): number | undefined;
  close(): Promise<void>;
}

const START_LIMIT_MS = 60_000;

const podNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `pod-${1000 + index}`);

/** The local cluster; its kubelet takes `kubeletDelayMs` as its second. */
export async function localScene(kubeletDelayMs: number, pods: number): Promise<Scene> {
  const cluster = await startLocalCluster({ kubeletDelayMs, requestLogLength: 100_000 });
  const namespace = 'bench';
  const names = podNames(pods);
  for (const name of names) cluster.addPod({ name, namespace });
  const isUp = (name: string): boolean => cluster.pod(namespace, name)?.status.phase === 'Running';
  await untilAll(() => Promise.resolve(names.every(isUp)));
  return {
    kubeconfig: cluster.kubeconfig,
    namespace,
    image: 'localhost/busybox:1',
    pods: names,
    calls: (userAgent) => cluster.requests.find().filter((request) => request.userAgent.startsWith(userAgent)).length,
    close: () => cluster.stop(),
  };
}

/** A namespace of its own on a real cluster that has the image `localhost/busybox:1`. */
export async function realScene(kubeconfig: string, pods: number): Promise<Scene> {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const namespace = `kdebug-bench-${randomBytes(3).toString('hex')}`;
  const image = 'localhost/busybox:1';
  const names = podNames(pods);
  await core.createNamespace({ body: { metadata: { name: namespace } } });
  const close = async (): Promise<void> => {
    await core.deleteNamespace({ name: namespace });
  };
  const app = { name: 'app', image, imagePullPolicy: 'IfNotPresent', command: ['sleep', '3600'] };
  const spec = { containers: [app], terminationGracePeriodSeconds: 1 };
  try {
    const hasAccount = async (): Promise<boolean> =>
      (await core.listNamespacedServiceAccount({ namespace })).items.length > 0;
    await untilAll(hasAccount);
    for (const name of names) await core.createNamespacedPod({ namespace, body: { metadata: { name }, spec } });
    await untilAll(async () => {
      const { items } = await core.listNamespacedPod({ namespace });
      return items.length === names.length && items.every(({ status }) => status?.phase === 'Running');
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { kubeconfig, namespace, image, pods: names, calls: () => undefined, close };
}

async function untilAll(holds: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + START_LIMIT_MS;
  while (!(await holds())) {
    if (performance.now() > untilMs) throw new Error(`the pods did not start within ${START_LIMIT_MS} ms`);
    await pause(50);
  }
}
