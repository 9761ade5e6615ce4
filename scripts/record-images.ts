import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  CoreV1Api,
  KubeConfig,
  type V1Container,
  type V1PodSpec,
  type V1SecurityContext,
  VersionApi,
} from '@kubernetes/client-node';
import {
  type Book,
  RECORDED_IMAGES,
  RECORDED_KEY,
  RECORDINGS,
  type Recorded,
  type RecordedImage,
  WATCHED_ENDS,
  type WatchedEnd,
  WORKLOADS,
} from '../play/cluster/programs/recordings.ts';
import { SHOP_PODS } from '../play/cluster/shop.ts';
import { REPORT_END } from '../src/core/report-marks.ts';
import { Looks, podOf } from '../test/cluster/autodiagnose-looks.ts';
import { Kube } from '../test/e2e/kube.ts';

/**
 * Runs the diagnostic images beside play's workloads in the real cluster that `KUBECONFIG` names, and
 * writes what they print into play/cluster/recorded/, for play to print it again. It needs the images of
 * test/cluster/load-images.sh and `load-targets.sh LOADER jvm node`, and the rights of an administrator; it makes namespaces and
 * removes them. KDEBUG_IMAGE_PREFIX (default `localhost/`) stands before the names of the images.
 *
 * Usage: KUBECONFIG=… tsx scripts/record-images.ts [IMAGE…]    without IMAGE: all
 */
const FOLDER = new URL('../play/cluster/recorded/', import.meta.url);
const SCRIPTS = new URL('../play/cluster/workloads/', import.meta.url);
const PREFIX = process.env.KDEBUG_IMAGE_PREFIX ?? 'localhost/';
/** As the shop's images run, and somebody else. */
const OWNER = { uid: 65532, gid: 0 };
const STRANGER = { uid: 10002, gid: 10002 };
const SETTINGS: Readonly<Record<RecordedImage, Readonly<Record<string, string>>>> = {
  // Play makes its hashes those of another key, and takes the facts out where nobody compares.
  autodiagnose: { KDEBUG_COMPARE: RECORDED_KEY },
  stacks: { STACKS_SECONDS: '4' },
  profile: { PROFILE_SECONDS: '6' },
  net: {},
  blackbox: { BLACKBOX_FOR: '3m' },
};

/** What they tell is of the moment; blackbox waits. */
type LookingImage = Exclude<RecordedImage, 'blackbox'>;

interface Watch {
  readonly workload: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly probe?: V1Container['livenessProbe'];
}

/** What blackbox waits for. A probe begins to fail when the watch has long begun, and the program follows no SIGTERM. */
const WATCHES: Readonly<Record<WatchedEnd, Watch>> = {
  oom: { workload: 'spill' },
  'oom-armed': { workload: 'spill', env: { BLACKBOX_WHEN: 'memory>80%' } },
  killed: {
    workload: 'web',
    probe: {
      exec: { command: ['/usr/bin/node', '-e', 'process.exit(1)'] },
      ...{ initialDelaySeconds: 25, timeoutSeconds: 5, failureThreshold: 1, terminationGracePeriodSeconds: 1 },
    },
  },
};

interface Place {
  /** Of the shop. */
  readonly container: string;
  readonly limits: Readonly<Record<'cpu' | 'memory', string>>;
}

/** What each workload stands for in the shop: the container of a pod. The leak that goes on to its end is the cart's too. */
function placeOf(given: string): Place {
  const workload = given === 'spill' ? 'leak' : given;
  for (const { containers = [] } of SHOP_PODS) {
    const found = containers.find((each) => each.workload === workload);
    const { cpu, memory } = found?.resources?.limits ?? {};
    if (found && cpu !== undefined && memory !== undefined) return { container: found.name, limits: { cpu, memory } };
  }
  throw new Error(`the shop has no pod with limits for ${workload}`);
}

const restricted = ({ uid, gid }: typeof OWNER): V1SecurityContext => ({
  runAsNonRoot: true,
  runAsUser: uid,
  runAsGroup: gid,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
});

/** As it would be in a cluster; on a test machine nobody answers there. */
const API_ENV = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: '6443' };
const API_SERVER = Object.entries(API_ENV).map(([name, value]) => ({ name, value }));
const DNS: Partial<V1PodSpec> = {
  dnsPolicy: 'None',
  dnsConfig: {
    nameservers: ['127.0.0.1'],
    searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local'],
    options: [{ name: 'ndots', value: '5' }],
  },
};

/** Its second container has no limits, so that whoever looks has room and takes none of the first one's. */
function specOf(workload: string, probe?: V1Container['livenessProbe']): V1PodSpec {
  const { container: name, limits } = placeOf(workload);
  const common: Partial<V1Container> = {
    image: 'localhost/target-node:1',
    // Open as long as the pod is: the workloads end with their standard input.
    stdin: true,
    env: API_SERVER,
    securityContext: restricted(OWNER),
    volumeMounts: [{ name: 'shop', mountPath: '/shop' }],
  };
  const around = { ...common, name: 'around', command: ['/usr/bin/node', '/shop/around.mjs'] };
  const resources = { limits, requests: { cpu: '50m', memory: '64Mi' } };
  const own: Partial<V1Container> =
    workload === 'deadlock'
      ? { image: 'localhost/target-jvm:1', env: [...API_SERVER, { name: 'HOT', value: '0.2' }] }
      : { command: ['/usr/bin/node', '--max-old-space-size=48', '/shop/start.mjs'] };
  return {
    ...podOf({}, DNS),
    containers: [{ ...common, name, resources, ...own, ...(probe && { livenessProbe: probe }) }, around],
    securityContext: { sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }] },
    volumes: [{ name: 'shop', configMap: { name: 'workloads' } }],
  };
}

const kubeconfig = readFileSync(process.env.KUBECONFIG ?? '', 'utf8');
const config = new KubeConfig();
config.loadFromString(kubeconfig);
const core = config.makeApiClient(CoreV1Api);
const kube = new Kube(kubeconfig);
const looks = new Looks(kubeconfig);

/** Longer than a few letters: what a pod has of its own in its environment is left out of a comparison. */
const podName = (workload: string): string => `shop-${workload}`;
/** A start looks like trouble: it computes, and is throttled. */
const SETTLED_MS = 10_000;

async function ready(namespace: string, workload: string): Promise<void> {
  const { container } = placeOf(workload);
  for (let left = 600; ; left -= 1) {
    const log = await core.readNamespacedPodLog({ namespace, name: podName(workload), container });
    if (log.includes('ready')) return pause(SETTLED_MS);
    if (left === 0) throw new Error(`${workload} does not say that it is ready: ${log}`);
    await pause(100);
  }
}

type Runs = Readonly<Record<string, Recorded>>;

async function record(namespace: string, workload: string, images: readonly LookingImage[]): Promise<Runs> {
  await kube.pod(namespace, podName(workload), specOf(workload));
  await ready(namespace, workload);
  const made: Record<string, Recorded> = {};
  for (const image of images) {
    made[`${image}-${workload}`] = await look(namespace, workload, image, OWNER);
    if (image !== 'net') made[`${image}-${workload}-stranger`] = await look(namespace, workload, image, STRANGER);
  }
  await core.deleteNamespacedPod({ namespace, name: podName(workload) });
  return made;
}

function look(namespace: string, workload: string, image: LookingImage, user: typeof OWNER): Promise<Recorded> {
  const name = `${image}-${workload}${user === OWNER ? '' : '-stranger'}`;
  return recordOne(name, { namespace, workload, image, user, env: {} });
}

async function recordWatch(namespace: string, end: WatchedEnd): Promise<Runs> {
  const { workload, env = {}, probe } = WATCHES[end];
  await kube.pod(namespace, podName(workload), specOf(workload, probe));
  await ready(namespace, workload);
  const name = `blackbox-${end}`;
  const recorded = await recordOne(name, { namespace, workload, image: 'blackbox', user: OWNER, env });
  await kube.remove(namespace, podName(workload));
  return { [name]: recorded };
}

interface Recording {
  readonly namespace: string;
  readonly workload: string;
  readonly image: RecordedImage;
  readonly user: typeof OWNER;
  readonly env: Readonly<Record<string, string>>;
}

async function recordOne(name: string, { namespace, workload, image, user, env }: Recording): Promise<Recorded> {
  const { container: target } = placeOf(workload);
  const container = await looks.start(namespace, podName(workload), {
    image: `${PREFIX}${image}:1`,
    target,
    env: { KDEBUG_RUN: 'recorded', KDEBUG_TARGET: target, ...API_ENV, ...SETTINGS[image], ...env },
    securityContext: { ...restricted(user), readOnlyRootFilesystem: true },
  });
  const { state, log } = await looks.ended(namespace, podName(workload), container);
  if (!log.includes(REPORT_END)) throw new Error(`${name} gave no report: ${state.exitCode} ${state.reason} ${log}`);
  writeFileSync(new URL(`${name}.log`, FOLDER), log);
  console.log(`${name}: ${log.length} characters`);
  return { exitCode: state.exitCode, termination: state.message ?? '' };
}

/** One workload after the other: they would take each other's CPU. */
async function recordAll(images: readonly RecordedImage[]): Promise<Runs> {
  const namespace = await kube.namespace('kdebug-record', 'restricted');
  const data = Object.fromEntries(
    readdirSync(fileURLToPath(SCRIPTS)).map((name) => [name, readFileSync(new URL(name, SCRIPTS), 'utf8')]),
  );
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'workloads' }, data } });
  let made: Runs = {};
  const looking = images.filter((image) => image !== 'blackbox');
  if (looking.length > 0)
    for (const workload of WORKLOADS) made = { ...made, ...(await record(namespace, workload, looking)) };
  if (images.includes('blackbox'))
    for (const end of WATCHED_ENDS) made = { ...made, ...(await recordWatch(namespace, end)) };
  return made;
}

const wanted = process.argv.slice(2);
const isWanted = (image: RecordedImage): boolean => wanted.length === 0 || wanted.includes(image);
const chosen = RECORDED_IMAGES.filter(isWanted);
const book: Book = JSON.parse(readFileSync(RECORDINGS, 'utf8'));
try {
  const made = { ...book.runs, ...(await recordAll(chosen)) };
  const { gitVersion } = await config.makeApiClient(VersionApi).getCode();
  const now = { date: new Date().toISOString().slice(0, 10), server: gitVersion };
  const images = Object.fromEntries(
    RECORDED_IMAGES.map((image) => {
      const known = book.images[image];
      if (known && !isWanted(image)) return [image, known];
      const { tool } = JSON.parse((made[`${image}-web`] ?? made[`${image}-killed`])?.termination ?? '{}');
      return [image, { ...now, image: `kdebug-${tool?.name}:${tool?.version}` }];
    }),
  );
  const runs = Object.fromEntries(Object.entries(made).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(RECORDINGS, `${JSON.stringify({ images, runs }, null, 2)}\n`);
} finally {
  await kube.cleanUp();
}
