import { describe, expect, it } from 'vitest';
import { aStatus } from '../../../support/builders.ts';
import { answer, at, CALM, podOf, rising, unscheduled, warning, withStatus } from './facts.ts';

const waits = (reason: string, message: string, spec = {}) => ({
  pod: withStatus({ waiting: { reason, message } }, spec, 'Pending'),
});

describe('a pod that no node can run', () => {
  const container = (parts: object) => ({ containers: [{ ...CALM, ...parts }] });

  it.each([
    [
      '0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
      container({ cpuRequest: '64' }),
      'no node can run the pod: it asks for more than any node has: it requests 64 CPU',
    ],
    [
      '0/3 nodes are available: 3 Insufficient memory. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.',
      container({ memoryRequest: '900Mi' }),
      'no node can run the pod: no node has that much free: it requests 900 MiB of memory',
    ],
    [
      "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
      { nodeSelector: { disktype: 'ssd' } },
      'no node can run the pod: no node has the label disktype=ssd of its node selector',
    ],
    [
      '0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient cpu. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
      container({ cpuRequest: '500m' }),
      'no node can run the pod: no node has that much free: it requests 500m CPU; on others, its nodes have a taint that it does not tolerate: node-role.kubernetes.io/control-plane',
    ],
    [
      "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints.",
      {},
      'no node can run the pod: its topologySpreadConstraints allow no node',
    ],
    [
      '0/1 nodes are available: 1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
      { claims: ['orders'] },
      'no node can run the pod: its claim orders is for one pod at a time, and another pod uses it',
    ],
    [
      '0/1 nodes are available: 1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod.',
      { claims: ['orders', 'shared'] },
      'no node can run the pod: one of its claims orders and shared is for one pod at a time, and another pod uses it',
    ],
    ['no nodes available to schedule pods', {}, 'no node can run the pod: the cluster has no node'],
    ['0/1 nodes are available: 1 something new.', {}, 'no node can run the pod: “1 something new”'],
  ])('says of %s why', (message, spec, line) => {
    expect(answer({ pod: unscheduled(message, spec) })).toMatchObject({ line, codes: ['not_scheduled'], rank: 1 });
  });

  it('names the gates that it waits for', () => {
    const pod = unscheduled('Scheduling is blocked due to non-empty scheduling gates', {
      schedulingGates: ['kueue.x-k8s.io/admission'],
    });
    const unmetConditions = pod.status.unmetConditions?.map((each) => ({ ...each, reason: 'SchedulingGated' })) ?? [];
    const { line, next } = answer({ pod: { ...pod, status: { ...pod.status, unmetConditions } } });
    expect(line).toBe('the pod waits: it has the scheduling gate kueue.x-k8s.io/admission');
    expect(next).toContain('Whoever set the gates');
  });

  it('names the label over which its pods must be spread', () => {
    const spec = { spreadKeys: ['example.com/rack'] };
    const why = "0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints";
    expect(answer({ pod: unscheduled(`${why} (missing required label).`, spec) }).line).toBe(
      'no node can run the pod: no node has the label example.com/rack over which its pods must be spread',
    );
    expect(answer({ pod: unscheduled(`${why}.`, spec) }).line).toBe(
      'no node can run the pod: its topologySpreadConstraints example.com/rack allow no node',
    );
  });

  it('counts what the containers request together, or the largest init container', () => {
    const message = '0/1 nodes are available: 1 Insufficient cpu.';
    const two = {
      containers: [
        { ...CALM, cpuRequest: '1' },
        { ...CALM, name: 'b', cpuRequest: '1500m' },
      ],
    };
    expect(answer({ pod: unscheduled(message, two) }).line).toContain('it requests 2.5 CPU');
    const init = { ...two, initContainers: [{ ...CALM, name: 'big', cpuRequest: '8' }] };
    expect(answer({ pod: unscheduled(message, init) }).line).toContain('it requests 8 CPU');
  });

  it('is no finding once it has a node, nor while it is deleted', () => {
    const pod = unscheduled('0/1 nodes are available: 1 Insufficient cpu.');
    expect(answer({ pod: { ...pod, spec: { ...pod.spec, nodeName: 'node-a' } } }).codes).not.toContain('not_scheduled');
    const metadata = { ...pod.metadata, deletionTimestamp: at(10_000) };
    expect(answer({ pod: { ...pod, metadata } }).codes).toEqual(
      ['being_deleted', 'no_memory_limit', 'no_requests'].slice(0, 1),
    );
  });
});

describe('a claim without a volume', () => {
  const UNBOUND = '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.';
  const pod = unscheduled(UNBOUND, { claims: ['data'] });
  const claim = { name: 'data', phase: 'Pending', requested: '5Gi' };

  it('comes before the pod that waits for it, with the StorageClass that does not exist', () => {
    const classMissing = {
      ...warning('ProvisioningFailed', 'storageclass.storage.k8s.io "fast" not found'),
      involved: { kind: 'PersistentVolumeClaim', name: 'data' },
    };
    const line = 'the claim data has no volume: the StorageClass fast does not exist';
    expect(answer({ pod, warnings: [classMissing] })).toMatchObject({
      line,
      codes: ['claim_unbound', 'not_scheduled'],
    });
    const claims = [{ ...claim, storageClass: 'fast' }];
    const found = answer({ pod, claims, storageClasses: ['slow', 'cheap'] });
    expect(found.line).toBe(line);
    expect(found.next).toContain('slow or cheap');
    expect(answer({ pod, claims, storageClasses: ['fast'] }).line).toBe(
      'the claim data (5Gi) has no volume: its StorageClass fast has made none yet',
    );
  });

  it('names the missing default class, and a claim that does not exist', () => {
    expect(answer({ pod, claims: [claim] }).line).toMatch(/names no StorageClass, the cluster has no default one/);
    expect(answer({ pod, claims: [] }).line).toBe('the pod’s claim data does not exist');
  });

  it('is normal where its class waits for the pod, which waits for something else', () => {
    const waiting = unscheduled('0/1 nodes are available: 1 Insufficient cpu.', { claims: ['data'] });
    const claims = [{ ...claim, storageClass: 'late' }];
    expect(answer({ pod: waiting, claims, storageClasses: ['late'] }).codes).toEqual(['not_scheduled']);
  });
});

describe('an image that is not pulled', () => {
  const of = (reason: string, message: string, image = 'registry.example.com/app:2') =>
    answer(waits(reason, message, { image }));

  it.each([
    [
      'failed to resolve reference "registry.example.com/app:2": registry.example.com/app:2: not found',
      'does not exist: there is no such name or tag',
    ],
    [
      'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
      'the registry wants a login',
    ],
    [
      'failed to do request: Head "https://registry.example.com/v2/app/manifests/2": dial tcp: lookup registry.example.com on 10.0.0.10:53: no such host',
      'its registry’s name is not known',
    ],
    [
      'failed to do request: Head "https://registry.example.com/v2/": dial tcp 192.0.2.1:443: i/o timeout',
      'its registry does not answer',
    ],
    ['failed to do request: x509: certificate signed by unknown authority', 'the node does not trust its registry'],
    ['toomanyrequests: You have reached your pull rate limit', 'the registry limits how often it may be pulled'],
    ['no match for platform in manifest: not found', 'no variant for the node’s processor'],
  ])('says of %s why', (words, why) => {
    const message = `Back-off pulling image "registry.example.com/app:2": ErrImagePull: rpc error: code = Unknown desc = failed to pull and unpack image "registry.example.com/app:2": ${words}`;
    const found = of('ImagePullBackOff', message);
    expect(found.line).toContain('web cannot start: its image registry.example.com/app:2 ');
    expect(found.line).toContain(why);
    expect(found.codes).toEqual(['image_not_pulled']);
  });

  it('takes the reason from the event where the state has none, and names a missing pull Secret', () => {
    const pod = waits('ImagePullBackOff', 'Back-off pulling image "app:2"', { image: 'app:2' }).pod;
    const failed = warning(
      'Failed',
      'Failed to pull image "app:2": rpc error: code = Unknown desc = 401 Unauthorized',
      {
        fieldPath: 'spec.containers{web}',
      },
    );
    expect(answer({ pod, events: [failed] }).line).toContain('the registry wants a login');
    const secret = warning(
      'FailedToRetrieveImagePullSecret',
      'Unable to retrieve some image pull secrets (regcred); attempting to pull the image may not succeed.',
    );
    expect(answer({ pod, events: [failed, secret] }).line).toContain(
      'the Secret regcred for its registry does not exist',
    );
  });

  it('shows enough of a digest to know it, and how one is written', () => {
    const digest = `registry.example.com/app@sha256:${'ab'.repeat(32)}`;
    expect(of('ImagePullBackOff', 'not found', digest).line).toContain(
      'registry.example.com/app@sha256:abababababab… ',
    );
    expect(of('InvalidImageName', 'x', 'app@sha256:0f1e').next).toContain('64 digits');
    expect(of('InvalidImageName', 'x', 'App:2').next).toContain('lower case');
  });

  it('knows an invalid name, and one that may not be pulled', () => {
    expect(of('InvalidImageName', "couldn't parse image name", 'App:2').line).toContain(
      'its image App:2 is not a valid image name',
    );
    expect(of('ErrImageNeverPull', 'x', 'app:2').line).toContain('imagePullPolicy: Never');
  });
});

describe('a configuration that is not there', () => {
  it.each([
    ['secret "db" not found', 'the Secret db does not exist'],
    ['configmap "settings" not found', 'the ConfigMap settings does not exist'],
    ["couldn't find key password in Secret shop/db", 'the Secret db has no key password'],
    ["couldn't find key mode in ConfigMap shop/settings", 'the ConfigMap settings has no key mode'],
  ])('is named: %s', (message, what) => {
    const found = answer(waits('CreateContainerConfigError', message));
    expect(found).toMatchObject({ line: `web cannot start: ${what}`, codes: ['config_missing'] });
    expect(found.next).toMatch(/^(Create|Add the key)/);
  });

  it.each([
    ['MountVolume.SetUp failed for volume "tls" : secret "web-tls" not found', 'the Secret web-tls does not exist'],
    [
      'MountVolume.SetUp failed for volume "cfg" : references non-existent config key: app.yaml',
      'the ConfigMap of the volume cfg has no key app.yaml',
    ],
  ])('is named of a volume while nothing has run: %s', (message, what) => {
    const events = [warning('FailedMount', message, { count: 4 })];
    expect(answer({ pod: rising(), events })).toMatchObject({
      line: `the pod cannot start: ${what}`,
      codes: ['config_missing'],
    });
    expect(answer({ events }).rank).not.toBe(1);
  });

  it('tells root apart, and gives its hint there alone', () => {
    const root = answer(
      waits(
        'CreateContainerConfigError',
        'container has runAsNonRoot and image will run as root (pod: "x", container: web)',
      ),
    );
    expect(root).toMatchObject({
      line: 'web cannot start: runAsNonRoot is set, and its image runs as root',
      codes: ['run_as_non_root'],
    });
    const named = answer(
      waits(
        'CreateContainerConfigError',
        'container has runAsNonRoot and image has non-numeric user (nginx), cannot verify user is non-root',
      ),
    );
    expect(named.line).toContain('its image’s user nginx is a name');
    expect(answer(waits('CreateContainerConfigError', 'secret "db" not found')).next).not.toMatch(/\broot\b/i);
  });

  it('quotes what it does not know', () => {
    expect(answer(waits('CreateContainerConfigError', 'something new'))).toMatchObject({
      line: 'web cannot start: “something new”',
      codes: ['not_starting'],
    });
  });
});

describe('a container that cannot start', () => {
  it('is told with its hook, what the hook says and its code', () => {
    const message = `Exec lifecycle hook ([sh -c x]) for Container "web" in Pod "web-1_shop(u-1)" failed - error: command 'sh -c x' exited with 3: , message: "registering\\ncannot register at consul:8500\\n"`;
    expect(answer(waits('PostStartHookError', message))).toMatchObject({
      line: 'web is killed because its postStart hook fails with code 3: “cannot register at consul:8500”',
      next: expect.stringContaining('postStart hook of web'),
    });
    expect(answer(waits('PostStartHookError', 'Http lifecycle hook failed')).line).toContain(
      '“Http lifecycle hook failed”',
    );
  });

  it('is told with the profile that its node does not have, and not as a wrong command', () => {
    const message =
      'failed to create containerd container: cannot load seccomp profile "/var/lib/kubelet/seccomp/profiles/web.json": open /var/lib/kubelet/seccomp/profiles/web.json: no such file or directory';
    expect(answer(waits('CreateContainerError', message))).toMatchObject({
      line: 'web cannot start: its node has no seccomp profile profiles/web.json',
      codes: ['not_starting'],
    });
  });
});

describe('a command that cannot run', () => {
  const message = `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "wgett": executable file not found in $PATH`;
  const lastTermination = {
    exitCode: 128,
    reason: 'StartError',
    message,
    startedAt: at(-9_000),
    finishedAt: at(-9_000),
  };

  it('is quoted without the runtime’s prefixes, also between two tries', () => {
    const line = 'web cannot start: “exec: "wgett": executable file not found in $PATH”';
    expect(answer(waits('RunContainerError', message))).toMatchObject({ line, codes: ['wrong_command'] });
    const waiting = { reason: 'CrashLoopBackOff', message: 'back-off' };
    expect(answer({ pod: withStatus({ waiting, restartCount: 3, lastTermination }) })).toMatchObject({
      line,
      codes: ['wrong_command'],
    });
  });

  it('never shows an id of 64 digits', () => {
    const id = 'a1'.repeat(32);
    expect(
      answer(waits('CreateContainerError', `failed to reserve container name "web": name is reserved for "${id}"`))
        .line,
    ).not.toContain(id);
  });

  it('is a limit too small where the runtime ran out of memory', () => {
    const oom =
      'runc create failed: unable to start container process: container init was OOM-killed (memory limit too low?)';
    const found = answer(waits('RunContainerError', oom, { memoryLimit: '4Mi' }));
    expect(found).toMatchObject({
      line: 'web cannot start: its memory limit of 4Mi is too small even to start in',
      codes: ['too_small_to_start'],
    });
  });
});

describe('a container that finds no memory to start in, beside volumes in memory', () => {
  const OOM = 'runc create failed: unable to start container process: container init was OOM-killed';
  const of = (memoryLimit: string) => {
    const { pod } = waits('RunContainerError', OOM, { memoryLimit });
    return answer({ pod: { ...pod, spec: { ...pod.spec, memoryVolumes: ['cache'] } } });
  };

  it('may lack what their files hold, which a new start does not free', () => {
    const { line, next } = of('32Mi');
    expect(line).toBe('web cannot start: its memory limit of 32Mi leaves no room even to start in');
    expect(next).toContain('Or files of its volume cache (medium Memory) fill it: a new pod begins without them.');
  });

  it('has too small a limit where nothing could start in that', () => {
    expect(of('4Mi').line).toContain('4Mi is too small even to start in');
  });
});

describe('limits too small to start in', () => {
  const of = (parts: object, ageMs: number) => {
    const pod = rising({ containers: [{ ...CALM, ...parts }] });
    return answer({ pod: { ...pod, metadata: { ...pod.metadata, creationTimestamp: at(-ageMs) } } }).codes;
  };

  it('are told after 20 s, below 100m of CPU', () => {
    expect(of({ cpuLimit: '10m' }, 21_000)).toContain('too_small_to_start');
    expect(of({ cpuLimit: '10m' }, 20_000)).not.toContain('too_small_to_start');
    expect(of({ cpuLimit: '100m' }, 21_000)).not.toContain('too_small_to_start');
  });

  it('are told below 16 MiB of memory', () => {
    expect(of({ memoryLimit: '15Mi' }, 21_000)).toContain('too_small_to_start');
    expect(of({ memoryLimit: '16Mi' }, 21_000)).not.toContain('too_small_to_start');
  });
});

describe('a volume that cannot be used', () => {
  it('is a folder that the node does not have', () => {
    const message =
      'MountVolume.SetUp failed for volume "data" : hostPath type check failed: /srv/x is not a directory';
    expect(answer({ pod: rising(), events: [warning('FailedMount', message)] })).toMatchObject({
      line: expect.stringContaining('/srv/x is not a directory'),
      next: expect.stringMatching(/^Create that path on the node/),
    });
  });

  const multi = 'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) db-0';

  it('is told while the pod is being set up, for ten minutes', () => {
    expect(answer({ pod: rising(), events: [warning('FailedAttachVolume', multi)] })).toMatchObject({
      line: 'the pod cannot start: the volume pvc-1 cannot be attached: it is in use by db-0 on another node',
      codes: ['volume_not_attached'],
    });
    const old = warning('FailedAttachVolume', multi, { atMs: Date.parse(at(-601_000)) });
    expect(answer({ pod: rising(), events: [old] }).codes).not.toContain('volume_not_attached');
  });

  it('says the reason rather than the timeout', () => {
    const timeout = warning(
      'FailedMount',
      'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[]: timed out waiting for the condition',
    );
    expect(answer({ pod: rising(), events: [timeout] }).line).toContain(
      'the volume data cannot be mounted: its driver does not answer in time',
    );
    const reason = warning('FailedMount', 'MountVolume.SetUp failed for volume "data" : mount failed: exit status 32', {
      atMs: Date.parse(at(-9_000)),
    });
    expect(answer({ pod: rising(), events: [timeout, reason] }).line).toContain(
      'the volume data cannot be mounted: “mount failed: exit status 32”',
    );
  });

  it('is not told once the pod runs: it has healed', () => {
    expect(answer({ events: [warning('FailedMount', 'x')] }).codes).toEqual([]);
  });
});

it('says that the node cannot set the pod up', () => {
  const events = [
    warning(
      'FailedCreatePodSandBox',
      'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "x": plugin type="calico" failed (add)',
    ),
  ];
  expect(answer({ pod: rising(), events })).toMatchObject({
    codes: ['sandbox_failing'],
    line: expect.stringContaining('calico'),
  });
  expect(
    answer({
      pod: podOf({ status: { containerStatuses: [aStatus({ ready: true, running: { startedAt: at(-9_000) } })] } }),
      events,
    }).rank,
  ).toBeUndefined();
});

it('says nothing of how the node’s own DNS is set', () => {
  const events = ['MissingClusterDNS', 'DNSConfigForming'].map((reason) =>
    warning(reason, 'Nameserver limits exceeded'),
  );
  expect(answer({ pod: rising(), events }).line).not.toContain('Nameserver');
  expect(answer({ events }).codes).toEqual([]);
});

it.each([
  'failed to sync configmap cache: timed out waiting for the condition',
  'failed to sync secret cache: timed out waiting for the condition',
  'object "shop"/"kube-root-ca.crt" not registered',
])('blames no volume while the node still reads what belongs in it: %s', (message) => {
  const mount = (why: string) => warning('FailedMount', `MountVolume.SetUp failed for volume "access" : ${why}`);
  expect(answer({ pod: rising(), events: [mount('no such device')] }).codes).toContain('volume_not_mounted');
  expect(answer({ pod: rising(), events: [mount(message)] }).codes).not.toContain('volume_not_mounted');
});
