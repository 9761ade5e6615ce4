import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import {
  CoreV1Api,
  KubeConfig,
  PatchStrategy,
  setHeaderOptions,
  type V1PodSpec,
  type V1SecurityContext,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { type Answer, ask } from '../../play/app/conversation.ts';
import { NOBODY_OF_FREE_COMMANDS } from '../../src/core/container/profiles.ts';
import { Kube } from '../e2e/kube.ts';
import { startPatientBed } from '../support/patient-bed.ts';

const path = process.env.KUBECONFIG;
if (path === undefined) throw new Error('KUBECONFIG names no cluster: set it to the kubeconfig of a test cluster');
const kubeconfig = readFileSync(path, 'utf8');
const config = new KubeConfig();
config.loadFromString(kubeconfig);
const core = config.makeApiClient(CoreV1Api);

const BUSYBOX = 'localhost/busybox:1';
const MARK = `mark-${randomBytes(4).toString('hex')}`;
const HOST_PATH = `/tmp/kdebug-${MARK}`;
const PROFILES = ['restricted', 'baseline', 'general'] as const;

/** In C0SHOP only what is harmless is allowed; in C0OPS everything is, so that its `can-i` says what would be launched. */
const policyFor = (namespace: string): string => `version: 1
clusters:
  test: { context: "${config.getCurrentContext()}", default: true }
identity: { mode: serviceAccount }
images:
  diagnostic: { image: "localhost/autodiagnose:1", class: observe, diagnostic: true }
  fixed: { image: "${BUSYBOX}", class: observe }
  free: { image: "${BUSYBOX}", class: observe, command: allowed }
channels:
  C0SHOP:
    rules:
      - { id: look, clusters: [test], namespaces: [${namespace}], classes: [observe], profiles: [${PROFILES.join(', ')}] }
  C0OPS:
    rules:
      - { id: all, clusters: [test], namespaces: [${namespace}], classes: [observe, intrusive, elevated], profiles: [${PROFILES.join(', ')}] }
limits: { runsPerUserPerMinute: 10000 }
`;

const container = (more: object = {}) => ({
  name: 'app',
  image: BUSYBOX,
  imagePullPolicy: 'IfNotPresent',
  command: ['sleep', '3600'],
  env: [{ name: 'TARGET', value: `${MARK}-target` }],
  ...more,
});
const secured = (securityContext: V1SecurityContext) => ({ containers: [container({ securityContext })] });
const NONROOT = { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000 };

/** Every property of a pod that the judgement of a launch has to know. */
const PODS: Readonly<Record<string, V1PodSpec>> = {
  plain: secured({ runAsUser: 0 }),
  'host-pid': { hostPID: true, containers: [container()] },
  'host-ipc': { hostIPC: true, containers: [container()] },
  'host-network': { hostNetwork: true, containers: [container()] },
  'host-path': {
    volumes: [{ name: 'host', hostPath: { path: HOST_PATH, type: 'DirectoryOrCreate' } }],
    containers: [container({ volumeMounts: [{ name: 'host', mountPath: '/host' }] })],
  },
  privileged: secured({ privileged: true }),
  capable: secured({ runAsUser: 0, capabilities: { add: ['SYS_ADMIN', 'SYS_PTRACE'] } }),
  shared: {
    shareProcessNamespace: true,
    containers: [container({ securityContext: NONROOT }), { ...container({ name: 'sidecar', env: [] }) }],
  },
  'uid-only': secured({ runAsUser: 1000 }),
  'non-root': secured(NONROOT),
  // Its image's user is not root, and the API does not say who it is.
  'non-root-of-image': {
    containers: [container({ image: 'localhost/busybox-nonroot:1', securityContext: { runAsNonRoot: true } })],
  },
  'user-of-image': { containers: [container({ image: 'localhost/busybox-nonroot:1' })] },
};
const NAMES = Object.keys(PODS);
/** Whose target's user is in its image alone, and a runtime that reports none: there is no sign that it is not root (docs/classes.md). */
const NOBODY_TELLS: ReadonlySet<string> = new Set(['user-of-image']);
const EVERY_IMAGE = ['free', 'fixed', 'diagnostic'];

/** Each line that it prints is a deed that *observe* promises to be impossible: `elevated …` or `intrusive …`. */
const EXPERIMENT = [
  `for e in /proc/[0-9]*/environ; do if grep -aqs ${MARK}-neighbour $e; then echo elevated: reads a process of another pod; break; fi; done`,
  `[ -e /dev/shm/${MARK} ] && echo elevated: shares memory with another pod`,
  // The kubelet's own port for its health; busybox's wget needs a resolver even for an address.
  "printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' | timeout 2 nc 127.0.0.1 10248 2>/dev/null | grep -q ok && echo elevated: reaches the loopback of the node",
  `for r in /proc/[0-9]*/root; do if grep -qs ${MARK} $r/host/marker; then echo elevated: reads a file of the node; break; fi; done`,
  '[ -b /proc/1/root/dev/vda ] || [ -e /proc/1/root/dev/kmsg ] && echo elevated: sees the devices of the node',
  `[ "$(id -u)" = 0 ] && for e in /proc/[0-9]*; do if grep -aqs ${MARK}-target $e/environ && ! grep -q "^Uid:.0" $e/status; then echo elevated: reads as root what runs as another; break; fi; done`,
  `for e in /proc/[0-9]*; do if grep -aqs ${MARK}-target $e/environ && touch $e/root/tmp/written 2>/dev/null; then echo intrusive: writes into the target; break; fi; done`,
  'true',
].join('\n');

interface Combination {
  readonly pod: string;
  readonly flags: string;
}

const COMBINATIONS: readonly Combination[] = NAMES.flatMap((pod) =>
  PROFILES.flatMap((profile) =>
    (pod === 'shared' ? ['--target=app', '--target=sidecar', '--no-target'] : ['', '--no-target']).map((target) => ({
      pod,
      flags: `--profile=${profile} ${target}`.trim(),
    })),
  ),
);

let kube: Kube;
let bed: Bed;
let namespace: string;
/** What the experiment of each combination printed. */
const seen = new Map<Combination, string>();

beforeAll(async () => {
  kube = new Kube(kubeconfig);
  const [ours, others] = await Promise.all([kube.namespace('kdebug-class'), kube.namespace('kdebug-class-other')]);
  namespace = ours;
  const neighbour = (uid: number) => ({
    hostIPC: uid === 0,
    terminationGracePeriodSeconds: 0,
    containers: [
      container({
        command: [
          'sh',
          '-c',
          `echo ${MARK} >/dev/shm/${MARK}; trap 'rm -f /dev/shm/${MARK}; exit' TERM; sleep 3600 & wait`,
        ],
        env: [{ name: 'NEIGHBOUR', value: `${MARK}-neighbour` }],
        securityContext: { runAsUser: uid, runAsGroup: uid },
      }),
    ],
  });
  bed = await startPatientBed({ kubeconfig, policy: policyFor(namespace), transport: 'socket' });
  await Promise.all([
    ...NAMES.map((name) => kube.pod(namespace, name, { terminationGracePeriodSeconds: 0, ...PODS[name]! })),
    kube.pod(others, 'root', neighbour(0)),
    kube.pod(others, 'nobody', neighbour(NOBODY_OF_FREE_COMMANDS.uid)),
    kube.pod(others, 'marker', {
      terminationGracePeriodSeconds: 0,
      volumes: [{ name: 'host', hostPath: { path: HOST_PATH, type: 'DirectoryOrCreate' } }],
      containers: [
        container({
          command: ['sh', '-c', `echo ${MARK} >/host/marker; sleep 3600`],
          volumeMounts: [{ name: 'host', mountPath: '/host' }],
        }),
      ],
    }),
  ]);
  await Promise.all(NAMES.map((pod) => experimentsIn(pod)));
});

afterAll(async () => {
  await bed?.stop();
  await kube?.cleanUp();
  // A test cluster's node is this machine.
  rmSync(HOST_PATH, { recursive: true, force: true });
});

async function experimentsIn(pod: string): Promise<void> {
  for (const [at, combination] of COMBINATIONS.filter((one) => one.pod === pod).entries())
    seen.set(combination, await experiment(combination, `try-${at}`));
}

/** One command of a person after another: `can-i` answers in private, in the order in which it was asked. */
let asking: Promise<unknown> = Promise.resolve();
function canI(words: string, channel: string): Promise<Answer> {
  const answer = asking.then(() => ask(bed.slack, { user: 'U0ROY', channel, words: `can-i ${words}` }, 30_000));
  asking = answer.catch(() => undefined);
  return answer;
}

/** Launches what kdebug would, where everything is allowed, with the attacks of the review as its command. */
async function experiment({ pod, flags }: Combination, name: string): Promise<string> {
  const told = await canI(`${pod} -n ${namespace} --image=free ${flags} -- id`, 'C0OPS');
  const text = 'text' in told ? told.text : '';
  if (!/✅ Allowed/.test(text)) return `not launched: ${text}`;
  const context = /Profile +\S+: (\{.*\})/.exec(text)?.[1];
  const target = /Target +(\S+)/.exec(text)?.[1] ?? 'none';
  const entry = {
    name,
    image: BUSYBOX,
    imagePullPolicy: 'IfNotPresent',
    command: ['sh', '-c', EXPERIMENT],
    ...(target !== 'none' && { targetContainerName: target }),
    ...(context !== undefined && { securityContext: JSON.parse(context) as V1SecurityContext }),
  };
  const merge = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);
  const body = { spec: { ephemeralContainers: [entry] } };
  await core.patchNamespacedPodEphemeralcontainers({ namespace, name: pod, body }, merge);
  const stateOf = (status: { name: string; state?: object }[] | undefined) =>
    status?.find((one) => one.name === name)?.state as
      | { terminated?: object; waiting?: { reason?: string; message?: string } }
      | undefined;
  const ended = await kube.until(namespace, pod, ({ status }) => {
    const state = stateOf(status?.ephemeralContainerStatuses);
    return state?.terminated !== undefined || /Error/.test(state?.waiting?.reason ?? '');
  });
  const waiting = stateOf(ended.status?.ephemeralContainerStatuses)?.waiting;
  if (waiting) return `not started: ${waiting.reason}`;
  await pause(50);
  return core.readNamespacedPodLog({ namespace, name: pod, container: name });
}

const worst = (printed: string): 'observe' | 'intrusive' | 'elevated' =>
  printed.includes('elevated:') ? 'elevated' : printed.includes('intrusive:') ? 'intrusive' : 'observe';

const isAllowed = async (words: string): Promise<boolean> => {
  const told = await canI(words, 'C0SHOP');
  return told.kind === 'private' && /✅ Allowed/.test(told.text);
};

it('the attacks of the review work where everything is allowed: the expectation is the cluster’s, not a table of ours', () => {
  const printed = (pod: string, profile: string): string =>
    [...seen].flatMap(([one, text]) => (one.pod === pod && one.flags.includes(profile) ? [text] : [])).join('');
  expect(printed('host-pid', 'general')).toContain('reads a process of another pod');
  expect(printed('host-pid', 'restricted')).toContain('reads a process of another pod');
  expect(printed('host-ipc', 'baseline')).toContain('shares memory with another pod');
  expect(printed('host-network', 'baseline')).toContain('reaches the loopback of the node');
  expect(printed('host-path', 'general')).toContain('reads a file of the node');
  expect(printed('privileged', 'general')).toContain('sees the devices of the node');
  expect(printed('shared', 'general')).toContain('reads as root what runs as another');
  expect(printed('uid-only', 'general')).toContain('reads as root what runs as another');
  expect(printed('user-of-image', 'general')).toContain('reads as root what runs as another');
  expect(printed('plain', 'general')).toContain('writes into the target');
  expect(printed('plain', 'general')).not.toContain('elevated:');
});

it('what stays harmless is still allowed', async () => {
  expect(await isAllowed(`plain -n ${namespace} --image=free --profile=restricted --no-target -- id`)).toBe(true);
  expect(await isAllowed(`plain -n ${namespace} --image=diagnostic --profile=general`)).toBe(true);
  expect(await isAllowed(`non-root -n ${namespace} --image=diagnostic --profile=restricted`)).toBe(true);
});

it.each(NAMES)('can-i allows nothing in the pod %s that the cluster showed to be more than observe', async (pod) => {
  const wrong: string[] = [];
  for (const [{ flags }, printed] of [...seen].filter(([one]) => one.pod === pod)) {
    const found = worst(printed);
    // What its own command does is for the policy to say; what a pod opens up is there whatever the command.
    const images = { observe: [], intrusive: ['free'], elevated: NOBODY_TELLS.has(pod) ? ['free'] : EVERY_IMAGE }[
      found
    ];
    for (const image of images) {
      const words = `${pod} -n ${namespace} --image=${image} ${flags}${image === 'free' ? ' -- id' : ''}`;
      if (await isAllowed(words)) wrong.push(`${words}: ${printed.trim().replaceAll('\n', '; ')}`);
    }
  }
  expect(wrong).toEqual([]);
});
