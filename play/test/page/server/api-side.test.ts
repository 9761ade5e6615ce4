import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../../cluster/index.ts';
import type { PageChange } from '../../../page/contract.ts';
import { ApiSide } from '../../../page/server/api-side.ts';

let cluster: LocalCluster;
let side: ApiSide;
const changes: PageChange[] = [];
const told = new EventEmitter<{ change: [] }>();
beforeAll(async () => {
  cluster = await startLocalCluster({ kubeletDelayMs: 50 });
  cluster.addPod({ name: 'web', namespace: 'shop' });
  cluster.addPod({ name: 'elsewhere', namespace: 'vault' });
  side = new ApiSide(cluster.kubeconfig, ['shop', 'no-such-namespace'], (change) => {
    changes.push(change);
    told.emit('change');
  });
});
afterAll(async () => {
  side?.close();
  await cluster?.stop();
});

async function until(fits: (change: PageChange) => boolean): Promise<PageChange> {
  for (;;) {
    const found = changes.find(fits);
    if (found) return found;
    await once(told, 'change');
  }
}

it('shows a cluster by its API alone: pods, events and a log of the policy’s namespaces', async () => {
  await until((change) => change.kind === 'event' && change.event.reason === 'Started');
  // The event may come before the status, and there is no log before that.
  await until((change) => change.kind === 'pod' && change.pod.containers.some(({ state }) => state === 'running'));
  expect(side.pods()).toEqual([expect.objectContaining({ namespace: 'shop', name: 'web', node: 'local-node' })]);
  expect(side.events().map(({ reason }) => reason)).toContain('Scheduled');
  const log = await side.log({ namespace: 'shop', pod: 'web', container: 'app' }, new AbortController().signal);
  for await (const block of log) {
    expect(Buffer.from(block).toString()).toBe('listening on :8080\n');
    break;
  }
  await expect(
    side.log({ namespace: 'shop', pod: 'no', container: 'app' }, new AbortController().signal),
  ).rejects.toThrow('The cluster answers 404');
  cluster.deletePod('shop', 'web', 0);
  expect(await until(({ kind }) => kind === 'pod-gone')).toEqual({ kind: 'pod-gone', namespace: 'shop', name: 'web' });
});
