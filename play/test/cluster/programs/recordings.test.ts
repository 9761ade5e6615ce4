import { readdirSync, readFileSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectValid, findingOf } from '../../../../images/test/autodiagnose/script.ts';
import { parseDiagnosis } from '../../../../src/core/diagnosis/marked-report.ts';
import { filesInLog } from '../../../../test/cluster/files-in-log.ts';
import { playPolicy } from '../../../app/policy.ts';
import { type LocalCluster, openShop, startLocalCluster } from '../../../cluster/index.ts';
import { type Book, RECORDED_IMAGES, RECORDINGS } from '../../../cluster/programs/recordings.ts';
import { Client, isTerminated } from '../client.ts';

const MAX_BYTES = 300_000;
const FOLDER = new URL('.', RECORDINGS);
const book: Book = JSON.parse(readFileSync(RECORDINGS, 'utf8'));
const NAMES = Object.keys(book.runs);
const logOf = (name: string): string => readFileSync(new URL(`${name}.log`, FOLDER), 'utf8');
const BASE_POLICY = readFileSync(new URL('../../../../manifests/base/policy.yaml', import.meta.url), 'utf8');

/** Without what is of each run: its id and time, and as whom it ran. */
const lasting = (log: string): string =>
  log
    .replace(/^\(A recording: .*\n/, '')
    .replace(/^kdebug [a-z]+, run .*\n/, '')
    .replace(/"self":\{"uid":\d+,"gid":\d+/, '"self":{');

describe('the recordings', () => {
  it('are few, small, and all in the book', () => {
    const files = readdirSync(FOLDER);
    expect(files.sort()).toEqual([...NAMES.map((name) => `${name}.log`), 'recordings.json'].sort());
    const bytes = files.map((name) => statSync(new URL(name, FOLDER)).size).reduce((sum, each) => sum + each, 0);
    expect(bytes).toBeLessThan(MAX_BYTES);
  });

  it.each(NAMES)('%s has a valid report of the version that the book names, and its files whole', (name) => {
    const log = logOf(name);
    const image = RECORDED_IMAGES.find((each) => name.startsWith(each)) ?? 'net';
    expectValid(/-----BEGIN KDEBUG REPORT-----\n(.*)\n-----END/.exec(log)?.[1] ?? '');
    expectValid(book.runs[name]?.termination ?? '');
    const { tool } = JSON.parse(book.runs[name]?.termination ?? '');
    expect(book.images[image]?.image).toBe(`kdebug-${tool.name}:${tool.version}`);
    expect(parseDiagnosis(log, '')?.verdict).toBeTruthy();
    expect(filesInLog(log).size).toBe(log.match(/^-----BEGIN KDEBUG FILE /gm)?.length ?? 0);
  });

  it.each(RECORDED_IMAGES)('%s is of the version that the policies offer', (image) => {
    const version = book.images[image]?.image ?? '';
    expect(BASE_POLICY).toMatch(new RegExp(`image: ${version}\\n`));
    expect(playPolicy('local')).toContain(`/${version.replace('kdebug-', '')}"`);
  });

  it('show the deadlock and the hot loop', () => {
    const stacks = parseDiagnosis(logOf('stacks-deadlock'), '');
    expect(stacks && findingOf(stacks, 'deadlock')?.text).toContain('order-worker');
    expect(String(filesInLog(logOf('stacks-deadlock')).get('threads.txt'))).toContain('Found one Java-level deadlock');
    const svg = String(filesInLog(logOf('profile-burn')).get('cpu.svg'));
    expect(svg).toMatch(/^<svg [\s\S]*answerSearch[\s\S]*<\/svg>\s*$/);
    expect(svg).not.toMatch(/<script|<style|href=/);
  });
});

describe('a recorded image', () => {
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

  let count = 0;
  async function look(image: string, pod: string, targetContainerName: string, more: object = {}): Promise<string> {
    count += 1;
    const name = `look-${count}`;
    const container = { name, image: `registry.example.com/kdebug/${image}:0.1.0`, targetContainerName, ...more };
    await client.launch(pod, [container], { namespace: 'shop' });
    const { state } = await client.until(pod, name, isTerminated, 'shop');
    expectValid(state.terminated.message);
    return (await client.log(pod, name, '', 'shop')).text;
  }

  const asTarget = { securityContext: { runAsUser: 65532, runAsGroup: 0 } };

  it('says in its first line that it is a recording, then prints all of it', async () => {
    const [first, ...rest] = (await look('profile', 'search-slow-0', 'search', asTarget)).split('\n');
    expect(first).toMatch(/^\(A recording: kdebug-profile:0\.1\.0 on Kubernetes v1\.\d+\.\d+, \d{4}-\d\d-\d\d\.\)$/);
    expect(lasting(rest.join('\n'))).toBe(lasting(logOf('profile-burn')));
  });

  it('sees no more than the kernel would let it see', async () => {
    const stranger = await look('stacks', 'orders-stuck-0', 'orders');
    expect(lasting(stranger)).toBe(lasting(logOf('stacks-deadlock-stranger')));
    expect(stranger).toContain('lacks');
    const root = { runAsUser: 0, runAsGroup: 0, capabilities: { add: ['SYS_PTRACE'] } };
    const seen = await look('stacks', 'orders-stuck-0', 'orders', { securityContext: root });
    expect(lasting(seen)).toBe(lasting(logOf('stacks-deadlock')));
    expect(lasting(await look('net', 'orders-stuck-0', 'orders'))).toBe(lasting(logOf('net-deadlock')));
  });

  it('names the settings that a recording cannot follow', async () => {
    const env = [{ name: 'NET_ENDPOINT', value: 'https://api.shop.svc' }];
    const log = await look('net', 'search-slow-0', 'search', { env });
    expect(log.split('\n')[0]).toContain(', without NET_ENDPOINT.)');
  });

  it('says so beside a pod for which there is none', async () => {
    cluster.addPod({ name: 'simulated', namespace: 'shop' });
    await client.until('simulated', 'app', ({ state }) => state.running, 'shop');
    const log = await look('stacks', 'simulated', 'app');
    expect(log).toBe('stacks measures nothing here: play has no recording of this image beside this pod.\n');
  });
});
