import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask } from '../../play/app/conversation.ts';
import { Kube } from './kube.ts';
import { rollOut } from './roll-out.ts';
import { SecondRuns } from './second-runs.ts';
import type { Scene } from './stories.ts';

const BUSYBOX = 'localhost/busybox:1';
/** Busybox with a program `lines`. */
const WITH_LINES = 'localhost/lines:1';
const SECRET = 'postgres://shop:sesame@db/shop';

const waitsInCrashLoop = ({ status }: V1Pod): boolean =>
  status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff';

/** The end-to-end tests of `once-more`: a program that dies at once says why, under the eyes of an approver. */
export function tellOnceMore(
  open: () => Promise<Scene>,
  close: () => Promise<void>,
  { hasControllers }: { readonly hasControllers: boolean },
): void {
  let runs: SecondRuns;
  let kube: Kube;
  let shop: string;
  let rolled: string;
  const container = { name: 'app', image: BUSYBOX, imagePullPolicy: 'IfNotPresent' };
  const program = 'echo starting; echo "panic: no table orders"; exit $CODE';

  beforeAll(async () => {
    const scene = await open();
    kube = new Kube(scene.kubeconfig);
    shop = await kube.namespace('kdebug-once-more');
    runs = await SecondRuns.open(scene, shop);
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
    await runs?.bed.stop();
    await kube?.cleanUp();
    await close();
  });

  it('says how the program ended and what it said, and shows no value of its environment', async () => {
    const { card, result } = await runs.approved(`once-more web-0 -n ${shop} --reason="dies at start"`);
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
    const { slack } = runs.bed;
    const messages = [...slack.messages(runs.channel), ...slack.ephemerals('U0THURSTON')];
    const everything = messages.map((message) => runs.textOf(message));
    expect([...everything, card, result].join('\n')).not.toContain('sesame');
  });

  it('runs without a variable, and says so', async () => {
    const { card, result } = await runs.approved(`once-more web-0 -n ${shop} --without-env=CODE`);
    expect(card).toMatch(/Left out\s+CODE/);
    expect(result).toContain('app without CODE ended with exit code 0');
    const { spec } = await kube.read(shop, 'web-0');
    const variables = (spec?.ephemeralContainers ?? []).map(({ env = [] }) => env.map(({ name }) => name));
    expect(variables.filter((names) => names.includes('DB_URL') && !names.includes('CODE'))).toHaveLength(1);
  });

  it.each([
    ['2', 'revision 1 has another'],
    ['7', 'deployment/orders keeps 1, 2'],
  ])('has no image to take of revision %s', async (revision, words) => {
    const asked = `once-more ${rolled} -n ${shop} --image-of=${revision}`;
    const answer = await ask(runs.bed.slack, { user: 'U0THURSTON', channel: runs.channel, words: asked });
    expect(answer.kind === 'private' ? answer.text : '').toContain(words);
  });

  it('starts with the image of the revision before, and says so', async () => {
    const { card, result } = await runs.approved(`once-more ${rolled} -n ${shop} --image-of=previous --timeout=5s`);
    expect(card).toContain('With the image of revision 1, not its own.');
    expect(card).toContain('named by a tag');
    expect(result).toContain('app with the image of revision 1 is still running after 5 s: “as yesterday”');
    expect(result).toContain('as yesterday');
    const { spec } = await kube.read(shop, rolled);
    expect(spec?.containers[0]?.image).toBe(BUSYBOX);
    expect(spec?.ephemeralContainers).toMatchObject([{ image: WITH_LINES, imagePullPolicy: 'IfNotPresent' }]);
  });

  it('is refused while the container runs, with a way to watch it', async () => {
    const words = `once-more up-0 -n ${shop}`;
    const answer = await ask(runs.bed.slack, { user: 'U0THURSTON', channel: runs.channel, words });
    expect(answer.kind === 'private' ? answer.text : '').toContain('--image=blackbox');
  });
}
