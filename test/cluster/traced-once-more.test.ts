import { readFileSync } from 'node:fs';
import { KubeConfig, type V1Container, type V1Pod, type V1PodSpec } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kube } from '../e2e/kube.ts';
import { SecondRuns } from '../e2e/second-runs.ts';
import { VICTIMS, type Victim } from './deaths/victims.ts';

const path = process.env.KUBECONFIG;
if (path === undefined) throw new Error('KUBECONFIG names no cluster: set it to the kubeconfig of a test cluster');
const kubeconfig = readFileSync(path, 'utf8');
const config = new KubeConfig();
config.loadFromString(kubeconfig);

/** Part of a victim's name, or `all`; without it, one of each kind. */
const ONLY = process.env.KDEBUG_TRACED;
const SAMPLE = ['SIGSEGV in another thread', '`exit(3)`', 'out of memory', 'Go: a panic', 'Python: an exception'];
const wanted = ONLY === undefined ? SAMPLE : [ONLY === 'all' ? '' : ONLY];
/** They wait for a line on their standard input, which no pod here has: C++ and Node.js then end without dying. What a probe ends cannot run once more. */
const LIVING = /^(?:C\+\+|Node\.js): /;
const victims = VICTIMS.filter(
  ({ name, probe }) => !probe && !LIVING.test(name) && wanted.some((part) => name.includes(part)),
);

/** Elsewhere, so that one of a branch can be judged too. */
const BLACKBOX = process.env.KDEBUG_TRACED_IMAGE ?? 'localhost/blackbox:1';
const IMAGES = `{ blackbox: { image: ${BLACKBOX}, class: intrusive, traces: true, diagnostic: true } }`;

const RESTRICTED: NonNullable<V1Container['securityContext']> = {
  runAsUser: 10_001,
  runAsGroup: 10_001,
  runAsNonRoot: true,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

/** The volume is for the tracer alone, or is where the program has its files. */
function podOf(app: Partial<V1Container>, mountPath?: string): V1PodSpec {
  const container = { name: 'app', imagePullPolicy: 'IfNotPresent', securityContext: RESTRICTED, ...app };
  const volumeMounts = mountPath === undefined ? [] : [{ name: 'scratch', mountPath }];
  return {
    terminationGracePeriodSeconds: 1,
    containers: [{ ...container, volumeMounts }],
    volumes: [{ name: 'scratch', emptyDir: {} }],
  };
}

const specOf = ({ image, command, memory }: Victim): V1PodSpec =>
  podOf(
    {
      image: `localhost/${image}:1`,
      command: [...command],
      resources: { limits: { memory, cpu: '1' }, requests: { memory: '16Mi', cpu: '1m' } },
    },
    // The JVM writes there.
    '/tmp',
  );

/** Dies without its variable, and without that does not end: neither by SIGTERM, nor its child. */
const STUBBORN = podOf({
  image: 'localhost/busybox:1',
  command: ['sh', '-c', 'test -z "$DIES" || exit 3; trap "" TERM; echo waiting for db; sleep 3600 & sleep 3600'],
  env: [{ name: 'DIES', value: 'yes' }],
});

/** Forges a report, and tries to get hold of its tracer. */
const HOSTILE = podOf({
  image: 'localhost/busybox:1',
  command: [
    'sh',
    '-c',
    [
      'echo \'{"kdebug":1,"verdict":"All is well.","findings":[]}\' >/dev/termination-log',
      'cat /proc/1/mem 2>/dev/null && echo read the tracer',
      'cat /proc/1/environ 2>/dev/null && echo read the tracer',
      'kill -9 1; kill -STOP 1; ls -a /.kdebug; echo no table orders; exit 4',
    ].join('\n'),
  ],
});

/** A word of `sh` that no image has. */
const MISSING = podOf({ image: 'localhost/busybox:1', command: ['/app/shop', '--port=8080'] });

const isDown = ({ status }: V1Pod): boolean =>
  /CrashLoopBackOff|RunContainerError/.test(status?.containerStatuses?.[0]?.state?.waiting?.reason ?? '');

const ownEndOf = ({ status }: V1Pod) => {
  const own = status?.containerStatuses?.[0];
  return own?.lastState?.terminated ?? own?.state?.terminated;
};

describe('a second run with a tracer', () => {
  const kube = new Kube(kubeconfig);
  let runs: SecondRuns;
  let namespace: string;

  beforeAll(async () => {
    namespace = await kube.namespace('kdebug-traced', 'restricted');
    const named = victims.map((victim, index) => [`victim-${index}`, specOf(victim)] as const);
    const others = [
      ['stubborn', STUBBORN],
      ['hostile', HOSTILE],
      ['missing', MISSING],
    ] as const;
    await Promise.all([...named, ...others].map(([name, spec]) => kube.pod(namespace, name, spec, () => true)));
    const scene = { kubeconfig, context: config.getCurrentContext(), transport: 'socket', longLogs: [] } as const;
    runs = await SecondRuns.open(scene, namespace, IMAGES);
  });

  afterAll(async () => {
    await runs?.bed.stop();
    await kube.cleanUp();
  });

  async function told(name: string, flags = '') {
    await kube.until(namespace, name, isDown);
    const { card, result, approvedAtMs, toldAtMs } = await runs.approved(`once-more ${name} -n ${namespace}${flags}`);
    const { spec, status } = await kube.read(namespace, name);
    const statusWith = (variable: string) => {
      const found = spec?.ephemeralContainers?.find(({ env = [] }) => env.some(({ name: each }) => each === variable));
      return status?.ephemeralContainerStatuses?.find((each) => each.name === found?.name)?.state?.terminated;
    };
    const lines = result.split('\n').filter((line) => line.trim() !== '');
    return {
      card,
      result,
      first: lines.slice(1, 3).join('\n'),
      carried: statusWith('KDEBUG_CARRIES'),
      ended: statusWith('KDEBUG_ONCE_MORE'),
      tookMs: toldAtMs - approvedAtMs,
    };
  }

  it.each(victims.map((victim, index) => ({ ...victim, index })))(
    'tells of $name',
    async ({ index, cause, atLeast }) => {
      const { card, first, carried, ended, tookMs } = await told(`victim-${index}`);
      // While the kubelet starts it again, the status names no end for a moment.
      const own = ownEndOf(await kube.until(namespace, `victim-${index}`, (pod) => ownEndOf(pod) !== undefined));
      console.log(`${(tookMs / 1000).toFixed(1)} s: ${first}`);
      expect(card).toContain('ends it after 1 min');
      expect(carried).toMatchObject({ exitCode: 0 });
      // A first process that calls abort() ends by SIGSEGV, or with 127.
      if (ended?.exitCode === 134) expect([127, 134, 139]).toContain(own?.exitCode);
      else expect(ended?.exitCode).toBe(own?.exitCode);
      if (atLeast) expect(first).toMatch(/was killed .*: out of memory, at its pod’s limit of 64 MiB/);
      expect(first).toMatch(atLeast ? new RegExp(`${cause.source}|${atLeast.source}`) : cause);
    },
  );

  it('ends at its time what ignores SIGTERM, with all its children', async () => {
    const { first, result, ended } = await told('stubborn', ' --without-env=DIES --timeout=3s');
    expect(first).toContain('app without DIES was still running after 3 s: “waiting for db”');
    expect(first).toContain('was ended');
    expect(result).not.toContain('goes on until');
    expect(ended).toMatchObject({ exitCode: 124 });
    const lastedMs = Number(ended?.finishedAt?.getTime()) - Number(ended?.startedAt?.getTime());
    expect(lastedMs).toBeGreaterThanOrEqual(3_000);
    expect(lastedMs).toBeLessThan(30_000);
  });

  it('believes nothing that the program wrote, which cannot touch its tracer', async () => {
    const { first, result, ended } = await told('hostile');
    expect(first).toContain('app ended with exit code 4');
    expect(first).toContain('“no table orders”');
    expect(result).not.toContain('All is well');
    expect(result).not.toContain('read the tracer');
    expect(ended?.message).toContain('exit code 4');
    // The tracer has deleted its file before the program began.
    expect(result).not.toContain('kdebug-');
  });

  it('says what the kernel did not start', async () => {
    const { first } = await told('missing');
    expect(first).toContain('app did not start: “exec');
    expect(first).toContain('/app/shop');
  });
});
