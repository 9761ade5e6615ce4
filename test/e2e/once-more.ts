import { afterAll, beforeAll, expect, it } from 'vitest';
import { ask } from '../../play/app/conversation.ts';
import { Kube } from './kube.ts';
import { SecondRuns } from './second-runs.ts';
import type { Scene } from './stories.ts';

const BUSYBOX = 'localhost/busybox:1';
const SECRET = 'postgres://shop:sesame@db/shop';

/** The end-to-end tests of `once-more`: a program that dies at once says why, under the eyes of an approver. */
export function tellOnceMore(open: () => Promise<Scene>, close: () => Promise<void>): void {
  let runs: SecondRuns;
  let kube: Kube;
  let shop: string;
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
    await Promise.all([
      kube.pod(
        shop,
        'web-0',
        { terminationGracePeriodSeconds: 1, containers: [dying] },
        ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff',
      ),
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

  it('is refused while the container runs, with a way to watch it', async () => {
    const words = `once-more up-0 -n ${shop}`;
    const answer = await ask(runs.bed.slack, { user: 'U0THURSTON', channel: runs.channel, words });
    expect(answer.kind === 'private' ? answer.text : '').toContain('--image=blackbox');
  });
}
