import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Bed, startBed } from '../../play/app/bed.ts';
import { ask } from '../../play/app/conversation.ts';
import { describeMessage, type StoredMessage } from '../../play/slack/index.ts';
import { Kube } from './kube.ts';
import { rollOut } from './roll-out.ts';
import type { Scene } from './stories.ts';

const BUSYBOX = 'localhost/busybox:1';
/** Busybox with a program `lines`. */
const WITH_LINES = 'localhost/lines:1';
const CHANNEL = 'C0SHOP';
const SECRET = 'postgres://shop:sesame@db/shop';

const policyFor = (context: string, namespace: string): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
approvers:
  sre: { usergroup: S0SRE }
images: {}
channels:
  ${CHANNEL}:
    rules:
      - id: again
        clusters: [test]
        namespaces: [${namespace}]
        classes: [elevated]
        profiles: [baseline]
        approval: { from: [sre], count: 1, expires: 15m }
limits: { startDeadline: 60s, runsPerUserPerMinute: 60, runsPerUser: 100, pendingApprovalsPerUser: 100, ephemeralContainersPerPodAndUser: 100 }
`;

const waitsInCrashLoop = ({ status }: V1Pod): boolean =>
  status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff';

/** The end-to-end tests of `once-more`: a program that dies at once says why, under the eyes of an approver. */
export function tellOnceMore(
  open: () => Promise<Scene>,
  close: () => Promise<void>,
  { hasControllers }: { readonly hasControllers: boolean },
): void {
  let bed: Bed;
  let kube: Kube;
  let shop: string;
  let rolled: string;
  const container = { name: 'app', image: BUSYBOX, imagePullPolicy: 'IfNotPresent' };
  const program = 'echo starting; echo "panic: no table orders"; exit $CODE';

  beforeAll(async () => {
    const scene = await open();
    kube = new Kube(scene.kubeconfig);
    shop = await kube.namespace('kdebug-once-more');
    bed = await startBed({ ...scene, policy: policyFor(scene.context, shop) });
    const env = [
      { name: 'DB_URL', value: SECRET },
      { name: 'CODE', value: '3' },
    ];
    const dying = { ...container, command: ['sh', '-c'], args: [program], env };
    const running = { ...container, command: ['sleep', '3600'] };
    const working = { ...container, command: ['sh', '-c'], args: ['lines 1 20 && echo as yesterday && sleep 3600'] };
    const specs = [WITH_LINES, BUSYBOX].map((image) => ({
      terminationGracePeriodSeconds: 1,
      containers: [{ ...working, image }],
    }));
    const { kubeconfig } = scene;
    const rolledOut = rollOut({ kubeconfig, kube, namespace: shop, name: 'orders', specs, hasControllers });
    await Promise.all([
      rolledOut.then(async (name) => {
        rolled = name;
        await kube.until(shop, name, waitsInCrashLoop);
      }),
      kube.pod(shop, 'web-0', { terminationGracePeriodSeconds: 1, containers: [dying] }, waitsInCrashLoop),
      kube.pod(shop, 'up-0', { terminationGracePeriodSeconds: 1, containers: [running] }),
    ]);
  });

  afterAll(async () => {
    await bed?.stop();
    await kube?.cleanUp();
    await close();
  });

  const textOf = (message: StoredMessage): string =>
    describeMessage(bed.slack.state, message, { times: false }).join('\n');

  /** Asks as Thurston, approves as Bob; resolves with the card that Bob saw and the result in the thread. */
  async function approved(words: string): Promise<{ readonly card: string; readonly result: string }> {
    const before = bed.slack.messages(CHANNEL).length;
    await bed.slack.deliver.command({ user: 'U0THURSTON', channel: CHANNEL, text: words });
    const asked = await bed.slack.until(() => {
      const message = bed.slack.messages(CHANNEL)[before];
      return message && textOf(message).includes('once more in') ? message : undefined;
    }, 60_000);
    const card = textOf(asked);
    // A container in a crash loop runs for a moment now and then, and is approved after it.
    const isApproved = async (): Promise<boolean> => {
      const refusals = bed.slack.ephemerals('U0BOB').length;
      await bed.slack.deliver.action({ user: 'U0BOB', channel: CHANNEL, ts: asked.ts, actionId: 'approve' });
      const answer = await bed.slack.until(
        () => bed.slack.ephemerals('U0BOB')[refusals] ?? bed.slack.thread(CHANNEL, asked.ts)[0],
      );
      return !textOf(answer).includes('needs no second run');
    };
    await expect.poll(isApproved).toBe(true);
    const result = await bed.slack.until(
      () =>
        bed.slack
          .thread(CHANNEL, asked.ts)
          .map(textOf)
          .find((text) => text.includes('ran once more')),
      120_000,
    );
    return { card, result };
  }

  it('says how the program ended and what it said, and shows no value of its environment', async () => {
    const { card, result } = await approved(`once-more web-0 -n ${shop} --reason="dies at start"`);
    expect(card).toContain('The program runs a second time beside its pod.');
    expect(card).toMatch(/Environment\s+DB_URL, CODE\n/);
    expect(card).toContain('sha256:');
    expect(result).toContain('app ended with exit code 3');
    expect(result).toContain('“panic: no table orders”');
    const { spec, status } = await kube.read(shop, 'web-0');
    expect(spec?.ephemeralContainers).toMatchObject([
      {
        image: status?.containerStatuses?.[0]?.imageID,
        command: ['sh', '-c'],
        args: [program],
        env: expect.arrayContaining([{ name: 'DB_URL', value: SECRET }]),
      },
    ]);
    expect(spec?.ephemeralContainers?.[0]?.targetContainerName ?? '').toBe('');
    const everything = [...bed.slack.messages(CHANNEL), ...bed.slack.ephemerals('U0THURSTON')].map(textOf);
    expect([...everything, card, result].join('\n')).not.toContain('sesame');
  });

  it('runs without a variable, and says so', async () => {
    const { card, result } = await approved(`once-more web-0 -n ${shop} --without-env=CODE`);
    expect(card).toMatch(/Left out\s+CODE/);
    expect(result).toContain('app without CODE ended with exit code 0');
    const { spec } = await kube.read(shop, 'web-0');
    const variables = (spec?.ephemeralContainers ?? []).map(({ env = [] }) => env.map(({ name }) => name));
    expect(variables.filter((names) => names.includes('DB_URL') && !names.includes('CODE'))).toHaveLength(1);
  });

  it('starts with the image of the revision before, and says so', async () => {
    const { card, result } = await approved(`once-more ${rolled} -n ${shop} --image-of=previous --timeout=5s`);
    expect(card).toContain('With the image of revision 1, not its own.');
    expect(card).toContain('named by a tag');
    expect(result).toContain('app with the image of revision 1 is still running after 5 s');
    expect(result).toContain('as yesterday');
    const { spec } = await kube.read(shop, rolled);
    expect(spec?.containers[0]?.image).toBe(BUSYBOX);
    expect(spec?.ephemeralContainers).toMatchObject([{ image: WITH_LINES, imagePullPolicy: 'IfNotPresent' }]);
  });

  it.each([
    ['2', 'revision 1 has another'],
    ['7', 'deployment/orders keeps 1, 2'],
  ])('has no image to take of revision %s', async (revision, words) => {
    const asked = `once-more ${rolled} -n ${shop} --image-of=${revision}`;
    const answer = await ask(bed.slack, { user: 'U0THURSTON', channel: CHANNEL, words: asked });
    expect(answer.kind === 'private' ? answer.text : '').toContain(words);
  });

  it('is refused while the container runs, with a way to watch it', async () => {
    const answer = await ask(bed.slack, { user: 'U0THURSTON', channel: CHANNEL, words: `once-more up-0 -n ${shop}` });
    expect(answer.kind === 'private' ? answer.text : '').toContain('--image=blackbox');
  });
}
