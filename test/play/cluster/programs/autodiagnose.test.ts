import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LocalCluster, openShop, startLocalCluster } from '../../../../play/cluster/index.ts';
import { parseDiagnosis } from '../../../../src/core/diagnosis/marked-report.ts';
import type { Diagnosis } from '../../../../src/core/diagnosis/report.ts';
import { codesOf, expectValid, findingOf } from '../../../images/autodiagnose/script.ts';
import { Client, isTerminated } from '../client.ts';

const isReal = existsSync('/proc/self/stat');

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

async function look(pod: string, targetContainerName: string): Promise<Diagnosis> {
  const container = { name: 'look', image: 'registry.example.com/kdebug/autodiagnose:1', targetContainerName };
  await client.launch(pod, [container], { namespace: 'shop' });
  const { state } = await client.until(pod, 'look', isTerminated, 'shop');
  const { text } = await client.log(pod, 'look', '', 'shop');
  expectValid(state.terminated.message);
  const diagnosis = parseDiagnosis(text, '');
  if (!diagnosis) throw new Error(`no report in ${text}`);
  return diagnosis;
}

it.skipIf(!isReal).each([
  // The finding begins at 90; how far the leak has come by now is the machine's.
  ['cart-leaky-0', 'cart', 'memory_near_limit', 92],
  ['search-slow-0', 'search', 'cpu_throttled', 11],
  ['payments-sockets-0', 'payments', 'close_wait', 150],
  ['neato-5x9k3', 'neato', 'accept_queue', 33],
  ['orders-stuck-0', 'orders', 'accept_queue', 33],
])('the shop shows what is wrong with %s', async (pod, target, code, least) => {
  const diagnosis = await look(pod, target);
  expect(findingOf(diagnosis, code)?.value, diagnosis.verdict).toBeGreaterThanOrEqual(least);
});

it.skipIf(!isReal)('the shop shows how the CPU of a busy pod moved, beside its limit', async () => {
  const { series = [] } = await look('search-slow-0', 'search');
  const cpu = series.find(({ unit }) => unit === 'millicores');
  expect(cpu?.section).toBe('cpu');
  expect(cpu?.limit).toBeGreaterThan(0);
  expect(Math.max(...(cpu?.points ?? []).map(([, value]) => value))).toBeGreaterThan(0);
});

it.skipIf(!isReal)('says that the disks and mounts here are no container’s, and shows none', async () => {
  const { sections } = await look('payments-sockets-0', 'payments');
  for (const name of ['io', 'filesystem'])
    expect(sections.find((section) => section.name === name)?.text).toMatch(/^not a container of its own: /);
});

it.skipIf(!isReal)('and finds nothing wrong with a healthy pod', async () => {
  // The counters of the network are those of the machine that plays, and of whatever else it does.
  const ofTheMachine = /^(conntrack_.*|retransmits|listen_overflow)$/;
  expect(codesOf(await look('neato-5thn0', 'neato')).filter((code) => !ofTheMachine.test(code))).toEqual([]);
});
