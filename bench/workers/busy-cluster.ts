import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startLocalCluster } from '../../play/cluster/index.ts';
import { random } from '../random.ts';
import type { Served } from './served.ts';

export interface BusyClusterConfig {
  /** Pods of `bench` that run, for what people ask. */
  readonly pods: number;
  /** Pods of the ReplicaSet `web-1` in `hostile`, each of whose three containers ended with words that take long to filter. */
  readonly hostilePods?: number;
  /** Events in `hostile`, each with words that take long. */
  readonly warnings?: number;
  /** Namespaces `fat-0`, `fat-1` … with so many pods, each with one argument of so many bytes, that never run. */
  readonly fat?: { readonly namespaces: number; readonly pods: number; readonly bytes: number };
}

export interface BusyClusterResult {
  readonly kubeconfig: string;
}

/** A local cluster in a process of its own, as others may fill one. */
export async function startBusyCluster(config: BusyClusterConfig): Promise<Served<BusyClusterResult>> {
  const cluster = await startLocalCluster({ kubeletDelayMs: 0 });
  const labels = { app: 'web' };
  for (let index = 0; index < config.pods; index += 1)
    cluster.addPod({ name: `pod-${1000 + index}`, namespace: 'bench', labels, nodeName: `node-${index % 20}` });
  while (cluster.pods().some(({ status }) => status.phase !== 'Running')) await pause(50);
  loadHostile(config, (folder) => cluster.loadRecorded(folder));
  const { namespaces = 0, pods = 0, bytes = 0 } = config.fat ?? {};
  for (let index = 0; index < namespaces * pods; index += 1) {
    const app = { name: 'app', image: 'busybox', args: ['a'.repeat(bytes)] };
    cluster.addPod({
      name: `fat-${index}`,
      namespace: `fat-${index % namespaces}`,
      containers: [app],
      isUnscheduled: true,
    });
  }
  return { result: { kubeconfig: cluster.kubeconfig }, stop: () => cluster.stop() };
}

function loadHostile({ hostilePods = 0, warnings = 0 }: BusyClusterConfig, load: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'kdebug-bench-'));
  const at = '2026-01-01T00:00:00Z';
  const objects = [
    ...Array.from({ length: hostilePods }, (_, index) => hostilePod(index, at)),
    ...Array.from({ length: warnings }, (_, index) => hostileWarning(index, at)),
  ];
  writeFileSync(join(folder, 'at.txt'), at);
  writeFileSync(join(folder, 'objects.json'), JSON.stringify(objects));
  load(folder);
  rmSync(folder, { recursive: true });
}

const next = random(1);
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
/** What keeps a pattern of many states busy at each character. */
const letters = (length: number): string =>
  Array.from({ length }, () => LETTERS[Math.floor(next() * LETTERS.length)]).join('');

/** A JSON document, of which each text is filtered by itself, of what looks like the beginning of a secret again and again. */
const wordsOf = (index: number): string =>
  JSON.stringify({ a: index % 3 === 0 ? letters(3_900) : '_KEY='.repeat(780), b: index });

const PARTS = ['app', 'proxy', 'agent'] as const;

function hostilePod(index: number, at: string) {
  const ended = (part: number) => ({
    ...{ exitCode: 3, reason: 'Error', startedAt: at, finishedAt: at, containerID: `containerd://${index}-${part}` },
    message: wordsOf(3 * index + part),
  });
  const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 5m0s restarting failed container' };
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: {
      ...{ name: `web-1-${index}`, namespace: 'hostile', uid: `uid-${index}`, creationTimestamp: at },
      labels: { app: 'web', 'pod-template-hash': '1' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: 'uid-web', controller: true }],
    },
    spec: { nodeName: 'node-1', containers: PARTS.map((name) => ({ name, image: 'busybox' })) },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'False', reason: 'ContainersNotReady', lastTransitionTime: at }],
      containerStatuses: PARTS.map((name, part) => ({
        ...{ name, image: 'busybox', imageID: '', ready: false, restartCount: 9, containerID: '' },
        ...{ state: { waiting }, lastState: { terminated: ended(part) } },
      })),
    },
  };
}

const hostileWarning = (index: number, at: string) => ({
  ...{ apiVersion: 'v1', kind: 'Event', type: 'Warning', reason: 'Failed', message: letters(990), count: 1 },
  metadata: { name: `warning-${index}`, namespace: 'hostile', uid: `uid-event-${index}`, creationTimestamp: at },
  involvedObject: { kind: 'Pod', name: `web-1-${index}`, namespace: 'hostile', uid: `uid-${index}` },
  ...{ firstTimestamp: at, lastTimestamp: at, source: { component: 'kubelet' } },
});
