import { afterEach, describe, expect, it } from 'vitest';
import { MORE_FACTS } from '../../src/core/optional-rights.ts';
import { Bed, type BedOptions, manifest, policyOf } from './bed.ts';

let bed: Bed;
afterEach(() => bed?.close());

async function open(options: BedOptions['cluster'] = {}): Promise<Bed> {
  bed = await Bed.open({ cluster: options });
  return bed;
}

const MAIN = 'cluster main';
const API = 'rbac.authorization.k8s.io';
const SERVER = /^API server$/;

/** A Role or ClusterRole for one subject. */
function grant(subject: object, rules: readonly object[], namespace?: string): void {
  const [kind, name] = [namespace === undefined ? 'ClusterRole' : 'Role', `g${Math.random().toString(36).slice(2)}`];
  const metadata = { name, ...(namespace && { namespace }) };
  const apiVersion = `${API}/v1`;
  bed.cluster.apply(
    { apiVersion, kind, metadata, rules },
    { apiVersion, kind: `${kind}Binding`, metadata, roleRef: { apiGroup: API, kind, name }, subjects: [subject] },
  );
}
const BOT = { kind: 'ServiceAccount', name: 'kdebug', namespace: 'kdebug' };
const user = (name: string): object => ({ apiGroup: API, kind: 'User', name });
const RUN_RULES = [
  { apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get'] },
  { apiGroups: [''], resources: ['pods/ephemeralcontainers'], verbs: ['patch'] },
];

describe('a cluster', () => {
  it('is named with version, latency, account and the subresource', async () => {
    (await open()).bind('shop');
    const said = await bed.ask(policyOf());
    expect(said.check(MAIN, SERVER).result).toMatch(/^127\.0\.0\.1:\d+ runs v1\.34/);
    expect(said.check(MAIN, 'account').result).toBe('acts as system:serviceaccount:kdebug:kdebug');
    for (const what of ['latency', 'ephemeral containers', 'rights in shop'])
      expect(said.check(MAIN, what).state).toBe('ok');
  });

  it('that does not answer, or does not take the token, is one line', async () => {
    await open();
    bed.cluster.faults.queue({ kind: 'status', status: 401, times: 99 });
    const refused = await bed.ask(policyOf());
    expect(refused.checks.filter(({ area }) => area === MAIN)).toHaveLength(1);
    expect(refused.check(MAIN, SERVER)).toMatchObject({
      state: 'fail',
      result: expect.stringContaining('credentials'),
    });
    bed.cluster.faults.clear();
    await bed.cluster.stop();
    const away = await bed.ask(policyOf());
    expect(away.check(MAIN, SERVER)).toMatchObject({
      state: 'fail',
      result: expect.stringMatching(/nothing listens at 127\.0\.0\.1:\d+/),
    });
  });

  it('that the kubeconfig does not know fails', async () => {
    await open();
    const said = await bed.ask(policyOf().replace('context: bed', 'context: elsewhere'));
    expect(said.check(MAIN, 'kubeconfig')).toMatchObject({
      state: 'fail',
      result: expect.stringContaining('elsewhere'),
    });
  });
});

describe("kdebug's own rights", () => {
  it('that are missing altogether come with the command of one RoleBinding; it fixes them', async () => {
    await open();
    const said = await bed.ask(policyOf());
    expect(said.check(MAIN, 'rights in shop')).toMatchObject({
      state: 'fail',
      result: expect.stringContaining(
        'may not get pods, list pods, watch pods, list events, get namespaces, get pods/log, patch pods/ephemeralcontainers',
      ),
      fix: ['kubectl -n shop create rolebinding kdebug --clusterrole=kdebug --serviceaccount=kdebug:kdebug'],
    });
    bed.bind('shop');
    expect((await bed.ask(policyOf())).check(MAIN, 'rights in shop')).toMatchObject({ state: 'ok', result: 'all 7' });
  });

  it('of which one is missing name it, and the tool that prints them all', async () => {
    await open();
    grant(
      BOT,
      [
        { apiGroups: [''], resources: ['pods', 'events', 'namespaces'], verbs: ['get', 'list', 'watch'] },
        { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
      ],
      'shop',
    );
    expect((await bed.ask(policyOf())).check(MAIN, 'rights in shop')).toMatchObject({
      result: 'system:serviceaccount:kdebug:kdebug may not patch pods/ephemeralcontainers',
      fix: [expect.stringMatching(/rbac .*policy\.yaml \| kubectl apply -f -$/)],
    });
  });

  it('to read nodes are optional, and offered', async () => {
    await open();
    const without = (await bed.ask(policyOf())).check(MAIN, 'nodes');
    expect(without).toMatchObject({ state: 'ok', result: expect.stringContaining('manifests/components/nodes') });
    grant(BOT, [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }]);
    expect((await bed.ask(policyOf())).check(MAIN, 'nodes').result).toMatch(/^may be read/);
  });
});

describe('the optional rights on more than pods', () => {
  it('are offered with what kdebug cannot say without them, and never fail', async () => {
    await open();
    const { check } = await bed.ask(policyOf());
    for (const what of ['claims', 'services', 'workloads', 'storage classes'])
      expect(check(MAIN, what).state).toBe('ok');
    expect(check(MAIN, 'services').result).toMatch(
      /may not list services, list endpointslices in shop \(optional\): without it kdebug cannot say that a Service selects no pod.*manifests\/components\/more-facts/,
    );
    expect(check(MAIN, 'storage classes').result).toMatch(/may not list storageclasses \(optional\): without it/);
  });

  it('are there where the component is applied', async () => {
    await open();
    for (const { rules, isOfCluster } of MORE_FACTS) grant(BOT, rules, isOfCluster ? undefined : 'shop');
    const { check } = await bed.ask(policyOf());
    for (const { what, brings } of MORE_FACTS)
      expect(check(MAIN, what).result).toBe(`may be read: results say ${brings}`);
  });
});

describe('namespaces', () => {
  it('that do not exist fail', async () => {
    await open();
    grant(BOT, [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get'] }]);
    const said = await bed.ask(policyOf({ namespaces: '[nowhere]' }));
    expect(said.check(MAIN, 'namespace nowhere')).toMatchObject({
      state: 'fail',
      fix: ['kubectl create namespace nowhere', expect.any(String)],
    });
  });

  it('that only a prefix names: listed where kdebug may, given with --in where not', async () => {
    await open();
    bed.cluster.addNamespace('shop-a');
    const policy = policyOf({ namespaces: '["shop-*"]' });
    expect((await bed.ask(policy)).check(MAIN, 'namespaces shop-*')).toMatchObject({
      state: 'warn',
      fix: [expect.stringContaining('--in')],
    });
    expect((await bed.ask(policy, {}, ['--in', 'shop-b'])).check(MAIN, 'rights in shop-b').state).toBe('fail');
    grant(BOT, [{ apiGroups: [''], resources: ['namespaces'], verbs: ['list'] }]);
    const listed = await bed.ask(policy);
    expect(listed.checks.filter(({ what }) => what.startsWith('rights in')).map(({ what }) => what)).toEqual([
      'rights in shop-a',
    ]);
  });

  it('whose Pod Security level refuses every profile fail; some profiles: it says which', async () => {
    (await open()).bind('shop');
    bed.cluster.addNamespace('shop', { 'pod-security.kubernetes.io/enforce': 'restricted' });
    expect((await bed.ask(policyOf({ profiles: '[general]' }))).check(MAIN, 'Pod Security of shop').state).toBe('fail');
    expect((await bed.ask(policyOf())).check(MAIN, 'Pod Security of shop')).toMatchObject({
      state: 'ok',
      result: 'restricted; refuses baseline, general',
    });
  });
});

describe('people who are mapped to Kubernetes users', () => {
  const policy = policyOf({
    identity: '{ mode: serviceAccount, users: { U0ROY: roy@example.com, U0BOB: bob@example.com } }',
  });

  it('are looked up one by one, and those who may not debug are named', async () => {
    (await open()).bind('shop');
    bed.cluster.apply(...manifest('components/mapped-people/rbac.yaml'));
    grant(user('roy@example.com'), RUN_RULES, 'shop');
    const said = await bed.ask(policy);
    expect(said.check(MAIN, 'people in shop')).toMatchObject({
      state: 'warn',
      result: '1 of 2 may not debug there: bob@example.com (patch pods/ephemeralcontainers, get pods/log, get pods)',
    });
    grant(user('bob@example.com'), RUN_RULES, 'shop');
    expect((await bed.ask(policy)).check(MAIN, 'people in shop')).toMatchObject({
      state: 'ok',
      result: 'all 2 may debug',
    });
  });

  it('cannot be looked up without that right: it fails, with the component that gives it', async () => {
    (await open()).bind('shop');
    expect((await bed.ask(policy)).check(MAIN, 'people in shop')).toMatchObject({
      state: 'fail',
      fix: ['kubectl apply -k manifests/components/mapped-people'],
    });
  });
});

describe('people who act as themselves', () => {
  const policy = policyOf({ identity: '{ mode: impersonate, user: "slack:{userId}", groups: [] }' });
  const impersonation = (name: string) => [
    { apiGroups: [''], resources: ['users'], resourceNames: [name], verbs: ['impersonate'] },
    { apiGroups: ['authentication.k8s.io'], resources: ['userextras/slack-user'], verbs: ['impersonate'] },
  ];

  it('are nobody as long as nobody is named: a warning with --user', async () => {
    (await open()).bind('shop');
    expect((await bed.ask(policy)).check(MAIN, 'people in shop')).toMatchObject({
      state: 'warn',
      fix: [expect.stringContaining('--user')],
    });
  });

  it('need the right to be impersonated, and their own', async () => {
    (await open()).bind('shop');
    const look = () => bed.ask(policy, {}, ['--user', 'U0ROY']);
    expect((await look()).check(MAIN, 'impersonation')).toMatchObject({
      state: 'fail',
      result: expect.stringContaining('slack:U0ROY'),
    });
    grant(BOT, impersonation('slack:U0ROY'));
    grant(user('slack:U0ROY'), [
      { apiGroups: ['authorization.k8s.io'], resources: ['selfsubjectaccessreviews'], verbs: ['create'] },
    ]);
    expect((await look()).check(MAIN, 'people in shop')).toMatchObject({
      state: 'warn',
      result: expect.stringContaining('slack:U0ROY ('),
    });
    grant(user('slack:U0ROY'), RUN_RULES, 'shop');
    expect((await look()).check(MAIN, 'people in shop')).toMatchObject({ state: 'ok', result: 'all 1 may debug' });
  });

  it('leave kdebug itself with reads alone', async () => {
    await open();
    expect((await bed.ask(policy)).check(MAIN, 'rights in shop').result).not.toMatch(/patch|log/);
  });
});

describe("the policy's images", () => {
  const state = async (image: string) => (await bed.ask(policyOf({ image }))).check(MAIN, 'image autodiagnose').state;
  const runs = (name: string, image: string) =>
    bed.cluster.addPod({ name, namespace: 'shop', containers: [{ name: 'web', image, workload: 'web' }] });

  it('are unknown until a pod has run them (a warning), and fail when the kubelet could not pull them', async () => {
    (await open()).bind('shop');
    const [there, missing] = ['registry.example.com/shop/web:2.7', 'ghcr.io/acme/kdebug-autodiagnose:0.3.0'];
    expect([await state(there), await state(missing)]).toEqual(['warn', 'warn']);
    runs('web-1', there);
    runs('web-2', missing);
    await expect.poll(() => state(there)).toBe('ok');
    await expect.poll(() => state(missing)).toBe('fail');
  });
});

describe('runs in memory', () => {
  it('need the right to see a second replica: the shipped roles have it', async () => {
    bed = await Bed.open();
    expect((await bed.ask(policyOf())).check('cluster main', 'one replica').state).toBe('ok');
  });

  it('without that right are a warning, with the command that brings it', async () => {
    bed = await Bed.open();
    const [role] = manifest('base/rbac.yaml').filter(({ kind }) => kind === 'Role');
    bed.cluster.apply({ ...role, rules: [] });
    expect((await bed.ask(policyOf())).check('cluster main', 'one replica')).toMatchObject({
      state: 'warn',
      result: expect.stringContaining('may not list pods in kdebug'),
      fix: [expect.stringContaining('kdebug-peers')],
    });
  });
});
