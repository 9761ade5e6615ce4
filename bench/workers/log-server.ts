import { setTimeout as pause } from 'node:timers/promises';
import { startLocalCluster } from '../../play/cluster/index.ts';
import type { Served } from './served.ts';

export interface LogServerConfig {
  /** A pod each, in `default`, whose container `app` has written so much and ended. */
  readonly logs: readonly LogToWrite[];
}

export interface LogToWrite {
  readonly pod: string;
  /** What follows the eight digits that begin each repetition. */
  readonly text: string;
  readonly repetitions: number;
}

export interface LogServerResult {
  readonly kubeconfig: string;
}

const NEVER_ROTATED = { maxBytes: Number.MAX_SAFE_INTEGER };
const LIMIT_MS = 120_000;

/** A local cluster in a process of its own, with long logs in it. */
export async function startLogServer({ logs }: LogServerConfig): Promise<Served<LogServerResult>> {
  const cluster = await startLocalCluster({ kubeletDelayMs: 0, logRotation: NEVER_ROTATED });
  for (const { pod, text, repetitions } of logs) {
    const command = ['seq', '-w', '-s', text, '10000001', String(10_000_000 + repetitions)];
    cluster.addPod({ name: pod, restartPolicy: 'Never', containers: [{ name: 'app', image: 'busybox', command }] });
    const untilMs = performance.now() + LIMIT_MS;
    while (cluster.pod('default', pod)?.status.phase !== 'Succeeded') {
      if (performance.now() > untilMs) throw new Error(`the log of ${pod} was not written within ${LIMIT_MS} ms`);
      await pause(20);
    }
  }
  return { result: { kubeconfig: cluster.kubeconfig }, stop: () => cluster.stop() };
}
