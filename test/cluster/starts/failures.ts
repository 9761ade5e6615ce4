import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1Container, V1PodSpec } from '@kubernetes/client-node';

const PROGRAMS = join(import.meta.dirname, '../images/starts/programs');

/** The name of the ConfigMap with the programs and the configurations (`images/starts/programs`). */
export const PROGRAMS_MAP = 'programs';
export const programs = (): Record<string, string> =>
  Object.fromEntries(readdirSync(PROGRAMS).map((name) => [name, readFileSync(join(PROGRAMS, name), 'utf8')]));

/** A start that fails, of a real program. */
export interface StartFailure {
  readonly name: string;
  readonly what: string;
  readonly spec: V1PodSpec;
  /** What the first two lines must say. */
  readonly truth: RegExp;
}

const SHOP = 10001;

function podOf(app: Partial<V1Container>, more: Partial<V1PodSpec> = {}): V1PodSpec {
  const { image = '', volumeMounts = [], ...rest } = app;
  const securityContext = { runAsUser: SHOP, runAsGroup: SHOP };
  const container = {
    name: 'app',
    image: `localhost/${image}:1`,
    imagePullPolicy: 'IfNotPresent',
    securityContext,
    volumeMounts: [{ name: PROGRAMS_MAP, mountPath: '/etc/app' }, ...volumeMounts],
    ...rest,
  };
  const { volumes = [], ...others } = more;
  return {
    terminationGracePeriodSeconds: 1,
    ...others,
    containers: [container],
    volumes: [{ name: PROGRAMS_MAP, configMap: { name: PROGRAMS_MAP } }, ...volumes],
  };
}

/** Up before the program starts. */
const neighbour = (image: string, ...command: string[]): V1Container => ({
  name: 'neighbour',
  restartPolicy: 'Always',
  image: `localhost/${image}:1`,
  imagePullPolicy: 'IfNotPresent',
  command,
});

/** A volume that another user has written to. */
const ROOTS_VOLUME: Partial<V1PodSpec> = {
  volumes: [{ name: 'data', emptyDir: {} }],
  initContainers: [
    {
      name: 'owner',
      image: 'localhost/busybox:1',
      imagePullPolicy: 'IfNotPresent',
      command: ['chmod', '0755', '/var/lib/shop'],
      volumeMounts: [{ name: 'data', mountPath: '/var/lib/shop' }],
    },
  ],
};

export const START_FAILURES: readonly StartFailure[] = [
  {
    name: 'env',
    what: 'a missing environment variable (Python)',
    spec: podOf({ image: 'target-python', command: ['/usr/bin/python3', '/etc/app/settings.py'] }),
    truth: /KeyError: 'DATABASE_URL'/,
  },
  {
    name: 'config',
    what: 'a bad configuration file (Redis)',
    spec: podOf({ image: 'bed-redis', command: ['/usr/bin/redis-server', '/etc/app/redis.conf'] }),
    truth: /maxmemroy/,
  },
  {
    name: 'port',
    what: 'a port in use (nginx)',
    spec: podOf(
      { image: 'bed-nginx', command: ['/usr/sbin/nginx', '-e', 'stderr', '-c', '/etc/app/nginx.conf'] },
      { initContainers: [neighbour('busybox', 'httpd', '-f', '-p', '8080')] },
    ),
    truth: /0\.0\.0\.0:8080.*Address already in use/,
  },
  {
    name: 'library',
    what: 'a missing library (C)',
    spec: podOf({ image: 'target-starts', command: ['/app/linked'] }),
    truth: /libprice\.so\.2: cannot open shared object file/,
  },
  {
    name: 'processor',
    what: 'a program for another processor (Go)',
    spec: podOf({ image: 'target-starts', command: ['/app/shop-arm64'] }),
    truth: /exec format error/,
  },
  {
    name: 'permission',
    what: 'no permission on a volume (Java)',
    spec: podOf(
      {
        image: 'target-jvm',
        command: ['/usr/lib/jvm/java-17-openjdk-amd64/bin/java', '-Xmx48m', '-cp', '/app', 'Index'],
        volumeMounts: [{ name: 'data', mountPath: '/var/lib/shop' }],
      },
      ROOTS_VOLUME,
    ),
    truth: /AccessDenied.*\/var\/lib\/shop\/index\.lock/,
  },
  {
    name: 'memory',
    what: 'no memory left at start (Node.js)',
    spec: podOf({
      image: 'target-node',
      command: ['/usr/bin/node', '/etc/app/cache.cjs'],
      resources: { limits: { memory: '128Mi' } },
    }),
    truth: /out of memory.*128 MiB/,
  },
  {
    name: 'dns',
    what: 'a name that does not resolve (Node.js)',
    spec: podOf({ image: 'target-node', command: ['/usr/bin/node', '/etc/app/orders.cjs'] }),
    truth: /getaddrinfo E\w+ orders-db\.shop\.svc/,
  },
  {
    name: 'panic',
    what: 'a panic (Go)',
    spec: podOf({ image: 'target-starts', command: ['/app/shop-amd64'] }),
    truth: /panic: assignment to entry in nil map/,
  },
  {
    name: 'tls',
    what: 'a certificate that nobody knows (Python)',
    spec: podOf(
      { image: 'target-python', command: ['/usr/bin/python3', '/etc/app/rates.py'] },
      { initContainers: [neighbour('target-starts', '/app/shop-amd64', 'serve')] },
    ),
    truth: /certificate verify failed/,
  },
  {
    name: 'read-only',
    what: 'a read-only file system (PostgreSQL)',
    spec: podOf({
      image: 'bed-postgres',
      securityContext: { runAsUser: SHOP, runAsGroup: SHOP, readOnlyRootFilesystem: true },
    }),
    truth: /\/tmp\/data.*Read-only file system/,
  },
  {
    name: 'zero',
    what: 'a server that goes into the background (Redis)',
    spec: podOf({ image: 'bed-redis', command: ['/usr/bin/redis-server', '--daemonize', 'yes'] }),
    truth: /ended with exit code 0 .*\n.*background/,
  },
  {
    name: 'command',
    what: 'a command that its image lacks (Redis)',
    spec: podOf({ image: 'bed-redis', command: ['/usr/bin/redis-servr'] }),
    truth: /did not start.*redis-servr: no such file/,
  },
  {
    name: 'limit',
    what: 'a memory limit that the second run does not have (Node.js)',
    spec: podOf(
      {
        image: 'target-node',
        command: ['/usr/bin/node', '/etc/app/cache.cjs'],
        resources: { limits: { memory: '128Mi' } },
      },
      // Without a limit of its own, so that the pod has none.
      { initContainers: [neighbour('busybox', 'sleep', '3600')] },
    ),
    truth: /lack of memory at its limit of 128Mi/,
  },
];
