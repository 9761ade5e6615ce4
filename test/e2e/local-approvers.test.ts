import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { startPatientBed } from '../support/patient-bed.ts';
import { Kube } from './kube.ts';

const BUSYBOX = 'localhost/busybox:1';
const SECRET = 'C0SECRET';

const policyFor = (context: string, namespace: string): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
approvers:
  sre: { usergroup: S0SRE }
  ops: { channel: C0OPS }
images:
  debugger: { image: "${BUSYBOX}", class: elevated, command: allowed }
channels:
  ${SECRET}:
    rules:
      - id: attach
        clusters: [test]
        namespaces: [${namespace}]
        classes: [elevated]
        profiles: [sysadmin]
        approval: { from: [sre], count: 1, expires: 15m }
  C0SHOP:
    rules:
      - id: attach
        clusters: [test]
        namespaces: [${namespace}]
        classes: [elevated]
        profiles: [sysadmin]
        approval: { from: [ops], count: 1, expires: 15m }
limits: { runsPerUserPerMinute: 60 }
`;

let cluster: LocalCluster;
let bed: Bed;
let kube: Kube;
let shop: string;

beforeAll(async () => {
  cluster = await startLocalCluster();
  kube = new Kube(cluster.kubeconfig);
  shop = await kube.namespace('kdebug-approvers');
  bed = await startPatientBed({ kubeconfig: cluster.kubeconfig, policy: policyFor('local', shop), transport: 'http' });
  const sleeper = { name: 'app', image: BUSYBOX, imagePullPolicy: 'IfNotPresent', command: ['sleep', '3600'] };
  await kube.pod(shop, 'web-0', { terminationGracePeriodSeconds: 1, containers: [sleeper] });
});

afterAll(async () => {
  await bed?.stop();
  await kube?.cleanUp();
  await cluster?.stop();
});

const ask = (user: string, channel: string) =>
  bed.slack.deliver.command({
    user,
    channel,
    text: `web-0 -n ${shop} --image=debugger --profile=sysadmin -- echo hello`,
  });

const shown = (channel: string, ts: string): string => JSON.stringify(bed.slack.message(channel, ts)?.blocks);

it('reaches an approver outside a private channel by a direct message, which decides and says in the end what was decided', async () => {
  await ask('U0GINGER', SECRET);
  const [told] = await bed.slack.until(() => {
    const direct = bed.slack.notified('U0ALICE').filter(({ why }) => why === 'direct');
    return direct.length > 0 ? direct : undefined;
  });
  const { channel = '', ts = '' } = told ?? {};
  expect(shown(channel, ts)).toContain('Open the thread');
  expect(bed.slack.notified('U0BOB').some(({ why }) => why === 'direct')).toBe(true);
  expect(bed.slack.notified('U0GINGER').filter(({ why }) => why === 'direct')).toEqual([]);
  await bed.slack.until(() => (shown(SECRET, cardIn(SECRET)).includes('Also sent to 2 approvers') ? true : undefined));
  await bed.slack.deliver.action({ user: 'U0ALICE', channel, ts, actionId: 'approve' });
  await bed.slack.until(() => (shown(channel, ts).includes('Approved') ? true : undefined));
  expect(shown(channel, ts)).not.toContain('actions');
  const word = await bed.slack.until(() => bed.slack.notified('U0GINGER').find(({ threadTs }) => threadTs));
  const [desktop, phone] = ['@alice', 'alice'].map((name) => expect.stringContaining(`was approved by ${name}`));
  expect(word).toMatchObject({ threadTs: cardIn(SECRET), desktop, phone });
  const thread = await bed.slack.until(() => bed.slack.thread(SECRET, cardIn(SECRET))[1]);
  expect(JSON.stringify(thread.blocks)).toContain('hello');
});

it('asks the members of a channel in that channel, and takes the word of each of them', async () => {
  await ask('U0ROY', 'C0SHOP');
  const copy = await bed.slack.until(() => bed.slack.messages('C0OPS')[0]);
  expect(JSON.stringify(copy.blocks)).toContain('"approve"');
  expect(bed.slack.notified('U0THURSTON').filter(({ why }) => why === 'direct')).toEqual([]);
  await bed.slack.until(() => (shown('C0SHOP', cardIn('C0SHOP')).includes('Also shown in') ? true : undefined));
  await bed.slack.deliver.action({ user: 'U0JONAS', channel: 'C0OPS', ts: copy.ts, actionId: 'reject' });
  await bed.slack.until(() => (shown('C0OPS', copy.ts).includes('Rejected') ? true : undefined));
  expect(shown('C0OPS', copy.ts)).not.toContain('actions');
});

const cardIn = (channel: string): string => bed.slack.messages(channel)[0]?.ts ?? '';
