import { afterEach, beforeEach, expect, it } from 'vitest';
import { ApiClient } from '../../../src/adapters/kubernetes/api/api-client.ts';
import { Connection } from '../../../src/adapters/kubernetes/api/connection.ts';
import { LAUNCH_TIMES, launch } from '../../../src/adapters/kubernetes/launch.ts';
import { readOriginal } from '../../../src/adapters/kubernetes/once-more.ts';
import { asRunId } from '../../../src/core/ids.ts';
import type { LaunchRequest } from '../../../src/flow/ports/cluster.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { json, rawPod, ScriptedApiServer } from './support/scripted-api-server.ts';

const PATCH = /^PATCH .*\/pods\/web\/ephemeralcontainers$/;
const READ = /^GET .*\/pods\/web$/;
const POD = { namespace: 'shop', name: 'web', uid: 'uid-web' };

const APP = {
  name: 'app',
  image: 'app:1',
  command: ['/app'],
  args: ['--db=$(DB_URL)'],
  workingDir: '/srv',
  env: [
    // The last of a name counts.
    { name: 'DB_URL', value: 'postgres://nobody' },
    { name: 'DB_URL', value: 'postgres://shop:sesame@db' },
    { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'shop', key: 'token' } } },
    { name: 'MEMORY', valueFrom: { resourceFieldRef: { resource: 'limits.memory' } } },
    { name: 'KDEBUG_RUN', value: 'forged' },
  ],
  envFrom: [{ prefix: 'SHOP_', configMapRef: { name: 'shop' } }, { secretRef: { name: 'db' } }],
  volumeMounts: [
    { name: 'data', mountPath: '/data' },
    { name: 'token', mountPath: '/token', readOnly: true },
    { name: 'settings', mountPath: '/etc/app.yaml', subPath: 'app.yaml' },
  ],
  volumeDevices: [{ name: 'disk', devicePath: '/dev/xvda' }],
  securityContext: { runAsUser: 1000 },
  resources: { limits: { memory: '1Gi' } },
  livenessProbe: { httpGet: { port: 80 } },
};

const REQUEST: LaunchRequest = {
  pod: POD,
  runId: asRunId('aaaaaaaaaa'),
  copyOf: { containerName: 'app', withoutEnv: ['TOKEN'] },
  container: {
    name: 'kdebug-abc',
    image: 'app@sha256:1',
    env: [{ name: 'KDEBUG_RUN', value: 'aaaaaaaaaa' }],
    terminationMessagePolicy: 'FallbackToLogsOnError',
  },
};

let server: ScriptedApiServer;
let connection: Connection;
const clock = new FakeClock();

beforeEach(async () => {
  server = new ScriptedApiServer();
  await server.start();
  const source = { cluster: { inCluster: false, default: true }, kubeconfigPath: server.kubeconfig() };
  connection = new Connection(source, clock);
});

afterEach(async () => {
  await connection.close();
  await server.stop();
  expect(server.unexpected).toEqual([]);
});

const client = () => new ApiClient(connection, '0', clock);
const launched = (request = REQUEST) =>
  launch({ client: client(), clock, random: () => 0, times: LAUNCH_TIMES }, request);
const pod = (parts: object = {}) => json(200, rawPod('web', { spec: { containers: [APP] }, ...parts }));

it('reads the names of what a container has, and no value', async () => {
  server.once(READ, pod());
  const original = await readOriginal(client(), POD, 'app');
  expect(original).toEqual({
    command: ['/app'],
    args: ['--db=$(DB_URL)'],
    variables: ['DB_URL', 'TOKEN', 'MEMORY'],
    sources: ['ConfigMap shop as SHOP_…', 'Secret db'],
    mounts: ['data at /data', 'token at /token (read-only)', 'disk as /dev/xvda'],
    unmountable: ['settings at /etc/app.yaml'],
  });
  expect(JSON.stringify(original)).not.toContain('sesame');
});

it('says what a mount is and what a projected one holds, first of all what outlives the pod, then secrets', async () => {
  const volumes = [
    { name: 'settings', configMap: { name: 'shop' } },
    { name: 'token', secret: { secretName: 'db' } },
    { name: 'data', persistentVolumeClaim: { claimName: 'shop-data' } },
    { name: 'share', nfs: { server: 'files', path: '/x' } },
    { name: 'log', hostPath: { path: '/var/log' } },
    { name: 'tmp', emptyDir: {} },
    {
      name: 'all',
      projected: {
        sources: [
          { configMap: { name: 'ca' } },
          { downwardAPI: {} },
          { secret: { name: 'db' } },
          { serviceAccountToken: { path: 'vault', audience: 'vault' } },
          { serviceAccountToken: { path: 'token' } },
        ],
      },
    },
  ];
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  server.once(READ, pod({ spec: { volumes, containers: [{ name: 'app', image: 'app:1', volumeMounts }] } }));
  expect((await readOriginal(client(), POD, 'app'))?.mounts).toEqual([
    'log (hostPath /var/log) at /log',
    'data (PersistentVolumeClaim shop-data) at /data',
    'share (nfs) at /share',
    'token (Secret db) at /token',
    'all (Secret db, token for vault, token for the API server, ConfigMap ca) at /all',
    'settings (ConfigMap shop) at /settings',
    'tmp at /tmp',
  ]);
});

it('starts it by other words, with one volume more, where a tracer is to start it', async () => {
  server.once(READ, pod());
  server.once(PATCH, (request, response) => {
    const { spec } = request.body as { spec: object };
    json(200, rawPod('web', { spec }))(request, response);
  });
  const startedBy = {
    words: ['/.kdebug/kdebug-abc', 'once-more', '--'],
    mount: { name: 'tmp', mountPath: '/.kdebug' },
  };
  const copyOf = { containerName: 'app', withoutEnv: [], startedBy };
  expect(await launched({ ...REQUEST, copyOf })).toMatchObject({ kind: 'launched' });
  const patch = server.requests.find(({ method }) => method === 'PATCH')?.body as {
    spec: { ephemeralContainers: [Record<string, unknown>] };
  };
  const [container] = patch.spec.ephemeralContainers;
  expect(container.command).toEqual([...startedBy.words, '/app', '--db=$(DB_URL)']);
  expect(container).not.toHaveProperty('args');
  expect(container.volumeMounts).toEqual([...APP.volumeMounts.slice(0, 2), startedBy.mount]);
});

it('names an emptyDir of the pod that a tracer can be copied into', async () => {
  const volumes = [{ name: 'tmp', emptyDir: {} }];
  server.once(READ, pod({ spec: { volumes, containers: [APP] } }));
  expect(await readOriginal(client(), POD, 'app')).toHaveProperty('emptyDir', 'tmp');
});

it('finds nothing where the container or the pod is not there', async () => {
  server.once(READ, pod());
  expect(await readOriginal(client(), POD, 'db')).toBeUndefined();
  server.once(READ, json(404, { kind: 'Status' }));
  expect(await readOriginal(client(), POD, 'app')).toBeUndefined();
});

it('launches with all that an ephemeral container may have of it, but what is to be left out', async () => {
  server.once(READ, pod());
  server.once(PATCH, (request, response) => {
    const { spec } = request.body as { spec: object };
    json(200, rawPod('web', { spec }))(request, response);
  });
  expect(await launched()).toMatchObject({ kind: 'launched' });
  const patch = server.requests.find(({ method }) => method === 'PATCH')?.body;
  expect(patch).toHaveProperty('spec.ephemeralContainers', [
    {
      ...REQUEST.container,
      command: APP.command,
      args: APP.args,
      workingDir: '/srv',
      env: [
        APP.env[1],
        {
          name: 'MEMORY',
          valueFrom: { resourceFieldRef: { resource: 'limits.memory', containerName: 'app' } },
        },
        { name: 'KDEBUG_RUN', value: 'aaaaaaaaaa' },
      ],
      envFrom: APP.envFrom,
      volumeMounts: APP.volumeMounts.slice(0, 2),
      volumeDevices: APP.volumeDevices,
      securityContext: APP.securityContext,
    },
  ]);
});

it.each([
  ['the pod is gone', json(404, { kind: 'Status' }), { kind: 'pod-gone' }],
  ['another pod has its name', pod({ uid: 'uid-other' }), { kind: 'pod-replaced' }],
  [
    'the container is not there',
    json(200, rawPod('web', { spec: { containers: [] } })),
    { kind: 'refused', by: 'validation' },
  ],
])('launches nothing when %s', async (_, answer, result) => {
  server.once(READ, answer);
  expect(await launched()).toMatchObject(result);
});
