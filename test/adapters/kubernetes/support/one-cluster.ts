import { afterEach, beforeEach, expect } from 'vitest';
import { KubernetesCluster } from '../../../../src/adapters/kubernetes/cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { ScriptedApiServer } from './scripted-api-server.ts';

export interface OneCluster {
  readonly server: ScriptedApiServer;
  readonly clock: FakeClock;
  readonly cluster: KubernetesCluster;
}

/** For each test a scripted API server, and the adapter on it. Fails a test that asks for more than its script has. */
export function oneCluster(): () => OneCluster {
  let now: OneCluster | undefined;
  beforeEach(async () => {
    const server = new ScriptedApiServer();
    await server.start();
    const clock = new FakeClock();
    const silent = () => {};
    const cluster = new KubernetesCluster({
      name: 'prod',
      source: { cluster: { inCluster: false, default: true }, kubeconfigPath: server.kubeconfig() },
      version: '1.2.3',
      log: { debug: silent, info: silent, warn: silent, error: silent },
      clock,
    });
    now = { server, clock, cluster };
  });
  afterEach(async () => {
    await now?.cluster.close();
    await now?.server.stop();
    expect(now?.server.unexpected).toEqual([]);
  });
  return () => {
    if (!now) throw new Error('only within a test');
    return now;
  };
}
