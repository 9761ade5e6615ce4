import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CoreV1Api, KubeConfig, type V1PodSpec, type V1SecurityContext, VersionApi } from '@kubernetes/client-node';
import { RECORDED_IMAGES, RECORDINGS, type Recorded, type RecordedImage } from '../play/cluster/programs/recordings.ts';
import { Looks, podOf } from '../test/cluster/autodiagnose-looks.ts';
import { Kube } from '../test/e2e/kube.ts';

/**
 * Runs the images stacks, profile and net beside play's workloads in the real cluster that `KUBECONFIG` names, and writes
 * what they print into play/cluster/recorded/, for play to print it again. It needs the images of test/cluster/load-images.sh and
 * `load-targets.sh LOADER jvm node`, and the rights of an administrator; it makes a namespace and removes it.
 *
 * Usage: KUBECONFIG=… tsx scripts/record-images.ts
 */
const FOLDER = new URL('../play/cluster/recorded/', import.meta.url);
const SCRIPTS = new URL('../play/cluster/workloads/', import.meta.url);
/** What manifests/base/policy.yaml calls them. */
const VERSION = '0.1.0';
/** As the shop's images run, and somebody else. */
const OWNER = { uid: 65532, gid: 0 };
const STRANGER = { uid: 10002, gid: 10002 };
const SETTINGS: Readonly<Record<RecordedImage, Readonly<Record<string, string>>>> = {
  stacks: { STACKS_SECONDS: '4' },
  profile: { PROFILE_SECONDS: '6' },
  net: {},
};
/** The container of the shop that each stands for. */
const CONTAINERS: Readonly<Record<string, string>> = {
  deadlock: 'orders',
  burn: 'search',
  hang: 'neato',
  'close-wait': 'payments',
  leak: 'cart',
  web: 'web',
};

const restricted = ({ uid, gid }: typeof OWNER): V1SecurityContext => ({
  runAsNonRoot: true,
  runAsUser: uid,
  runAsGroup: gid,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
});

function specOf(workload: string): V1PodSpec {
  const name = CONTAINERS[workload] ?? 'app';
  const securityContext = restricted(OWNER);
  if (workload === 'deadlock') {
    const env = [{ name: 'HOT', value: '0.2' }];
    return podOf({ name, image: 'localhost/target-jvm:1', env, securityContext });
  }
  const container = {
    name,
    image: 'localhost/target-node:1',
    // Open as long as the pod is: the workloads end with their standard input.
    stdin: true,
    command: ['/usr/bin/node', '--max-old-space-size=48', `/shop/${workload}.mjs`],
    securityContext,
    volumeMounts: [{ name: 'shop', mountPath: '/shop' }],
  };
  return podOf(container, { volumes: [{ name: 'shop', configMap: { name: 'workloads' } }] });
}

const kubeconfig = readFileSync(process.env.KUBECONFIG ?? '', 'utf8');
const config = new KubeConfig();
config.loadFromString(kubeconfig);
const core = config.makeApiClient(CoreV1Api);
const kube = new Kube(kubeconfig);
const looks = new Looks(kubeconfig);

async function ready(namespace: string, workload: string): Promise<void> {
  const container = CONTAINERS[workload] ?? 'app';
  for (let left = 600; ; left -= 1) {
    const log = await core.readNamespacedPodLog({ namespace, name: workload, container });
    if (log.includes('ready')) return;
    if (left === 0) throw new Error(`${workload} does not say that it is ready: ${log}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function record(namespace: string, workload: string): Promise<Record<string, Recorded>> {
  await kube.pod(namespace, workload, specOf(workload));
  await ready(namespace, workload);
  const made: Record<string, Recorded> = {};
  const target = CONTAINERS[workload] ?? 'app';
  for (const image of RECORDED_IMAGES) {
    for (const user of image === 'net' ? [OWNER] : [OWNER, STRANGER]) {
      const key = `${image}-${workload}${user === OWNER ? '' : '-stranger'}`;
      const container = await looks.start(namespace, workload, {
        image: `localhost/${image}:1`,
        target,
        env: { KDEBUG_RUN: 'recorded', KDEBUG_TARGET: target, ...SETTINGS[image] },
        securityContext: { ...restricted(user), readOnlyRootFilesystem: true },
      });
      const { state, log } = await looks.ended(namespace, workload, container);
      writeFileSync(new URL(`${key}.log`, FOLDER), log);
      made[key] = { exitCode: state.exitCode, termination: state.message ?? '' };
      console.log(`${key}: ${log.length} characters`);
    }
  }
  return made;
}

const namespace = await kube.namespace('kdebug-record', 'restricted');
try {
  const data = Object.fromEntries(
    readdirSync(fileURLToPath(SCRIPTS)).map((name) => [name, readFileSync(new URL(name, SCRIPTS), 'utf8')]),
  );
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'workloads' }, data } });
  const made = await Promise.all(Object.keys(CONTAINERS).map((workload) => record(namespace, workload)));
  const { gitVersion } = await config.makeApiClient(VersionApi).getCode();
  const images = Object.fromEntries(RECORDED_IMAGES.map((image) => [image, `kdebug-${image}:${VERSION}`]));
  const recorded = { date: new Date().toISOString().slice(0, 10), server: gitVersion, images };
  const runs = Object.fromEntries(made.flatMap((each) => Object.entries(each)).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(RECORDINGS, `${JSON.stringify({ recorded, runs }, null, 2)}\n`);
} finally {
  await kube.cleanUp();
}
