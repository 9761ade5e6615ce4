import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { describeMessage, type StoredMessage } from '../../play/slack/index.ts';
import type { FileView } from '../../play/slack/read/files.ts';
import { Kube } from '../e2e/kube.ts';
import { startPatientBed } from '../support/patient-bed.ts';
import { podOf } from './autodiagnose-looks.ts';
import { filesInLog } from './files-in-log.ts';

const path = process.env.KUBECONFIG;
if (path === undefined) throw new Error('KUBECONFIG names no cluster: set it to the kubeconfig of a test cluster');
const kubeconfig = readFileSync(path, 'utf8');
const CHANNEL = 'C0SHOP';
const ROY = 'U0ROY';
const BOB = 'U0BOB';

const policyFor = (context: string, [strict, open]: readonly [string, string]): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
approvers:
  sre: { users: [${BOB}] }
images:
  stacks: { image: "localhost/stacks:1", class: intrusive, timeout: 2m, diagnostic: true, files: [text, profile] }
  profile:
    image: "localhost/profile:1"
    class: intrusive
    timeout: 2m
    diagnostic: true
    files: [text, profile]
    settings: [PROFILE_SECONDS]
  capture:
    image: "localhost/net:1"
    class: elevated
    timeout: 2m
    diagnostic: true
    files: [text, capture]
    settings: [NET_ENDPOINT, NET_FILTER, NET_SECONDS]
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: [${strict}], classes: [observe, intrusive], profiles: [restricted] }
      - id: capture
        clusters: [test]
        namespaces: [${open}]
        classes: [observe, intrusive, elevated]
        profiles: [baseline]
        approval: { from: [sre] }
limits: { runsPerUserPerMinute: 100, runsPerUser: 100 }
`;

/** What an image brings back, as people get it: typed in Slack, through kdebug, from a real node's log. */
describe('files of an image', () => {
  let bed: Bed;
  let kube: Kube;
  let core: CoreV1Api;
  let strict: string;
  let open: string;

  beforeAll(async () => {
    const config = new KubeConfig();
    config.loadFromString(kubeconfig);
    core = config.makeApiClient(CoreV1Api);
    kube = new Kube(kubeconfig);
    strict = await kube.namespace('kdebug-files', 'restricted');
    open = await kube.namespace('kdebug-files', 'baseline');
    const securityContext = {
      runAsNonRoot: true,
      runAsUser: 10001,
      runAsGroup: 10001,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    };
    const target = (name: string) =>
      podOf({ image: `localhost/target-${name}:1`, env: [{ name: 'HOT', value: '0.2' }], securityContext });
    await Promise.all([
      kube.pod(strict, 'orders', target('jvm')),
      kube.pod(strict, 'pricing', target('node')),
      kube.pod(open, 'web', podOf({ image: 'localhost/distroless:1' })),
    ]);
    bed = await startPatientBed({
      kubeconfig,
      policy: policyFor(config.getCurrentContext(), [strict, open]),
      transport: 'socket',
    });
  });

  afterAll(async () => {
    await bed?.stop();
    await kube?.cleanUp();
  });

  const textOf = (message: StoredMessage): string =>
    describeMessage(bed.slack.state, message, { times: false }).join('\n');

  interface Answer {
    readonly runId: string;
    readonly said: string;
    readonly files: readonly FileView[];
  }

  const RUN = /Run ([a-z0-9]{10})/;

  const filesOf = ({ files }: StoredMessage): readonly FileView[] =>
    bed.slack.files().filter(({ id }) => files.includes(id));

  /** Types a command; resolves with its result in the thread. */
  async function ask(words: string, approve = false): Promise<Answer> {
    const before = bed.slack.messages(CHANNEL).length;
    await bed.slack.deliver.command({ user: ROY, channel: CHANNEL, text: words });
    const { ts } = await bed.slack.until(() => bed.slack.messages(CHANNEL)[before]);
    if (approve) await bed.slack.deliver.action({ user: BOB, channel: CHANNEL, ts, actionId: 'approve' });
    // An approval is told in the thread before it.
    const isResult = (message: StoredMessage) => RUN.test(textOf(message));
    const result = await bed.slack.until(() => bed.slack.thread(CHANNEL, ts).find(isResult));
    const said = textOf(result);
    const runId = RUN.exec(said)?.[1] ?? '';
    // Where the result notifies somebody, its files are in the message behind it.
    const isWhole = !/attached|\d files?: /.test(said);
    const files = await bed.slack.until(() => {
      const found = bed.slack.thread(CHANNEL, ts).flatMap(filesOf);
      return isWhole || found.length > 0 ? found : undefined;
    });
    return { runId, said, files };
  }

  /** The files as the image wrote them, read from the node by hand. */
  async function written(namespace: string, name: string, runId: string): Promise<ReadonlyMap<string, Buffer>> {
    const pod = await kube.read(namespace, name);
    const ours = pod.spec?.ephemeralContainers?.find(({ env = [] }) => env.some(({ value }) => value === runId));
    return filesInLog(await core.readNamespacedPodLog({ namespace, name, container: ours?.name ?? 'not there' }));
  }

  const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

  it('a JVM’s deadlock under Pod Security restricted: the verdict, and its threads as a file', async () => {
    const { runId, said, files } = await ask(`orders -n ${strict} --image=stacks`);
    expect(said).toMatch(
      /2 threads wait for each other’s locks: order-worker in Shop\.placeOrders, stock-worker in Shop\.countStock/,
    );
    expect(said).toContain('threads.txt');
    const [threads] = files.filter(({ name }) => name.endsWith('.threads.txt'));
    const content = (await threads?.content()) ?? Buffer.alloc(0);
    expect(content.toString()).toContain('Found one Java-level deadlock');
    expect(sha256(content)).toBe(
      sha256((await written(strict, 'orders', runId)).get('threads.txt') ?? Buffer.alloc(0)),
    );
    expect(said).not.toMatch(/KDEBUG FILE|incomplete/);
  });

  it('a hot loop’s flame graph, whole, and its function in the answer', async () => {
    const { runId, said, files } = await ask(`pricing -n ${strict} --image=profile --env=PROFILE_SECONDS=15`);
    const onNode = await written(strict, 'pricing', runId);
    expect([...onNode.keys()].sort()).toEqual(['cpu.folded', 'cpu.png', 'cpu.speedscope.json', 'cpu.svg']);
    for (const [name, bytes] of onNode) {
      const file = files.find((one) => one.name.endsWith(`.${name}`));
      expect(sha256((await file?.content()) ?? Buffer.alloc(0)), name).toBe(sha256(bytes));
    }
    expect(said).toMatch(/recompute|discount|loopOverPrices/);
  });

  it('a packet capture after an approval: to the requester alone, byte for byte', async () => {
    const settings = '--env=NET_ENDPOINT=127.0.0.1:8080 "--env=NET_FILTER=tcp port 8080" --env=NET_SECONDS=3';
    const { runId, said, files } = await ask(`web -n ${open} --image=capture --profile=baseline ${settings}`, true);
    expect(files.map(({ name }) => name).filter((name) => name.endsWith('.pcap'))).toEqual([]);
    expect(said).toContain('capture.pcap');
    const capture = await bed.slack.until(() =>
      bed.slack.files().find(({ name }) => name === `kdebug-${runId}.capture.pcap`),
    );
    const bytes = await capture.content();
    expect(sha256(bytes)).toBe(sha256((await written(open, 'web', runId)).get('capture.pcap') ?? Buffer.alloc(0)));
    expect(bytes.length).toBeGreaterThan(24 + 100);
    const shownIn = bed.slack.messages(CHANNEL).flatMap(({ ts }) => bed.slack.thread(CHANNEL, ts));
    expect(shownIn.some(({ files: shared }) => shared.includes(capture.id))).toBe(false);
  });
});
