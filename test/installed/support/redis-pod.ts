import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { V1PodList } from '@kubernetes/client-node';
import { CLUSTER, kubectl, ROOT, run, signalContainer } from './commands.ts';
import { REDIS_NAMESPACE } from './pod-network.ts';

const PROGRAM = '/usr/bin/redis-server';
const IMAGE = 'localhost/redis:1';
const PASSWORD = 'p@ss/w:rd';

/** What the Secret's REDIS_URL is. */
export const REDIS_URL = `redis://kdebug:${encodeURIComponent(PASSWORD)}@redis.${REDIS_NAMESPACE}.svc:6379`;

/** Gives the cluster an image of Debian's Redis: the program and its libraries. */
export async function loadRedis(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-redis-image-'));
  try {
    const libraries = (await run('ldd', [PROGRAM])).match(/\/\S+/g) ?? [];
    for (const file of [PROGRAM, ...libraries]) {
      mkdirSync(join(directory, dirname(file)), { recursive: true });
      cpSync(file, join(directory, file), { dereference: true });
    }
    await run(join(CLUSTER, 'load-image'), [IMAGE, directory, PROGRAM], { env: { USER_ID: '65532' } });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The line of docs/redis.md that makes kdebug's user, as a line of Redis' configuration. */
function aclLine(): string {
  const line = /ACL SETUSER (kdebug on >PASSWORD .*)/.exec(readFileSync(join(ROOT, 'docs/redis.md'), 'utf8'))?.[1];
  if (line === undefined) throw new Error('docs/redis.md has no ACL line');
  return line.replace('PASSWORD', PASSWORD);
}

const manifests = (): string => `apiVersion: v1
kind: Namespace
metadata: { name: ${REDIS_NAMESPACE} }
---
apiVersion: v1
kind: Service
metadata: { name: redis, namespace: ${REDIS_NAMESPACE} }
spec:
  selector: { app: redis }
  ports: [{ port: 6379, targetPort: 6379 }]
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: redis, namespace: ${REDIS_NAMESPACE} }
spec:
  selector: { matchLabels: { app: redis } }
  strategy: { type: Recreate }
  template:
    metadata: { labels: { app: redis } }
    spec:
      terminationGracePeriodSeconds: 0
      automountServiceAccountToken: false
      containers:
        - name: redis
          image: ${IMAGE}
          imagePullPolicy: Never
          args: ${JSON.stringify(['--port', '6379', '--bind', '127.0.0.1', '--save', '', '--maxmemory-policy', 'noeviction', '--user', ...aclLine().split(' ')])}
`;

/** Redis in the cluster, with the user that the documents make. */
export const redisPod = {
  async install(): Promise<void> {
    await kubectl(['apply', '-f', '-'], { input: manifests() });
    await kubectl(['-n', REDIS_NAMESPACE, 'rollout', 'status', 'deployment/redis', '--timeout=60s']);
  },

  /** SIGSTOP: connections stay, nothing answers. */
  freeze: () => signal('SIGSTOP'),
  thaw: () => signal('SIGCONT'),

  async remove(): Promise<void> {
    await kubectl(['delete', 'namespace', REDIS_NAMESPACE, '--ignore-not-found', '--wait=false']);
  },
};

async function signal(name: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  const { items } = JSON.parse(await kubectl(['-n', REDIS_NAMESPACE, 'get', 'pods', '-o', 'json'])) as V1PodList;
  const id = items[0]?.status?.containerStatuses?.[0]?.containerID;
  if (id === undefined) throw new Error('Redis does not run');
  await signalContainer(id, name);
}
