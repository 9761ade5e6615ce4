import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../cluster/index.ts';
import { Client, type Reply } from './client.ts';

const LEVEL = 'pod-security.kubernetes.io/';
const SAFE = {
  runAsUser: 65532,
  runAsNonRoot: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};
const good = (name: string) => ({ name, image: 'busybox:1', command: ['true'], securityContext: SAFE });

let cluster: LocalCluster;
let client: Client;

beforeAll(async () => {
  cluster = await startLocalCluster({ kubeletDelayMs: 0 });
  client = new Client(cluster);
  cluster.addPod({ name: 'p', namespace: 'shop', containers: [{ name: 'app', image: 'web', securityContext: SAFE }] });
  cluster.addPod({ name: 'clean' });
  const bad = { name: 'bad', image: 'busybox:1', command: ['true'], securityContext: { privileged: true } };
  await client.launch('p', [bad], { namespace: 'shop' });
});

afterEach(() => {
  cluster.webhooks.clear();
  cluster.addNamespace('shop');
});

afterAll(async () => {
  await client.close();
  await cluster.stop();
});

const dryRun = (pod: string, entry: object, namespace = 'default'): Promise<Reply> =>
  client.launch(pod, [entry], { namespace, query: '&dryRun=All' });

const label = (labels: object) =>
  client.call(
    'PATCH',
    '/api/v1/namespaces/shop',
    { metadata: { labels } },
    {
      'content-type': 'application/merge-patch+json',
    },
  );

const namesOf = (namespace: string, pod: string) =>
  (cluster.pod(namespace, pod)?.spec.ephemeralContainers ?? []).map(({ name }) => name);

describe('a pod poisoned by an older debug container', () => {
  it('refuses a container that conforms, naming the one that does not', async () => {
    await label({ [`${LEVEL}enforce`]: 'restricted' });
    const { status, json } = await dryRun('p', good('g'), 'shop');
    expect(status).toBe(403);
    expect(json.message).toBe(
      'pods "p" is forbidden: violates PodSecurity "restricted:latest": privileged (container "bad" must not set securityContext.privileged=true), allowPrivilegeEscalation != false (container "bad" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "bad" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "bad" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "bad" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    );
  });

  it('names old and new together, in the order of the pod', async () => {
    await label({ [`${LEVEL}enforce`]: 'baseline', [`${LEVEL}enforce-version`]: 'v1.30' });
    const entry = { name: 'm', image: 'x', securityContext: { capabilities: { add: ['SYS_PTRACE', 'NET_ADMIN'] } } };
    const privileged = { ...entry, securityContext: { privileged: true } };
    expect((await dryRun('p', entry, 'shop')).json.message).toBe(
      'pods "p" is forbidden: violates PodSecurity "baseline:v1.30": non-default capabilities (container "m" must not include "NET_ADMIN", "SYS_PTRACE" in securityContext.capabilities.add), privileged (container "bad" must not set securityContext.privileged=true)',
    );
    expect((await dryRun('p', privileged, 'shop')).json.message).toContain(
      'privileged (containers "m", "bad" must not',
    );
  });

  it('still takes a repeat and a label, for nothing new is in them', async () => {
    await label({ [`${LEVEL}enforce`]: 'restricted' });
    const again = cluster.pod('shop', 'p')?.spec.ephemeralContainers?.[0] ?? {};
    expect((await dryRun('p', { name: 'bad', ...again, resources: undefined }, 'shop')).status).toBe(200);
    const body = { metadata: { labels: { seen: 'yes' } } };
    const path = '/api/v1/namespaces/shop/pods/p/ephemeralcontainers?dryRun=All';
    const { status } = await client.call('PATCH', path, body, { 'content-type': 'application/merge-patch+json' });
    expect(status).toBe(200);
  });
});

describe('a namespace', () => {
  it('that only warns lets the pod in with a Warning header, and audit says nothing', async () => {
    await label({ [`${LEVEL}warn`]: 'baseline', [`${LEVEL}audit`]: 'restricted' });
    const { status, warnings } = await dryRun('p', good('g'), 'shop');
    expect([status, warnings]).toEqual([
      200,
      [
        '299 - "would violate PodSecurity \\"baseline:latest\\": privileged (container \\"bad\\" must not set securityContext.privileged=true)"',
      ],
    ]);
  });

  it('that refuses does not warn as well', async () => {
    await label({ [`${LEVEL}warn`]: 'restricted', [`${LEVEL}enforce`]: 'baseline' });
    const { status, warnings } = await dryRun('p', good('g'), 'shop');
    expect([status, warnings]).toEqual([403, []]);
  });

  it('of a level that does not exist is refused', async () => {
    const { status, json } = await label({ [`${LEVEL}enforce`]: 'strict' });
    expect([status, json.message]).toEqual([
      422,
      'Namespace "shop" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted',
    ]);
  });

  it('refuses what a pod takes from its node', async () => {
    const spec = {
      hostNetwork: true,
      hostPID: true,
      volumes: [
        { name: 'v', hostPath: { path: '/' } },
        { name: 'w', nfs: {} },
        { name: 'ok', emptyDir: {} },
      ],
      securityContext: { runAsUser: 0, seccompProfile: { type: 'Unconfined' } },
      containers: [{ ...good('c'), ports: [{ containerPort: 80, hostPort: 80 }] }],
    };
    const create = async (level: string) => {
      await label({ [`${LEVEL}enforce`]: level });
      const path = '/api/v1/namespaces/shop/pods?dryRun=All';
      const { json } = await client.call(
        'POST',
        path,
        { metadata: { name: 'n' }, spec },
        { 'content-type': 'application/json' },
      );
      return json.message;
    };
    expect(await create('baseline')).toBe(
      'pods "n" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true, hostPID=true), hostPath volumes (volume "v"), hostPort (container "c" uses hostPort 80), seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
    );
    expect(await create('restricted')).toBe(
      'pods "n" is forbidden: violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true, hostPID=true), hostPort (container "c" uses hostPort 80), restricted volume types (volumes "v", "w" use restricted volume types "hostPath", "nfs"), runAsUser=0 (pod must not set runAsUser=0), seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
    );
  });
});

describe('a webhook', () => {
  it.each([
    [{ deny: 'no debugging on Fridays' }, 400, undefined, 'denied the request: no debugging on Fridays'],
    [{ deny: '' }, 400, undefined, 'denied the request without explanation'],
    [{ deny: 'no', code: 403, reason: 'Forbidden' }, 403, 'Forbidden', 'denied the request: no'],
    [{ deny: '', reason: 'policy' }, 400, 'policy', 'denied the request: policy'],
  ])('refuses by %j', async (hook, code, reason, told) => {
    cluster.webhooks.add({ name: 'no-friday.example.com', ...hook });
    const { status, json } = await dryRun('clean', good('g'));
    expect([status, json.code, json.reason]).toEqual([code, code, reason]);
    expect(json.message).toBe(`admission webhook "no-friday.example.com" ${told}`);
  });

  it('with side effects cannot be asked in a dry run, but in earnest', async () => {
    const undo = cluster.webhooks.add({ name: 'counts.example.com', sideEffects: true, deny: 'no' });
    const dry = await dryRun('clean', good('g'));
    const real = await client.launch('clean', [good('g')]);
    expect([dry.status, dry.json.reason, dry.json.message]).toEqual([
      400,
      'BadRequest',
      'admission webhook "counts.example.com" does not support dry run',
    ]);
    expect(real.json.message).toBe('admission webhook "counts.example.com" denied the request: no');
    undo();
    expect((await dryRun('clean', good('g'))).status).toBe(200);
  });

  it('that nobody answers is an error of the server, with its words as the only cause', async () => {
    cluster.webhooks.add({ isUnreachable: true });
    const { status, json } = await dryRun('clean', good('g'));
    expect([status, json.reason]).toEqual([500, 'InternalError']);
    expect(json.message).toMatch(
      /^Internal error occurred: failed calling webhook "policy.example.com": failed to call/,
    );
    expect(json.details.causes).toHaveLength(1);
  });

  it('sees who asks and the pod as it would be, after validation and Pod Security', async () => {
    const seen: object[] = [];
    cluster.webhooks.add({
      match: ({ object, ...request }) => {
        seen.push({ ...request, containers: object.spec.ephemeralContainers?.map(({ name }) => name) });
        return false;
      },
    });
    await dryRun('clean', { ...good('E_0') });
    await dryRun('clean', good('g'));
    expect(seen).toEqual([
      {
        operation: 'UPDATE',
        resource: 'pods/ephemeralcontainers',
        namespace: 'default',
        name: 'clean',
        user: 'admin',
        isDryRun: true,
        containers: ['g'],
      },
    ]);
  });

  it('may warn and let pass', async () => {
    cluster.webhooks.add({ warnings: ['careful', 'very'] });
    const { status, warnings } = await dryRun('clean', good('g'));
    expect([status, warnings]).toEqual([200, ['299 - "careful"', '299 - "very"']]);
  });
});

describe('a dry run', () => {
  it('is refused by whoever refuses the real one, and changes nothing', async () => {
    const version = cluster.pod('default', 'clean')?.metadata.resourceVersion;
    const person = { 'impersonate-user': 'roy', 'content-type': 'application/merge-patch+json' };
    const path = '/api/v1/namespaces/default/pods/clean/ephemeralcontainers?dryRun=All';
    const authorized = await client.call('PATCH', path, {}, person);
    const validated = await dryRun('clean', { name: 'app', image: 'x' });
    const fine = await dryRun('clean', good('g'));
    expect([authorized.status, validated.status, fine.status]).toEqual([403, 422, 200]);
    expect(namesOf('default', 'clean')).toEqual([]);
    expect(cluster.pod('default', 'clean')?.metadata.resourceVersion).toBe(version);
  });

  it('of deletions, namespaces and labels changes nothing either', async () => {
    await client.call('DELETE', '/api/v1/namespaces/default/pods/clean', { dryRun: ['All'] });
    await client.call('DELETE', '/api/v1/namespaces/shop?dryRun=All');
    await client.call('POST', '/api/v1/namespaces?dryRun=All', { metadata: { name: 'dry' } });
    expect(cluster.pod('default', 'clean')?.metadata.deletionTimestamp).toBeUndefined();
    expect(
      (await client.get('/api/v1/namespaces')).json.items.map(
        (each: { metadata: { name: string } }) => each.metadata.name,
      ),
    ).toEqual(['default', 'shop']);
  });

  it.each([
    [
      'PATCH',
      '/pods/clean/ephemeralcontainers?dryRun=foo',
      '',
      'PatchOptions',
      'dryRun: Unsupported value: ["foo"]: supported values: "All"',
    ],
    [
      'POST',
      '/pods?dryRun=All&dryRun=no',
      '',
      'CreateOptions',
      'dryRun: Unsupported value: ["All","no"]: supported values: "All"',
    ],
    [
      'DELETE',
      '/pods/nope',
      '{"dryRun":["x"]}',
      'DeleteOptions',
      'dryRun: Unsupported value: ["x"]: supported values: "All"',
    ],
    [
      'PATCH',
      '/pods/clean/ephemeralcontainers?force=true',
      '',
      'PatchOptions',
      'force: Forbidden: may not be specified for non-apply patch',
    ],
    [
      'PATCH',
      '/pods/clean/ephemeralcontainers?fieldValidation=Bar',
      '',
      'PatchOptions',
      'fieldValidation: Unsupported value: "Bar": supported values: "", "Ignore", "Strict", "Warn"',
    ],
  ])('knows its options: %s %s', async (method, path, body, kind, told) => {
    const { status, json } = await client.call(method, `/api/v1/namespaces/default${path}`, body || undefined);
    expect([status, json.message]).toEqual([422, `${kind}.meta.k8s.io "" is invalid: ${told}`]);
    expect(json.details).toMatchObject({ group: 'meta.k8s.io', kind });
  });
});

it('a mutating webhook rewrites what is stored, and the same patch again is a forbidden change then', async () => {
  cluster.addPod({ name: 'rewritten' });
  cluster.webhooks.add({
    rewrite: (pod) => ({
      ...pod,
      spec: {
        ...pod.spec,
        ephemeralContainers: (pod.spec.ephemeralContainers ?? []).map((each) => ({
          ...each,
          image: 'mirror/busybox:1',
        })),
      },
    }),
  });
  expect((await client.launch('rewritten', [good('dbg')])).status).toBe(200);
  expect(cluster.pod('default', 'rewritten')?.spec.ephemeralContainers?.[0]?.image).toBe('mirror/busybox:1');
  expect((await client.launch('rewritten', [good('dbg')])).status).toBe(422);
});
