import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { ask } from '../../play/app/conversation.ts';
import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { startPatientBed } from '../support/patient-bed.ts';
import { Kube } from './kube.ts';

const CHANNEL = 'C0SHOP';
const SECOND = 1_000;

let cluster: LocalCluster;
let kube: Kube;
let bed: Bed;
let shop: string;

beforeAll(async () => {
  cluster = await startLocalCluster();
  kube = new Kube(cluster.kubeconfig);
  shop = await kube.namespace('kdebug-lookups');
  const policy = `version: 1
clusters:
  test: { context: local, default: true }
identity: { mode: serviceAccount }
images:
  debian: { image: "localhost/busybox:1", class: observe, command: allowed }
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: [${shop}], classes: [observe, intrusive, elevated], profiles: [restricted, baseline, general] }
limits: { runsPerUserPerMinute: 100 }
`;
  bed = await startPatientBed({ kubeconfig: cluster.kubeconfig, policy, transport: 'http' });
  const app = {
    name: 'app',
    image: 'localhost/busybox:1',
    imagePullPolicy: 'IfNotPresent',
    command: ['sleep', '3600'],
  };
  await kube.pod(shop, 'pod-1234', { terminationGracePeriodSeconds: 1, containers: [app] });
});

afterAll(async () => {
  await bed?.stop();
  await kube?.cleanUp();
  await cluster.stop();
});

async function privately(words: string): Promise<string> {
  const answer = await ask(bed.slack, { user: 'U0ROY', channel: CHANNEL, words });
  if (answer.kind !== 'private') throw new Error(`answered in a thread: ${words}`);
  return answer.text;
}

async function until(words: string, expected: string): Promise<string> {
  for (let tries = 40; ; tries -= 1) {
    const text = await privately(words);
    if (text.includes(expected)) return text;
    if (tries === 0) throw new Error(`never ${expected}: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, SECOND / 4));
  }
}

it('logs follow a run: while it writes, by time and by text once it has ended, and from the store when its pod is gone', async () => {
  const script = 'echo first; sleep 8; echo second ERROR; echo password=hunter2-hunter2';
  const text = `pod-1234 -n ${shop} --image=debian -- sh -c '${script}'`;
  await bed.slack.deliver.command({ user: 'U0ROY', channel: CHANNEL, text });
  const list = await until('list --outcome=running', 'pod-1234');
  const id = /\b[a-z2-7]{10}\b/.exec(list.slice(list.indexOf('pod-1234')))?.[0] ?? '';

  expect(await until(`logs ${id}`, 'first')).toContain('All 1 line so far');
  const seenAtMs = Date.now();
  await until('list --outcome=succeeded --pod=1234', 'Succeeded');

  expect(await privately(`logs ${id} --grep=error`)).toContain('1 of 3 lines contains “error”');
  const seconds = Math.max(1, Math.round((Date.now() - seenAtMs) / SECOND) - 2);
  const since = await privately(`logs ${id} --since=${seconds}s`);
  expect(since).toContain('second ERROR');
  expect(since).toContain('[redacted:');
  expect(since).not.toContain('first');
  expect(since).not.toContain('hunter2');

  expect(await privately(`show ${id}`)).toContain('Its log');
  await kube.remove(shop, 'pod-1234');
  expect(await until(`logs ${id} --grep=error`, 'The pod is gone')).toContain('1 of 3 lines contains “error”');
});
