import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalCluster, openShop, startLocalCluster } from '../../../play/cluster/index.ts';
import { Client, isTerminated } from './client.ts';

const isReal = existsSync('/proc/self/stat');
if (!isReal) console.warn('skipped: autodiagnose for real, because there is no /proc here');

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

async function diagnose(
  pod: string,
  targetContainerName?: string,
  env: object[] = [],
): Promise<{ log: string; message: string }> {
  const container = { name: `d-${pod}`, image: 'registry.example.com/kdebug/autodiagnose:1', env };
  const target = targetContainerName === undefined ? {} : { targetContainerName };
  await client.launch(pod, [{ ...container, ...target }], { namespace: 'shop' });
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

it.skipIf(!isReal)('autodiagnose runs for real against a real process and fills the termination message', async () => {
  const { log, message } = await diagnose('pod-1234', 'web');
  expect(log).not.toContain('measures nothing');
  expect(log).toContain('128 MiB');
  expect(() => JSON.parse(message)).not.toThrow();
});

it.skipIf(!isReal)('the leaking pod shows most of its memory in use', async () => {
  const { log } = await diagnose('cart-leaky-0', 'cart');
  expect(log).toMatch(/memory at 9\d% of its limit \(11\d of 120 MiB\)/);
});

it('a pod without a real process is told as not measured', async () => {
  cluster.addPod({ name: 'simulated', namespace: 'shop' });
  await client.until('simulated', 'app', ({ state }) => state.running, 'shop');
  const { log, message } = await diagnose('simulated', 'app');
  expect(log).toBe('autodiagnose measures nothing here: the pod has no local process.\n');
  expect(JSON.parse(message)).toMatchObject({ kdebug: 1, verdict: 'Nothing was measured.' });
});

it.skipIf(!isReal)(
  'nothing that was typed reaches the real process: not the command, not other variables',
  async () => {
    const typed = [
      { name: 'BASH_ENV', value: '/tmp/x' },
      { name: 'PATH', value: '/tmp' },
    ];
    const container = {
      name: 'typed',
      image: 'autodiagnose',
      command: ['sh', '-c', 'echo typed'],
      args: ['typed'],
      env: typed,
      targetContainerName: 'web',
    };
    await client.launch('pod-1234', [container], { namespace: 'shop' });
    await client.until('pod-1234', 'typed', isTerminated, 'shop');
    expect((await client.log('pod-1234', 'typed', '', 'shop')).text).not.toContain('typed\n');
  },
);
