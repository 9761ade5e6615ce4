import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { viewPod } from '../../../src/adapters/kubernetes/pod-view.ts';

it('keeps what kdebug reads of a pod, and nothing else', () => {
  const pod = viewPod({
    metadata: {
      name: 'web-1',
      namespace: 'shop',
      uid: 'u1',
      resourceVersion: '7',
      creationTimestamp: '2026-01-01T00:00:00Z',
      deletionTimestamp: '2026-01-02T00:00:00Z',
      finalizers: ['example.com/hold'],
      labels: { app: 'web' },
      annotations: { 'kubectl.kubernetes.io/default-container': 'app', secret: 'x' },
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web', controller: true, uid: 'r' }],
      managedFields: [{}],
    },
    spec: {
      nodeName: 'n1',
      os: { name: 'linux' },
      nodeSelector: { 'kubernetes.io/os': 'linux', disk: 'ssd' },
      serviceAccountName: 'shop-bot',
      hostPID: true,
      hostNetwork: true,
      securityContext: { runAsUser: 1000, fsGroup: 5 },
      volumes: [
        { name: 'node', hostPath: { path: '/' } },
        { name: 'share', nfs: { server: 's', path: '/' } },
        { name: 'new', someKindOfTomorrow: {} },
        { name: 'own', emptyDir: {} },
        { name: 'data', persistentVolumeClaim: { claimName: 'data-0' } },
        { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } },
      ],
      containers: [
        {
          name: 'app',
          image: 'app:1',
          env: [{ name: 'PASSWORD', value: 'x' }],
          securityContext: {
            runAsNonRoot: true,
            privileged: true,
            procMount: 'Unmasked',
            capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
          },
          volumeMounts: ['own', 'node', 'data', 'new'].map((name) => ({ name, mountPath: `/${name}` })),
          volumeDevices: [{ name: 'share', devicePath: '/dev/x' }],
          resources: { limits: { memory: '128Mi', cpu: '500m' }, requests: { memory: '64Mi', cpu: '50m' } },
        },
      ],
      initContainers: [{ name: 'proxy', image: 'proxy:1', restartPolicy: 'Always' }],
      ephemeralContainers: [
        {
          name: 'kdebug-a',
          image: 'debian',
          env: [
            { name: 'KDEBUG_RUN', value: 'aaaaaaaaaa' },
            { name: 'KDEBUG_NOT_AFTER', value: '2026-01-01T00:02:00Z' },
            { name: 'KDEBUG_ONCE_MORE', value: 'app' },
          ],
        },
        {
          name: 'foreign',
          image: 'x',
          targetContainerName: 'app',
          securityContext: { privileged: true },
          volumeMounts: [{ name: 'node', mountPath: '/node' }],
          env: [{ name: 'KDEBUG_NOT_AFTER', value: 'soon' }],
        },
        { name: 'kdebug-b', image: 'diag', env: [{ name: 'KDEBUG_STOPS', value: 'aaaaaaaaaa' }] },
      ],
    },
    status: {
      phase: 'Running',
      message: 'why',
      conditions: [
        { type: 'Ready', status: 'False', reason: 'R', message: 'm'.repeat(2_000), lastTransitionTime: 't' },
        { type: 'PodScheduled', status: 'True' },
        { type: 'example.com/gate', status: 'False' },
        { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' },
      ],
      containerStatuses: [
        {
          name: 'app',
          image: 'app:1',
          imageID: 'sha256:1',
          restartCount: 2,
          ready: true,
          state: { running: { startedAt: '2026-01-01T00:00:01Z' } },
          lastState: {
            terminated: {
              exitCode: 137,
              signal: 9,
              reason: 'OOMKilled',
              message: 'm',
              startedAt: 's',
              finishedAt: 'f',
            },
          },
          user: { linux: { uid: 1000, gid: 0, supplementalGroups: [0] } },
        },
      ],
      ephemeralContainerStatuses: [
        { name: 'kdebug-a', ready: false, state: { waiting: { reason: 'ErrImagePull', message: 'no' } } },
        { name: 'foreign', state: {} },
      ],
    },
  });

  expect(pod).toEqual({
    metadata: {
      name: 'web-1',
      namespace: 'shop',
      uid: 'u1',
      resourceVersion: '7',
      creationTimestamp: '2026-01-01T00:00:00Z',
      deletionTimestamp: '2026-01-02T00:00:00Z',
      finalizers: ['example.com/hold'],
      labels: { app: 'web' },
      annotations: { 'kubectl.kubernetes.io/default-container': 'app' },
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web', controller: true }],
    },
    spec: {
      nodeName: 'n1',
      os: 'linux',
      nodeSelector: { disk: 'ssd', 'kubernetes.io/os': 'linux' },
      nodeSelectorOs: 'linux',
      serviceAccountName: 'shop-bot',
      claims: ['data-0', 'web-1-scratch'],
      shareProcessNamespace: false,
      hostPID: true,
      hostIPC: false,
      hostNetwork: true,
      securityContext: { runAsUser: 1000 },
      containers: [
        {
          name: 'app',
          image: 'app:1',
          securityContext: { runAsNonRoot: true, privileged: true, capabilities: ['NET_ADMIN'], unmaskedProc: true },
          sharedVolumes: [
            { name: 'node', kind: 'hostPath' },
            { name: 'new', kind: 'someKindOfTomorrow' },
            { name: 'share', kind: 'nfs' },
          ],
          memoryLimit: '128Mi',
          cpuLimit: '500m',
          memoryRequest: '64Mi',
          cpuRequest: '50m',
          hasRequests: true,
        },
      ],
      initContainers: [{ name: 'proxy', image: 'proxy:1', securityContext: {}, restartPolicy: 'Always' }],
      ephemeralContainers: [
        {
          name: 'kdebug-a',
          image: 'debian',
          runId: 'aaaaaaaaaa',
          fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
          notAfterMs: Date.UTC(2026, 0, 1, 0, 2),
          copyOf: 'app',
        },
        {
          name: 'foreign',
          image: 'x',
          targetContainerName: 'app',
          securityContext: { privileged: true },
          sharedVolumes: [{ name: 'node', kind: 'hostPath' }],
        },
        { name: 'kdebug-b', image: 'diag', fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/) },
      ],
    },
    status: {
      phase: 'Running',
      message: 'why',
      unmetConditions: [
        { type: 'Ready', reason: 'R', message: 'm'.repeat(1_000), since: 't' },
        { type: 'DisruptionTarget', reason: 'EvictionByEvictionAPI', message: '', since: '' },
      ],
      containerStatuses: [
        {
          name: 'app',
          image: 'app:1',
          imageID: 'sha256:1',
          restartCount: 2,
          ready: true,
          running: { startedAt: '2026-01-01T00:00:01Z' },
          lastTermination: {
            exitCode: 137,
            signal: 9,
            reason: 'OOMKilled',
            message: 'm',
            startedAt: 's',
            finishedAt: 'f',
          },
          user: { uid: 1000, gid: 0 },
        },
      ],
      initContainerStatuses: [],
      ephemeralContainerStatuses: [
        {
          name: 'kdebug-a',
          image: '',
          imageID: '',
          restartCount: 0,
          waiting: { reason: 'ErrImagePull', message: 'no' },
        },
        { name: 'foreign', image: '', imageID: '', restartCount: 0 },
      ],
    },
  });
});

it('keeps since when a pod is ready, and nothing where it is not, or is over', () => {
  const of = (status: string, phase = 'Running') =>
    viewPod({ status: { phase, conditions: [{ type: 'Ready', status, lastTransitionTime: 't' }] } }).status.readySince;
  expect(of('True')).toBe('t');
  expect(of('False')).toBeUndefined();
  expect(of('True', 'Failed')).toBeUndefined();
});

it('keeps no condition of a pod that is over: it is never ready again', () => {
  const conditions = [{ type: 'Ready', status: 'False', reason: 'PodCompleted' }];
  expect(viewPod({ status: { phase: 'Succeeded', conditions } }).status.unmetConditions).toBeUndefined();
});

it('reads anything at all without throwing', () => {
  const keys = fc.constantFrom(
    'metadata',
    'spec',
    'status',
    'containers',
    'state',
    'name',
    'labels',
    'terminated',
    'user',
    'linux',
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ maxDepth: 5 }, fc.jsonValue(), fc.dictionary(keys, tie('tree')), fc.array(tie('tree'))),
  }));
  fc.assert(
    fc.property(tree, (raw) => {
      expect(viewPod(raw).status.containerStatuses).toBeInstanceOf(Array);
    }),
  );
});

it.each<[string, object, object]>([
  ['no /tmp', { securityContext: { readOnlyRootFilesystem: true } }, { hasReadOnlyTmp: true }],
  [
    'a /tmp',
    { securityContext: { readOnlyRootFilesystem: true }, volumeMounts: [{ name: 't', mountPath: '/tmp/' }] },
    {},
  ],
  [
    'a /tmp to read',
    {
      securityContext: { readOnlyRootFilesystem: true },
      volumeMounts: [{ name: 't', mountPath: '/tmp', readOnly: true }],
    },
    { hasReadOnlyTmp: true },
  ],
  [
    'a closed JVM',
    { env: [{ name: 'JAVA_TOOL_OPTIONS', value: '-Xmx1g -XX:+DisableAttachMechanism' }] },
    { disablesAttach: true },
  ],
  [
    'a closed JVM by its words',
    { command: ['sh', '-c', 'java -XX:+DisableAttachMechanism'] },
    { hasOwnCommand: true, disablesAttach: true },
  ],
  ['odd values', { env: [{ name: 'A', value: 5 }, null], command: 'sh' }, {}],
])('says what closes a container with %s to other images', (_, container, expected) => {
  const { containers } = viewPod({
    metadata: {},
    spec: { containers: [{ name: 'a', image: 'a:1', ...container }] },
  }).spec;
  expect(containers).toEqual([{ name: 'a', image: 'a:1', securityContext: {}, ...expected }]);
});

describe('viewPod reads what confines a container', () => {
  const view = (pod: object) => viewPod(pod).spec;
  const UNCONFINED = {
    seLinuxOptions: { type: 'spc_t', user: 'system_u', role: 'system_r', level: 's0' },
    appArmorProfile: { type: 'Unconfined' },
    seccompProfile: { type: 'Unconfined' },
  };
  const SEEN = {
    seLinux: { type: 'spc_t', user: 'system_u', role: 'system_r' },
    appArmor: 'Unconfined',
    seccomp: 'Unconfined',
  };
  const app = { name: 'app', image: 'app:1' };

  it('for the pod, and for each kind of container', () => {
    const own = [{ ...app, securityContext: UNCONFINED }];
    const spec = { securityContext: UNCONFINED, containers: own, initContainers: own, ephemeralContainers: own };
    expect(view({ spec })).toMatchObject({
      securityContext: SEEN,
      containers: [{ securityContext: SEEN }],
      initContainers: [{ securityContext: SEEN }],
      ephemeralContainers: [{ securityContext: SEEN }],
    });
  });

  it('and that a container sets the SELinux options anew', () => {
    const spec = { containers: [{ ...app, securityContext: { seLinuxOptions: {} } }] };
    expect(view({ spec }).containers[0]?.securityContext).toEqual({ seLinux: {} });
  });

  it.each([
    ['unconfined', 'Unconfined'],
    ['runtime/default', 'RuntimeDefault'],
    ['localhost/strict', 'Localhost'],
    ['of-tomorrow', 'Unconfined'],
  ])('from the AppArmor annotation %s, for the container that it names', (value, appArmor) => {
    const annotations = { 'container.apparmor.security.beta.kubernetes.io/app': value };
    const spec = { containers: [app, { ...app, name: 'app-2' }], ephemeralContainers: [app] };
    const { containers, ephemeralContainers } = view({ metadata: { annotations }, spec });
    expect(containers.map(({ securityContext }) => securityContext)).toEqual([{ appArmor }, {}]);
    expect(ephemeralContainers[0]?.securityContext).toEqual({ appArmor });
  });

  it('from the field before the annotation, as the kubelet does', () => {
    const annotations = { 'container.apparmor.security.beta.kubernetes.io/app': 'unconfined' };
    const spec = { containers: [{ ...app, securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }] };
    expect(view({ metadata: { annotations }, spec }).containers[0]?.securityContext).toEqual({
      appArmor: 'RuntimeDefault',
    });
  });
});

describe('of the probes of a container', () => {
  const probesOf = (container: object) => viewPod({ spec: { containers: [container] } }).spec.containers[0]?.probes;

  it('keeps how they ask, and the numbers that differ from the defaults', () => {
    const usual = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
    expect(
      probesOf({
        startupProbe: { ...usual, tcpSocket: { port: 'http' }, failureThreshold: 30 },
        livenessProbe: { ...usual, httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, initialDelaySeconds: 5 },
        readinessProbe: { ...usual, exec: { command: ['sh', '-c', 'x'.repeat(300)] }, timeoutSeconds: 2 },
      }),
    ).toEqual({
      startup: { by: 'tcp', port: 'http', failureThreshold: 30 },
      liveness: { by: 'http', port: 8080, path: '/healthz', initialDelaySeconds: 5 },
      readiness: { by: 'exec', command: `sh -c ${'x'.repeat(194)}`, timeoutSeconds: 2 },
    });
    expect(probesOf({ livenessProbe: { grpc: { port: 9000, service: '' }, periodSeconds: 60 } })).toEqual({
      liveness: { by: 'grpc', port: 9000, periodSeconds: 60 },
    });
  });

  it('drops one that asks in no known way', () => {
    expect(probesOf({ livenessProbe: { someWayOfTomorrow: {}, periodSeconds: 5 } })).toBeUndefined();
  });
});

it('keeps the labels over which the pods are spread', () => {
  const topologySpreadConstraints = [{ topologyKey: 'topology.kubernetes.io/zone', maxSkew: 1 }];
  expect(viewPod({ spec: { topologySpreadConstraints } }).spec.spreadKeys).toEqual(['topology.kubernetes.io/zone']);
  expect(viewPod({ spec: {} }).spec).not.toHaveProperty('spreadKeys');
});

it('keeps the names of its volumes in memory and of its scheduling gates', () => {
  const volumes = [
    { name: 'cache', emptyDir: { medium: 'Memory' } },
    { name: 'data', emptyDir: {} },
    { name: 'settings', configMap: { name: 'shop' } },
  ];
  const { spec } = viewPod({ spec: { volumes, schedulingGates: [{ name: 'kueue.x-k8s.io/admission' }] } });
  expect(spec).toMatchObject({ memoryVolumes: ['cache'], schedulingGates: ['kueue.x-k8s.io/admission'] });
  for (const field of ['memoryVolumes', 'schedulingGates'])
    expect(viewPod({ spec: {} }).spec).not.toHaveProperty(field);
});

it('keeps the ports of a container, and the names of those that have one', () => {
  const ports = [{ name: 'http', containerPort: 8080 }, { containerPort: 9090, protocol: 'UDP' }, {}];
  expect(viewPod({ spec: { containers: [{ name: 'app', ports }] } }).spec.containers[0]).toMatchObject({
    ports: [8080, 9090],
    portNames: ['http'],
  });
});

it('adds nothing to a pod that has none of them: a watch holds thousands', () => {
  const { metadata, spec } = viewPod({ metadata: { name: 'a' }, spec: { containers: [{ name: 'app', ports: [] }] } });
  expect(metadata).not.toHaveProperty('finalizers');
  for (const name of ['claims', 'serviceAccountName']) expect(spec).not.toHaveProperty(name);
  for (const name of ['ports', 'portNames', 'probes']) expect(spec.containers[0]).not.toHaveProperty(name);
});
