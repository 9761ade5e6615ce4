import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalCluster, openShop, startLocalCluster } from '../../cluster/index.ts';
import { Client, isTerminated } from './client.ts';

let cluster: LocalCluster;
let client: Client;

beforeAll(async () => {
  cluster = await startLocalCluster({ kubeletDelayMs: 0 });
  openShop(cluster);
  client = new Client(cluster);
});

afterAll(async () => {
  await client.close();
  await cluster.stop();
});

async function diagnose(pod: string, targetContainerName: string): Promise<{ log: string; message: string }> {
  const securityContext = { runAsUser: 65532, runAsGroup: 0 };
  const image = 'registry.example.com/kdebug/autodiagnose:1';
  const container = { name: `d-${pod}`, image, securityContext, targetContainerName };
  await client.launch(pod, [container], { namespace: 'shop' });
  const { state } = await client.until(pod, `d-${pod}`, isTerminated, 'shop');
  const { text } = await client.log(pod, `d-${pod}`, '', 'shop');
  return { log: text, message: state.terminated.message ?? '' };
}

it('the shop has nine pods in trouble or not, and a vault that is restricted', async () => {
  const pods = (await client.get('/api/v1/namespaces/shop/pods')).json.items;
  const vault = (await client.get('/api/v1/namespaces/vault')).json;
  expect(pods).toHaveLength(9);
  expect(vault.metadata.labels['pod-security.kubernetes.io/enforce']).toBe('restricted');
  expect(cluster.pod('vault', 'vault-0')?.status.phase).toBe('Running');
});

it('autodiagnose finds most of the memory of the leaking pod in use, in its log and its termination message', async () => {
  const { log, message } = await diagnose('cart-leaky-0', 'cart');
  expect(log).toMatch(/memory at 9\d% of its limit \(1\d\d of 120 MiB\)/);
  expect(JSON.parse(message)).toMatchObject({ kdebug: 1, findings: [{ code: 'memory_near_limit' }] });
});

it('a pod beside which nothing was recorded is told as not measured', async () => {
  cluster.addPod({ name: 'simulated', namespace: 'shop' });
  await client.until('simulated', 'app', ({ state }) => state.running, 'shop');
  const { log, message } = await diagnose('simulated', 'app');
  expect(log).toBe('autodiagnose measures nothing here: play has no recording of this image beside this pod.\n');
  expect(JSON.parse(message)).toMatchObject({
    kdebug: 1,
    verdict: 'Could not look: play has no recording for this pod.',
  });
});
