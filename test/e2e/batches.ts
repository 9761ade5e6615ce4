import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { describeMessage, type StoredMessage } from '../../play/slack/index.ts';
import { startPatientBed } from '../support/patient-bed.ts';
import { Kube } from './kube.ts';
import type { Scene } from './stories.ts';

const BUSYBOX = 'localhost/busybox:1';
const CHANNEL = 'C0SHOP';

const policyFor = (context: string, namespace: string): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
approvers:
  sre: { usergroup: S0SRE }
images:
  security-audit: { image: "${BUSYBOX}", class: observe, command: allowed }
  heavy: { image: "${BUSYBOX}", class: elevated, command: allowed }
  missing: { image: "localhost/no-such-image:1", class: observe }
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: [${namespace}], classes: [observe, intrusive], profiles: [restricted, baseline, general], batch: { maxPods: 50, maxParallelism: 10 } }
      - id: heavy
        clusters: [test]
        namespaces: [${namespace}]
        classes: [elevated]
        profiles: [restricted, baseline, general]
        batch: { maxPods: 50, maxParallelism: 10 }
        approval: { from: [sre], count: 1, expires: 15m }
limits: { startDeadline: 90s, runsPerUserPerMinute: 100, runsPerUser: 100, pendingApprovalsPerUser: 100, ephemeralContainersPerPodAndUser: 100, runsPerChannel: 100 }
`;

export interface BatchScene extends Pick<Scene, 'kubeconfig' | 'context' | 'transport'> {
  /** How many pods Ginger has. */
  readonly pods: number;
  /** A real shell runs what is typed, so that one pod can come to something else than the others. */
  readonly hasShell: boolean;
}

/** The end-to-end tests of issue 8: one command, many pods, few words. */
export function tellBatches(open: () => Promise<BatchScene>, close: () => Promise<void>): void {
  let bed: Bed;
  let kube: Kube;
  let shop: string;
  let size: number;
  let hasShell: boolean;
  let transport: Scene['transport'];
  const sleeper = { name: 'app', image: BUSYBOX, imagePullPolicy: 'IfNotPresent', command: ['sleep', '3600'] };
  const spec = { terminationGracePeriodSeconds: 1, containers: [sleeper] };
  const nameOf = (index: number): string => `web-${String(index).padStart(2, '0')}`;

  beforeAll(async () => {
    const scene = await open();
    size = scene.pods;
    hasShell = scene.hasShell;
    kube = new Kube(scene.kubeconfig);
    shop = await kube.namespace('kdebug-batch');
    const { kubeconfig } = scene;
    transport = scene.transport;
    bed = await startPatientBed({ kubeconfig, policy: policyFor(scene.context, shop), transport });
    await Promise.all(Array.from({ length: size }, (_, index) => kube.pod(shop, nameOf(index), spec)));
  });

  afterAll(async () => {
    await bed?.stop();
    await kube?.cleanUp();
    await close();
  });

  /** Types a command; resolves with its card, or with the private answer. */
  async function ask(words: string, user = 'U0GINGER'): Promise<StoredMessage> {
    // A machine that was too busy for the pings of a connection makes a new one.
    if (transport === 'socket') await expect.poll(() => bed.slack.sockets.count).toBeGreaterThan(0);
    const [cards, privately] = [bed.slack.messages(CHANNEL).length, bed.slack.ephemerals(user).length];
    const delivery = await bed.slack.deliver.command({ user, channel: CHANNEL, text: words });
    expect(delivery.error).toBeUndefined();
    return bed.slack.until(() => bed.slack.messages(CHANNEL)[cards] ?? bed.slack.ephemerals(user)[privately]);
  }

  const textOf = (message: StoredMessage): string =>
    describeMessage(bed.slack.state, message, { times: false }).join('\n');
  const cardNow = ({ ts }: StoredMessage): string => {
    const card = bed.slack.messages(CHANNEL).find((message) => message.ts === ts);
    return card ? textOf(card) : '';
  };
  /** The card, once all of it is there at the same time: each edit may carry one of the words without the others. */
  const says = (card: StoredMessage, ...words: readonly (string | RegExp)[]): Promise<string> =>
    bed.slack.until(() => {
      const now = cardNow(card);
      return words.every((one) => (typeof one === 'string' ? now.includes(one) : one.test(now))) ? now : undefined;
    }, 120_000);
  const press = (card: StoredMessage, actionId: string, user = 'U0GINGER') =>
    bed.slack.deliver.action({ user, channel: CHANNEL, ts: card.ts, actionId });

  /** What stands in the thread once both files are there. */
  async function endOf(card: StoredMessage): Promise<{ readonly result: string; readonly files: readonly string[] }> {
    const replies = await bed.slack.until(() => {
      const thread = bed.slack.thread(CHANNEL, card.ts);
      return thread.flatMap(({ files }) => files).length === 2 ? thread : undefined;
    }, 120_000);
    const ids = replies.flatMap(({ files }) => files);
    const files = bed.slack.files().filter(({ id }) => ids.includes(id));
    const texts = await Promise.all(files.map(async (file) => (await file.content()).toString()));
    // Before it, at most the word of an approval; behind it, its files.
    const [result, last] = replies.slice(-2);
    expect(last?.files).toEqual(ids);
    expect(result?.text).toMatch(/, .* on \d+ pods in /);
    return { result: textOf(result as StoredMessage), files: texts };
  }

  /** The most of our containers that ran at the same second, by the kubelet's own times. */
  async function widest(batch: string): Promise<number> {
    const spans: (readonly [number, number])[] = [];
    for (let index = 0; index < size; index += 1) {
      const { spec: held, status } = await kube.read(shop, nameOf(index));
      const ours = new Set(
        held?.ephemeralContainers
          ?.filter(({ env }) => env?.some(({ name, value }) => name === 'KDEBUG_BATCH' && value === batch))
          .map(({ name }) => name),
      );
      for (const { name, state } of status?.ephemeralContainerStatuses ?? []) {
        const { startedAt, finishedAt } = state?.terminated ?? {};
        if (ours.has(name) && startedAt && finishedAt) spans.push([Number(startedAt), Number(finishedAt)]);
      }
    }
    return Math.max(...spans.map(([at]) => spans.filter(([from, to]) => from <= at && at < to).length));
  }

  const idOf = (card: StoredMessage): string => / batch ([a-z2-7]{10})/.exec(cardNow(card))?.[1] ?? '';

  describe('a batch', () => {
    it('answers Ginger: the same audit in every pod, eight at a time, with every pod in one file', async () => {
      const script = hasShell ? `'echo audited; sleep 2; test $HOSTNAME != ${nameOf(3)}'` : `'echo audited; sleep 2'`;
      const good = hasShell ? size - 1 : size;
      const card = await ask(`--all -n ${shop} --image=security-audit --parallelism=8 -- sh -c ${script}`);
      const { result, files } = await endOf(card);
      await says(card, ` on ${size} pods in ${shop}: ${good === size ? 'all' : good} runs succeeded`);
      expect(result).toContain(`${good === size ? 'all' : good} runs succeeded`);
      if (hasShell) expect(result).toMatch(new RegExp(`In 1 pod the run failed, exit code 1.*${nameOf(3)}`));
      for (let index = 0; index < size; index += 1) {
        expect(files[0]).toMatch(new RegExp(`/${nameOf(index)} .* 8 bytes of log follow\n(message: .*\n)?audited\n`));
        expect(files[1]).toContain(`,${nameOf(index)},`);
      }
      expect(await widest(idOf(card))).toBeLessThanOrEqual(8);
      expect(bed.slack.unknown).toEqual([]);
    });

    it('refuses at once what matches nothing', async () => {
      expect(textOf(await ask(`-l app=nothing -n ${shop} --image=security-audit`))).toMatch(/no pod matches/i);
    });

    it('runs one pod first with --canary, and the others after Continue', async () => {
      const card = await ask(`--all -n ${shop} --image=security-audit --parallelism=10 --replicas=4 --canary -- true`);
      await says(card, 'Canary finished: review it', /1 succeeded[\s\S]*0 failed[\s\S]*0 running[\s\S]*3 waiting/);
      await press(card, 'continue');
      expect((await endOf(card)).result).toContain(`on 4 pods in ${shop}: all runs succeeded`);
    });

    it('stops when three pods do not start for the same reason', async () => {
      const card = await ask(`--all -n ${shop} --image=missing --parallelism=2`);
      await says(card, 'three runs did not start (ImagePullBackOff)');
      const { result } = await endOf(card);
      expect(result).toContain('three runs did not start (ImagePullBackOff)');
      expect(result).toMatch(/[34] pods [·|] kdebug’s container did not start \(ImagePullBackOff\)/);
    });

    it('is paused and goes on by a button', async () => {
      const card = await ask(`--all -n ${shop} --image=security-audit --replicas=3 -- sleep 1`);
      await press(card, 'pause');
      // The one that ran when the click came ends, and no other begins.
      await says(card, 'Paused by', /0 running[\s\S]*\b[12] waiting/);
      await press(card, 'resume');
      expect((await endOf(card)).result).toContain(`on 3 pods in ${shop}: all runs succeeded`);
    });

    it('asks for the approval of a snapshot: later pods are not touched, one that left fails alone', async () => {
      const card = await ask(`--all -n ${shop} --image=heavy --parallelism=10 -- echo heavy`, 'U0THURSTON');
      await says(card, `${size} of ${size} that match`);
      await kube.remove(shop, nameOf(0));
      await kube.gone(shop, nameOf(0));
      await kube.pod(shop, 'late-comer', spec);
      await press(card, 'approve', 'U0BOB');
      const { result, files } = await endOf(card);
      expect(result).toContain(`on ${size} pods in ${shop}: ${size - 1} runs succeeded, 1 failed`);
      expect(files[0]).toMatch(new RegExp(`${nameOf(0)}\\t\\S+\\tlost`));
      expect(files[0]).not.toContain('late-comer');
      expect((await kube.read(shop, 'late-comer')).spec?.ephemeralContainers).toBeUndefined();
    });
  });
}
