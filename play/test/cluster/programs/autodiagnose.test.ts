import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, expectValid, findingOf } from '../../../../images/test/autodiagnose/script.ts';
import type { Diagnosis } from '../../../../src/core/diagnosis/facts/report.ts';
import { parseDiagnosis } from '../../../../src/core/diagnosis/marked-report.ts';
import { type LocalCluster, openShop, startLocalCluster } from '../../../cluster/index.ts';
import { Client, isTerminated } from '../client.ts';

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

const AS_TARGET = { runAsUser: 65532, runAsGroup: 0 };
let count = 0;

interface Look {
  readonly log: string;
  readonly message: string;
  readonly diagnosis: Diagnosis;
}

async function look(pod: string, targetContainerName: string, more: object = {}): Promise<Look> {
  count += 1;
  const name = `look-${count}`;
  const image = 'registry.example.com/kdebug/autodiagnose:1';
  const container = { name, image, targetContainerName, securityContext: AS_TARGET, ...more };
  await client.launch(pod, [container], { namespace: 'shop' });
  const { state } = await client.until(pod, name, isTerminated, 'shop');
  const { text: log } = await client.log(pod, name, '', 'shop');
  const { message } = state.terminated;
  expectValid(message);
  const diagnosis = parseDiagnosis(log, message);
  if (!diagnosis) throw new Error(`no report in ${log}`);
  return { log, message, diagnosis };
}

const withEnv = (env: Readonly<Record<string, string>>) => ({
  env: Object.entries(env).map(([name, value]) => ({ name, value })),
});

describe('the shop', () => {
  it.each([
    ['cart-leaky-0', 'cart', 'memory_near_limit', 91],
    ['search-slow-0', 'search', 'cpu_throttled', 11],
    ['payments-sockets-0', 'payments', 'close_wait', 150],
    ['neato-5x9k3', 'neato', 'accept_queue', 33],
  ])('shows what is wrong with %s', async (pod, target, code, least) => {
    const { diagnosis } = await look(pod, target);
    expect(findingOf(diagnosis, code)?.value, diagnosis.verdict).toBeGreaterThanOrEqual(least);
  });

  it('shows how the CPU of a busy pod moved, beside its limit', async () => {
    const { series = [] } = (await look('search-slow-0', 'search')).diagnosis;
    const cpu = series.find(({ unit }) => unit === 'millicores');
    expect(cpu?.section).toBe('cpu');
    expect(cpu?.limit).toBe(100);
    expect(Math.max(...(cpu?.points ?? []).map(([, value]) => value))).toBeGreaterThan(50);
  });

  it('shows nothing wrong with a healthy pod, nor with a JVM that is stuck inside', async () => {
    expect(codesOf((await look('neato-5thn0', 'neato')).diagnosis)).toEqual([]);
    const { diagnosis } = await look('orders-stuck-0', 'orders');
    expect(codesOf(diagnosis)).toEqual([]);
    expect(diagnosis.target?.runtime).toBe('jvm');
  });
});

describe('a recording of autodiagnose', () => {
  it('has the id and the time of this run, and whom it ran as', async () => {
    const before = new Date().toISOString().slice(0, 19);
    const root = { runAsUser: 0, runAsGroup: 0, capabilities: { add: ['SYS_PTRACE'] } };
    const { log, diagnosis } = await look('cart-leaky-0', 'cart', {
      ...withEnv({ KDEBUG_RUN: 'abcdefghij' }),
      securityContext: root,
    });
    const time = /^kdebug autodiagnose, run abcdefghij, (\S+)Z$/m.exec(log)?.[1] ?? '';
    expect(time >= before, time).toBe(true);
    expect(diagnosis.self).toMatchObject({ uid: 0, gid: 0 });
    expect(diagnosis.target).toMatchObject({ uid: 65532, gid: 0 });
  });

  it('shows a stranger no memory of the target, and who would see it', async () => {
    const { diagnosis, message } = await look('cart-leaky-0', 'cart', {
      securityContext: { runAsUser: 4, runAsGroup: 5 },
    });
    const memory = diagnosis.sections.find(({ name }) => name === 'memory');
    expect(memory).toMatchObject({ state: 'not-readable', helps: expect.arrayContaining(['identity']) });
    expect(diagnosis.self).toMatchObject({ uid: 4, gid: 5 });
    expect(JSON.parse(message).self).toMatchObject({ uid: 4, gid: 5 });
  });

  it('says that it started too late, as the image does, and no more', async () => {
    const { log, diagnosis } = await look(
      'cart-leaky-0',
      'cart',
      withEnv({ KDEBUG_NOT_AFTER: '2020-01-01T00:00:00Z' }),
    );
    expect(diagnosis.verdict).toBe(
      'Started too late: this run was given up at 2020-01-01T00:00:00Z, so nothing was done.',
    );
    expect(log).not.toContain('memory');
  });

  it('knows no command but stop: it has no shell', async () => {
    const container = {
      name: 'typed',
      image: 'autodiagnose',
      command: ['sh', '-c', 'echo x'],
      targetContainerName: 'web',
    };
    await client.launch('pod-1234', [container], { namespace: 'shop' });
    const { state } = await client.until(
      'pod-1234',
      'typed',
      (each) => each.state.waiting?.reason !== 'ContainerCreating',
      'shop',
    );
    expect(state.waiting).toMatchObject({ reason: 'RunContainerError', message: expect.stringContaining('"sh"') });
    const { log } = await look('pod-1234', 'web', { args: ['typed'] });
    expect(log).toContain('autodiagnose, run');
  });
});

describe('a comparison', () => {
  const factsOf = async (pod: string, target: string, key?: string) =>
    (await look(pod, target, key === undefined ? {} : withEnv({ KDEBUG_COMPARE: key }))).diagnosis.facts?.facts;
  const hashes = (facts: Awaited<ReturnType<typeof factsOf>>) =>
    (facts ?? []).filter(({ value }) => /^#[0-9a-f]{4}$/.test(String(value)));

  it('is told no facts without a key', async () => {
    expect(await factsOf('neato-5thn0', 'neato')).toBeUndefined();
  });

  it('finds equal pods equal, in one run and under one key, and what is inside different', async () => {
    const [sick, healthy, again, other] = [
      await factsOf('neato-5x9k3', 'neato', 'key one'),
      await factsOf('neato-5thn0', 'neato', 'key one'),
      await factsOf('neato-5thn0', 'neato', 'key one'),
      await factsOf('neato-5thn0', 'neato', 'key two'),
    ];
    expect(hashes(healthy).length).toBeGreaterThan(3);
    expect(hashes(sick)).toEqual(hashes(healthy));
    expect(again).toEqual(healthy);
    const changed = hashes(other).filter(({ value }, at) => value !== hashes(healthy)[at]?.value);
    expect(changed.length).toBeGreaterThan(hashes(healthy).length / 2);
    expect(sick).not.toEqual(healthy);
  });
});
