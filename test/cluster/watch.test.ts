import { readFileSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { describeMessage, type StoredMessage } from '../../play/slack/index.ts';
import { Kube } from '../e2e/kube.ts';
import { startPatientBed } from '../support/patient-bed.ts';

const CHANNEL = 'C0SHOP';
const TARGET_USER = 10_001;

/** The class is *intrusive*, and the image traces: a rule must name both. */
const policyFor = (context: string, namespace: string): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
approvers:
  sre: { usergroup: S0SRE }
images:
  blackbox:
    image: localhost/blackbox:1
    class: intrusive
    traces: true
    diagnostic: true
    files: [text, profile]
    settings: [BLACKBOX_FOR, BLACKBOX_WHEN, BLACKBOX_THEN, BLACKBOX_SHOTS]
channels:
  ${CHANNEL}:
    rules:
      - id: watch
        clusters: [test]
        namespaces: [${namespace}]
        classes: [observe, intrusive]
        profiles: [restricted]
        traces: true
limits: { maxTimeout: 1h, startDeadline: 60s, ephemeralContainersPerPodAndUser: 100 }
`;

/** Grows by 1 MiB each 20 ms, once there has been time to arm the watch. */
const LEAK = `import time
def keep_every_order(orders):
    while True:
        orders.append(bytearray(1 << 20))
        print(f'{len(orders)} orders', flush=True)
        time.sleep(0.02)
print('ready', flush=True)
time.sleep(20)
keep_every_order([])
`;

let bed: Bed;
let kube: Kube;
let shop: string;

beforeAll(async () => {
  const kubeconfig = readFileSync(process.env.KUBECONFIG ?? '', 'utf8');
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  const context = config.getCurrentContext();
  kube = new Kube(kubeconfig);
  shop = await kube.namespace('kdebug-watch', 'restricted');
  bed = await startPatientBed({ kubeconfig, transport: 'socket', policy: policyFor(context, shop) });
});

afterAll(async () => {
  await bed?.stop();
  await kube?.cleanUp();
});

const textOf = (message: StoredMessage): string =>
  describeMessage(bed.slack.state, message, { times: false }).join('\n');

it('a leak is looked at before it ends the program, and so is its end', async () => {
  await kube.pod(shop, 'web-0', {
    terminationGracePeriodSeconds: 1,
    restartPolicy: 'Never',
    containers: [
      {
        name: 'app',
        image: 'localhost/target-python:1',
        imagePullPolicy: 'IfNotPresent',
        command: ['/usr/bin/python3', '-I', '-c', LEAK],
        resources: { limits: { memory: '96Mi' } },
        securityContext: {
          runAsNonRoot: true,
          runAsUser: TARGET_USER,
          runAsGroup: TARGET_USER,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
          seccompProfile: { type: 'RuntimeDefault' },
        },
      },
    ],
  });
  const before = bed.slack.messages(CHANNEL).length;
  const text = `watch web-0 -n ${shop} --when="memory&gt;70%" --for=5m`;
  await bed.slack.deliver.command({ user: 'U0THURSTON', channel: CHANNEL, text });
  const card = await bed.slack.until(() => bed.slack.messages(CHANNEL)[before]);
  const shown = () => textOf(bed.slack.messages(CHANNEL).find(({ ts }) => ts === card.ts) ?? card);
  await bed.slack.until(() => /Armed for 5m: memory>70%/.test(shown()) || undefined);
  const result = await bed.slack.until(
    () =>
      bed.slack
        .thread(CHANNEL, card.ts)
        .map(textOf)
        .find((reply) => reply.includes('killed for memory')),
    120_000,
  );
  expect(result).toContain('keep_every_order');
  expect(result).toMatch(/Last words of app[\s\S]*\d+ orders/);
  const has = (end: string) => bed.slack.files().some(({ name }) => name.endsWith(end));
  await bed.slack.until(() => (has('.tripwire.txt') && has('.death.txt')) || undefined);
});
