import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import {
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  PatchStrategy,
  setHeaderOptions,
  type V1PodTemplateSpec,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { describeMessage, type StoredMessage } from '../../play/slack/index.ts';
import { Kube } from '../e2e/kube.ts';
import { startPatientBed } from '../support/patient-bed.ts';
import { Looks } from './autodiagnose-looks.ts';

const path = process.env.KUBECONFIG;
if (path === undefined) throw new Error('KUBECONFIG names no cluster: set it to the kubeconfig of a test cluster');
const kubeconfig = readFileSync(path, 'utf8');
const CHANNEL = 'C0SHOP';
const USER = 'U0GINGER';

const policyFor = (context: string, namespace: string): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
images:
  autodiagnose: { image: "localhost/autodiagnose:1", class: observe, timeout: 1m, diagnostic: true }
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: [${namespace}], classes: [observe], profiles: [restricted] }
limits: { runsPerUserPerMinute: 100, runsPerUser: 100 }
`;

/** A web service under *restricted*, with one setting in its environment and one in a mounted file. */
const TEMPLATE: V1PodTemplateSpec = {
  metadata: { labels: { app: 'web' } },
  spec: {
    terminationGracePeriodSeconds: 0,
    volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
    containers: [
      {
        name: 'web',
        image: 'localhost/distroless:1',
        imagePullPolicy: 'IfNotPresent',
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 65532,
          runAsGroup: 0,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
          seccompProfile: { type: 'RuntimeDefault' },
        },
        env: [
          { name: 'DB_PASSWORD', valueFrom: { configMapKeyRef: { name: 'settings', key: 'password' } } },
          { name: 'REGION', value: 'north' },
        ],
        // A file mounted alone keeps what it held when the pod was made.
        volumeMounts: [{ name: 'settings', mountPath: '/etc/web/app.yaml', subPath: 'app.yaml' }],
      },
    ],
  },
};

/** Tries until it holds; a pod that is made again is not there for a moment. */
async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (let left = 750; left > 0; left -= 1) {
    if (await holds().catch(() => false)) return;
    await pause(200);
  }
  throw new Error('it never came');
}

/** `compare POD` as people type it, on a cluster that enforces the strictest Pod Security level. */
describe('compare', () => {
  let bed: Bed;
  let kube: Kube;
  let namespace: string;
  const config = new KubeConfig();

  beforeAll(async () => {
    config.loadFromString(kubeconfig);
    kube = new Kube(kubeconfig);
    namespace = await kube.namespace('kdebug-compare', 'restricted');
    const [core, apps] = [config.makeApiClient(CoreV1Api), config.makeApiClient(AppsV1Api)];
    const settings = (password: string, yaml: string) => ({
      metadata: { name: 'settings' },
      data: { password, 'app.yaml': yaml },
    });
    await core.createNamespacedConfigMap({ namespace, body: settings('sesame-good', 'pool: 20\n') });
    const selector = { matchLabels: { app: 'web' } };
    const spec = { replicas: 3, serviceName: 'web', podManagementPolicy: 'Parallel', selector, template: TEMPLATE };
    await apps.createNamespacedStatefulSet({ namespace, body: { metadata: { name: 'web' }, spec } });
    await kube.running(namespace, 3);
    const old = await kube.read(namespace, 'web-1');
    // The classic: the settings changed, and only one pod was made again since.
    const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
    await core.patchNamespacedConfigMap(
      { name: 'settings', namespace, body: settings('sesame-bad', 'pool: 2\n') },
      merge,
    );
    await kube.remove(namespace, 'web-1');
    await eventually(async () => (await kube.read(namespace, 'web-1')).metadata?.uid !== old.metadata?.uid);
    await kube.running(namespace, 3);
    const looks = new Looks(kubeconfig);
    await eventually(async () => (await looks.fault(namespace, 'web-1', 'close-wait?n=300')) === 200);
    bed = await startPatientBed({
      kubeconfig,
      policy: policyFor(config.getCurrentContext(), namespace),
      transport: 'socket',
    });
  });

  afterAll(async () => {
    await bed?.stop();
    await kube?.cleanUp();
  });

  const textOf = (message: StoredMessage): string =>
    describeMessage(bed.slack.state, message, { times: false }).join('\n');

  /** The result in the thread, and its file from the message behind it; or the private answer. */
  async function ask(words: string): Promise<{ readonly said: string; readonly file: string; readonly card: string }> {
    const [cards, privately] = [bed.slack.messages(CHANNEL).length, bed.slack.ephemerals(USER).length];
    await bed.slack.deliver.command({ user: USER, channel: CHANNEL, text: words });
    const found = await bed.slack.until(() => {
      const told = bed.slack.ephemerals(USER)[privately];
      const card = bed.slack.messages(CHANNEL)[cards];
      const replies = card ? bed.slack.thread(CHANNEL, card.ts) : [];
      return told ? [told] : replies.some(({ files }) => files.length > 0) ? replies : undefined;
    }, 90_000);
    const card = bed.slack.messages(CHANNEL)[cards];
    const files = bed.slack.files().filter(({ id }) => found.some((message) => message.files.includes(id)));
    const [text = ''] = await Promise.all(files.map(async (file) => (await file.content()).toString()));
    return { said: found.map(textOf).join('\n'), file: text, card: card ? textOf(card) : '' };
  }

  it('names what only the sick pod has, under Pod Security restricted, without a value of it', async () => {
    const { said, file, card } = await ask(`compare web-1 -n ${namespace}`);
    expect(said.split('\n')[1], said).toContain('Only web-1: ');
    expect(said).toContain('environment variable DB_PASSWORD has another content');
    expect(said).toContain('mounted file /etc/web/app.yaml has another content');
    expect(said).toMatch(/sockets CLOSE_WAIT: 30\d \(others: 0\)/);
    expect(said).toContain('Compared with web-0 and web-2.');
    expect(said).not.toContain('REGION');
    expect(said).toMatch(/Equal, or within their range: .*\d+ environment variables/);
    expect(card).toContain('Only web-1: ');
    expect(file).toContain('Only web-1, compared with web-0 and web-2:');
    for (const secret of ['sesame', 'KDEBUG_COMPARE']) expect(`${said}${file}${card}`).not.toContain(secret);
  });

  it('gives all three probes one key, and each run another', async () => {
    const keysNow = async () => {
      const pods = await Promise.all(['web-0', 'web-1', 'web-2'].map((name) => kube.read(namespace, name)));
      return pods.map(({ spec }) =>
        (spec?.ephemeralContainers ?? []).map(
          ({ env = [] }) => env.find(({ name }) => name === 'KDEBUG_COMPARE')?.value,
        ),
      );
    };
    const { said } = await ask(`compare web-0 -n ${namespace}`);
    // Of two siblings one is sick, so they agree on little: that is said of no healthy pod.
    expect(said).not.toContain('DB_PASSWORD');
    const keys = await keysNow();
    expect(keys.every((one) => one.length === 2 && new Set(one).size === 2)).toBe(true);
    expect(new Set(keys.map((one) => one.join())).size).toBe(1);
    expect(keys[0]?.[0]).toMatch(/^[a-z2-7]{26}$/);
  });

  it('refuses a pod without an owner, and one whose siblings are not there', async () => {
    const { securityContext, image } = TEMPLATE.spec?.containers[0] ?? {};
    await kube.pod(namespace, 'alone', { containers: [{ name: 'app', image: image ?? '', securityContext }] } as never);
    expect((await ask(`compare alone -n ${namespace}`)).said).toMatch(/no owner/);
    expect((await ask(`compare nobody -n ${namespace}`)).said).toMatch(/pod not found/i);
  });
});
