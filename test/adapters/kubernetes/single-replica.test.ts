import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../../play/cluster/index.ts';
import { SingleReplica } from '../../../src/adapters/kubernetes/index.ts';
import { manifest } from '../../doctor/bed.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { RecordingLog, realClock } from '../slack/harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'kdebug-single-'));
const kubeconfigPath = join(folder, 'kubeconfig');
const labels = { 'app.kubernetes.io/name': 'kdebug' };
let cluster: LocalCluster;
let namespace: string;
let count = 0;

beforeAll(async () => {
  cluster = await startLocalCluster({ kubeletDelayMs: 0 });
  writeFileSync(kubeconfigPath, cluster.kubeconfigForServiceAccount('kdebug', 'kdebug'));
});
afterAll(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

/** The shipped right, in a namespace of its own for each test. */
beforeEach(() => {
  count += 1;
  namespace = `home-${count}`;
  cluster.addNamespace(namespace);
  for (const object of manifest('base/rbac.yaml').filter(({ metadata }) => metadata.namespace === 'kdebug'))
    cluster.apply({ ...object, metadata: { ...object.metadata, namespace } });
});

const running = async (name: string, more: object = labels): Promise<void> => {
  cluster.addPod({
    name,
    namespace,
    labels: { ...more },
    containers: [{ name: 'kdebug', image: 'web', workload: 'web' }],
  });
  await expect.poll(() => cluster.pod(namespace, name)?.status.containerStatuses?.[0]?.state?.running).toBeDefined();
};

function aReplica(podName: string, clock: ConstructorParameters<typeof SingleReplica>[0]['clock'] = realClock) {
  const log = new RecordingLog();
  const source = { cluster: { inCluster: false, default: true }, kubeconfigPath };
  return { log, replica: new SingleReplica({ source, podName, namespace, version: '0', clock, log }) };
}

describe('a replica with its runs in memory', () => {
  it('starts when it is alone, beside other programs and beside pods that do not run', async () => {
    await running('kdebug-1');
    await running('redis-1', { 'app.kubernetes.io/name': 'redis' });
    cluster.addPod({ name: 'kdebug-0', namespace, labels, isUnscheduled: true });
    const { log, replica } = aReplica('kdebug-1');
    await replica.findOther();
    expect(log.records).toEqual([]);
  });

  it('does not start beside an older one, which stays', async () => {
    await running('kdebug-a');
    await running('kdebug-b');
    await expect(aReplica('kdebug-b').replica.findOther()).rejects.toMatchObject({
      code: 'store_not_shared',
      detail: 'kdebug-a',
    });
    await aReplica('kdebug-a').replica.findOther();
  });

  it('starts when the older one is told to end', async () => {
    await running('kdebug-a');
    await running('kdebug-b');
    cluster.deletePod(namespace, 'kdebug-a');
    await aReplica('kdebug-b').replica.findOther();
  });

  it('that saw nobody looks once more, and then says which other one runs and is not ready', async () => {
    const clock = new FakeClock();
    await running('kdebug-b');
    const { log, replica } = aReplica('kdebug-z', {
      now: Date.now,
      elapsed: () => clock.elapsed(),
      after: (ms, wake) => clock.after(ms, wake),
    });
    await replica.findOther();
    await running('kdebug-z');
    let others = 0;
    replica.findOtherLater(() => {
      others += 1;
    });
    await clock.advance(30_000);
    await expect.poll(() => others).toBe(1);
    expect(() => replica.check()).toThrow();
    expect(log.records).toEqual([
      expect.objectContaining({ level: 'error', fields: { reason: 'store_not_shared', detail: 'kdebug-b' } }),
    ]);
  });

  it('without the right starts, and says that it cannot see', async () => {
    namespace = 'elsewhere';
    cluster.addNamespace(namespace);
    const { log, replica } = aReplica('kdebug-1');
    await replica.findOther();
    expect(log.records).toEqual([
      expect.objectContaining({
        level: 'warn',
        message: 'cannot see whether another replica runs, and the runs are in memory',
        fields: expect.objectContaining({ reason: 'cluster_forbidden' }),
      }),
    ]);
  });
});
