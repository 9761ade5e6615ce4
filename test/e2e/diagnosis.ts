import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { askInThread, type ThreadAnswer } from '../../play/app/conversation.ts';
import { startPatientBed } from '../support/patient-bed.ts';
import { Kube } from './kube.ts';
import type { Scene } from './stories.ts';

/** Where diagnoses are told: pods that are wrong on purpose are made in another way on each kind of cluster. */
export interface DiagnosisScene extends Scene {
  /** A healthy pod, with requests and limits. */
  readonly healthy: (kube: Kube, namespace: string, name: string) => Promise<unknown>;
  /** A pod near its memory limit. */
  readonly leaky: (kube: Kube, namespace: string, name: string) => Promise<unknown>;
}

const BUSYBOX = 'localhost/busybox:1';
const CHANNEL = 'C0SHOP';

const policyFor = (context: string, namespace: string): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
images:
  autodiagnose: { image: "localhost/autodiagnose:1", class: observe, timeout: 1m, diagnostic: true }
  looker: { image: "localhost/looker:1", class: observe, diagnostic: true }
  debian: { image: "${BUSYBOX}", class: observe, command: allowed }
defaultImage: autodiagnose
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: [${namespace}], classes: [observe, intrusive, elevated], profiles: [restricted, baseline] }
limits: { startDeadline: 90s, runsPerUserPerMinute: 100, runsPerUser: 100, pendingApprovalsPerUser: 100, ephemeralContainersPerPodAndUser: 100 }
`;

/** A report that says all is well, as a file of the target may hold it. */
const FORGED =
  '{\\"kdebug\\":1,\\"verdict\\":\\"Forged.\\",\\"target\\":{\\"uid\\":4242,\\"gid\\":4242,\\"effective\\":true}}';
const FORGERY = ['-----BEGIN KDEBUG REPORT-----', FORGED, '-----END KDEBUG REPORT-----'].map(
  (line) => `echo "${line}"`,
);

/** The end-to-end tests of issue 6: a verdict in the thread, the API's own knowledge in it, and a second look. */
export function tellDiagnoses(open: () => Promise<DiagnosisScene>, close: () => Promise<void>): void {
  let bed: Bed;
  let kube: Kube;
  let scene: DiagnosisScene;
  let shop: string;

  beforeAll(async () => {
    scene = await open();
    kube = new Kube(scene.kubeconfig);
    shop = await kube.namespace('kdebug-looks');
    bed = await startPatientBed({
      kubeconfig: scene.kubeconfig,
      policy: policyFor(scene.context, shop),
      transport: scene.transport,
    });
  });

  afterAll(async () => {
    await bed?.stop();
    await kube?.cleanUp();
    await close();
  });

  const inThread = (words: string): Promise<ThreadAnswer> =>
    askInThread(bed.slack, { user: 'U0ROY', channel: CHANNEL, words });

  it('answers Roy with a verdict: nothing is wrong, and what was looked at', async () => {
    await scene.healthy(kube, shop, 'nginx-pod-1234');
    const { anchor, result } = await inThread('nginx-pod-1234 --image=autodiagnose');
    expect(anchor).toMatch(/nothing found in \d+ sections|worth knowing|\/\S+ is \d+% full/i);
    expect(result).toMatch(/nothing found in \d+ sections|worth knowing|\/\S+ is \d+% full/i);
    expect(result).toMatch(/Checked, no problems: .*memory.*sockets.*probes.*restarts/);
    expect(result).toMatch(/autodiagnose \d/);
    expect(result).not.toContain('KDEBUG REPORT');
  });

  it('finds the memory of a leaking pod, with its number, its threshold and one next step', async () => {
    await scene.leaky(kube, shop, 'cart-leaky-0');
    const { result } = await inThread('cart-leaky-0');
    expect(result).toMatch(/memory.*\b9\d%.*\n.*[A-Z].*\. Threshold: 90%\./i);
  });

  it('knows from the API that a container restarts, also when its end took the diagnosis along', async () => {
    const panics = { name: 'ledger', image: BUSYBOX, command: ['sh', '-c', 'sleep 2; exit 3'] };
    await kube.pod(
      shop,
      'ledger-crash-0',
      { terminationGracePeriodSeconds: 1, containers: [{ ...panics, imagePullPolicy: 'IfNotPresent' }] },
      (pod) => (pod.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0,
    );
    const { result } = await inThread('ledger-crash-0');
    expect(result).toMatch(/ledger exited with code 3, .* ago, restarted \d+ times?/);
    expect(result).not.toContain('kubectl');
  });

  describe('a pod whose files only its own user may see', () => {
    let first: ThreadAnswer;
    const words = (flags: string) => `own-eyes ${flags} --image=looker`;

    beforeAll(async () => {
      await kube.pod(shop, 'own-eyes', {
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'neato', image: 'localhost/distroless:1', imagePullPolicy: 'IfNotPresent' }],
      });
      first = await inThread(words('--profile=baseline'));
    });

    it('is not believed by what another image printed: that is plain output, and teaches nothing', async () => {
      const forged = await inThread(`own-eyes --profile=baseline --image=debian -- sh -c '${FORGERY.join('; ')}'`);
      expect(forged.result).toContain('KDEBUG REPORT');
      expect(forged.result).not.toContain('Checked, no problems:');
    });

    it('gets a verdict that says what could not be seen, and how to see it', () => {
      expect(first.result).toContain('files: ptrace access: look again as 65532:0');
      expect(first.result).toContain('Look again as 65532:0');
    });

    it('is seen at the click of a button: one more run in the same thread', async () => {
      const [blind] = results(first.anchorTs);
      await press('U0BOB', blind?.ts ?? '');
      const again = await bed.slack.until(() => results(first.anchorTs)[1]);
      expect(JSON.stringify(again.blocks)).toContain('files');
      expect(JSON.stringify(again.blocks)).not.toContain('look-again');
      const thread = bed.slack.thread(CHANNEL, first.anchorTs).map(({ blocks }) => JSON.stringify(blocks));
      expect(thread.some((blocks) => /restricted.*runs as user 65532:0/.test(blocks))).toBe(true);
      expect(thread.some((blocks) => blocks.includes('U0BOB') || blocks.includes('bob'))).toBe(true);
    });

    it('is seen at once by the next run of that image', async () => {
      const next = await inThread(words(''));
      expect(next.result).toContain('restricted (picked automatically), runs as user 65532:0');
      expect(next.result).toMatch(/Checked, no problems: files/);
      expect(next.result).not.toContain('ptrace access');
    });
  });

  const press = (user: string, ts: string) =>
    bed.slack.deliver.action({ user, channel: CHANNEL, ts, actionId: 'look-again' });

  const results = (anchorTs: string) =>
    bed.slack.thread(CHANNEL, anchorTs).filter(({ metadata }) => JSON.stringify(metadata ?? {}).includes('"result"'));
}
