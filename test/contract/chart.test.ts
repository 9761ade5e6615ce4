import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { VERSION } from '../../src/compose.ts';
import {
  combined,
  kustomize,
  type Manifest,
  objectsOf,
  once,
  ROOT,
  run,
  schemaProblems,
  tool,
  withDoctor,
} from './rendered.ts';

const helm = tool('helm');
const kubeconform = tool('kubeconform');
const CHART = 'charts/kdebug';
const POLICY = 'manifests/installations/socket/policy.yaml';

/** What the chart makes of the values; throws with Helm's own words. */
function rendered(values: readonly string[], policy: string = POLICY): string {
  const files = policy === '' ? [] : ['--set-file', `policy=${policy}`];
  const sets = values.flatMap((value) => (value.startsWith('rbac=') ? ['--set-file', value] : ['--set', value]));
  // A helm that was built from its module names an old Kubernetes.
  const args = ['template', 'kdebug', CHART, '--namespace', 'kdebug', '--kube-version', '1.34.4', ...files, ...sets];
  return once(args.join(' '), () => run(helm ?? '', args));
}

function refusal(values: readonly string[], policy?: string): string {
  try {
    rendered(values, policy);
    return '';
  } catch (error) {
    return String((error as { stderr?: string }).stderr);
  }
}

/** The four usual installations, and what the chart is told for each. */
const INSTALLATIONS: readonly (readonly [string, readonly string[]])[] = [
  ['socket', []],
  ['http', ['mode=http']],
  ['several', ['redis=true', 'replicas=2']],
  ['impersonate', ['impersonate=true', 'rbac=manifests/installations/impersonate/rbac.yaml']],
];

/** Objects of the two ways that are the same but for what each way adds of its own, by kind, namespace and name. */
function comparable(objects: readonly Manifest[]): Readonly<Record<string, unknown>> {
  const kept = objects.filter(({ kind, metadata }) => kind !== 'Namespace' && !metadata.annotations?.['helm.sh/hook']);
  return Object.fromEntries(
    kept.map((object) => {
      const { kind, metadata } = object;
      const { 'app.kubernetes.io/managed-by': _, 'helm.sh/chart': __, ...labels } = metadata.labels ?? {};
      const ordered = JSON.parse(JSON.stringify({ ...object, metadata: { ...metadata, labels } }), withOrder);
      return [`${kind} ${metadata.namespace ?? ''}/${metadata.name}`, ordered];
    }),
  );
}

/** The order of variables says nothing, nor does a `false` that is the default. */
function withOrder(key: string, value: unknown): unknown {
  if (key === 'env' && Array.isArray(value)) return value.toSorted((a, b) => a.name.localeCompare(b.name));
  if (key === 'secretKeyRef') return { optional: false, ...(value as object) };
  return value;
}

interface JobSpec {
  readonly activeDeadlineSeconds: number;
  readonly template: { readonly spec: object };
}

/** Helm's doctor names a missing key of the Secret itself, where the Job does not start. */
const asKey = (key: string, value: unknown): unknown =>
  key === 'secretKeyRef' ? { ...(value as object), optional: true } : withOrder(key, value);

const folderOf = (name: string): string => join(ROOT, 'manifests/installations', name);

describe.runIf(helm)('the chart', () => {
  it.each(INSTALLATIONS)('makes of the installation %s what kustomize makes of it', (name, values) => {
    const wanted = kustomize(folderOf(name));
    if (wanted === undefined) return;
    const made = comparable(objectsOf(rendered(values, join(folderOf(name), 'policy.yaml'))));
    expect(made).toEqual(comparable(objectsOf(wanted)));
    expect(Object.keys(made)).toContain('Deployment kdebug/kdebug');
  });

  it('makes of several replicas over HTTP what the components make', () => {
    const wanted = combined({ components: ['http', 'several'] });
    if (wanted === undefined) return;
    const values = ['mode=http', 'redis=true', 'replicas=2'];
    const made = comparable(objectsOf(rendered(values, 'manifests/base/policy.yaml')));
    expect(made).toEqual(comparable(objectsOf(wanted)));
    expect(made['Service kdebug/kdebug']).toMatchObject({ spec: { publishNotReadyAddresses: false } });
  });

  it('makes of the optional parts what their components hold', () => {
    const wanted = combined({
      resources: ['nodes', 'more-facts', 'mapped-people', 'egress'],
      components: ['socket', 'monitoring', 'alerts'],
    });
    if (wanted === undefined) return;
    const rights = ['nodes=true', 'moreFacts=true', 'namespaces={shop}', 'mappedPeople=true'];
    const values = [
      ...rights,
      'monitoring.create=true',
      'alerts.create=true',
      'egress.create=true',
      'egress.apiServers={192.0.2.1/32}',
    ];
    const made = comparable(objectsOf(rendered(values, 'manifests/base/policy.yaml')));
    // The component binds the role in the namespace of the command, the chart in each of `namespaces`.
    const isBound = (name: string) => /^RoleBinding .*kdebug(?:-more-facts)?$/.test(name);
    const unbound = (objects: typeof made) =>
      Object.fromEntries(Object.entries(objects).filter(([name]) => !isBound(name)));
    expect(unbound(made)).toEqual(unbound(comparable(objectsOf(wanted))));
  });

  it('binds the optional role on more than pods in each namespace, as manifests/components/more-facts does in one', () => {
    const isBound = ({ kind, metadata }: Manifest) => kind === 'RoleBinding' && metadata.name === 'kdebug-more-facts';
    const component = objectsOf(readFileSync(join(ROOT, 'manifests/components/more-facts/rbac.yaml'), 'utf8')).find(
      isBound,
    );
    const made = objectsOf(rendered(['moreFacts=true', 'namespaces={shop,web}'])).filter(isBound);
    const inNamespace = (namespace: string) => ({ ...component, metadata: { ...component?.metadata, namespace } });
    expect(comparable(made)).toEqual(comparable([inNamespace('shop'), inNamespace('web')] as Manifest[]));
    expect(objectsOf(rendered(['namespaces={shop}'])).filter(isBound)).toEqual([]);
  });

  it('binds the role in each namespace, as manifests/components/namespaces does in one', () => {
    const [component] = objectsOf(
      readFileSync(join(ROOT, 'manifests/components/namespaces/role-binding.yaml'), 'utf8'),
    );
    const made = objectsOf(rendered(['namespaces={shop,web}'])).filter(
      ({ kind, metadata }) => kind === 'RoleBinding' && metadata.name === 'kdebug',
    );
    const inNamespace = (namespace: string) => ({ ...component, metadata: { ...component?.metadata, namespace } });
    expect(comparable(made)).toEqual(comparable([inNamespace('shop'), inNamespace('web')] as Manifest[]));
  });

  it('labels for Prometheus what Prometheus selects by label', () => {
    const made = objectsOf(rendered(['monitoring.create=true', 'monitoring.labels.release=stack']));
    const labelled = made.filter(({ metadata }) => metadata.labels?.release === 'stack').map(({ kind }) => kind);
    expect(labelled.toSorted()).toEqual(['PrometheusRule', 'ServiceMonitor']);
    // Helm leaves Prometheus' own templates alone.
    expect(JSON.stringify(made.find(({ kind }) => kind === 'PrometheusRule'))).toContain('{{ $labels.');
  });

  it.each([
    ['socket', 'SLACK_SIGNING_SECRET'],
    ['http', 'SLACK_APP_TOKEN'],
  ])('runs the doctor over %s as the Job of manifests/components/doctor does, without %s', (mode, other) => {
    const wanted = withDoctor(mode).doctor;
    if (wanted === undefined) return;
    const made = objectsOf(rendered([`mode=${mode}`])).find(({ kind }) => kind === 'Pod');
    const { activeDeadlineSeconds, ...spec } = (made?.spec ?? {}) as { readonly activeDeadlineSeconds?: number };
    const [job] = objectsOf(wanted).map((object) => object.spec as JobSpec);
    expect(JSON.parse(JSON.stringify(spec), asKey)).toEqual(JSON.parse(JSON.stringify(job?.template.spec), asKey));
    expect(JSON.stringify(spec)).not.toContain(other);
    expect(activeDeadlineSeconds).toBe(job?.activeDeadlineSeconds);
    // Helm 3 would delete a pod that succeeded before `helm test --logs` reads its log (helm/helm#9098).
    expect(made?.metadata.annotations).toEqual({
      'helm.sh/hook': 'test',
      'helm.sh/hook-delete-policy': 'before-hook-creation',
    });
  });

  it('has the version of kdebug, and runs its image', () => {
    const chart = parse(readFileSync(join(ROOT, CHART, 'Chart.yaml'), 'utf8'));
    expect([chart.version, chart.appVersion]).toEqual([VERSION, VERSION]);
    expect(rendered([])).toContain(`image: kdebug:${VERSION}\n`);
    const digest = `sha256:${'0'.repeat(64)}`;
    expect(rendered([`image.digest=${digest}`, 'image.tag=v9'])).toContain(`image: kdebug@${digest}\n`);
  });

  it('makes no Secret unless asked, and keeps the one that it made', () => {
    const secretsIn = (values: readonly string[]) =>
      objectsOf(rendered(values)).filter(({ kind }) => kind === 'Secret');
    expect(secretsIn([])).toEqual([]);
    const [secret] = secretsIn(['secret.create=true', 'secret.values.SLACK_BOT_TOKEN=xoxb-1']);
    expect(secret).toMatchObject({ stringData: { SLACK_BOT_TOKEN: 'xoxb-1' } });
    expect(secret?.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
  });

  it('has every value in its schema, with its default, and takes more variables from a Secret', () => {
    const values = parse(readFileSync(join(ROOT, CHART, 'values.yaml'), 'utf8'));
    const schema = JSON.parse(readFileSync(join(ROOT, CHART, 'values.schema.json'), 'utf8'));
    const inSchema = Object.keys(schema.properties).filter((name) => name !== 'global');
    expect(inSchema.toSorted()).toEqual(Object.keys(values).toSorted());
    const proxy = ['extraEnv[0].name=HTTPS_PROXY', 'extraEnv[0].valueFrom.secretKeyRef.name=kdebug'];
    const key = 'extraEnv[0].valueFrom.secretKeyRef.key=HTTPS_PROXY';
    const named = { name: 'HTTPS_PROXY', valueFrom: { secretKeyRef: { key: 'HTTPS_PROXY', name: 'kdebug' } } };
    const withProxy = objectsOf(rendered([...proxy, key, 'env.LOG_LEVEL=debug'])).filter(({ kind }) =>
      ['Deployment', 'Pod'].includes(kind),
    );
    expect(withProxy).toHaveLength(2);
    for (const object of withProxy) {
      const text = JSON.stringify(object);
      expect(text).toContain(JSON.stringify(named));
      expect(text).toContain('{"name":"LOG_LEVEL","value":"debug"}');
    }
  });

  it('lets the pods find names as the values say, the doctor’s too', () => {
    const names = ['dnsPolicy=None', 'dnsConfig.nameservers={192.0.2.53}'];
    const aliases = ['hostAliases[0].ip=192.0.2.1', 'hostAliases[0].hostnames={slack.com}'];
    const wanted = {
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['192.0.2.53'] },
      hostAliases: [{ ip: '192.0.2.1', hostnames: ['slack.com'] }],
    };
    const made = objectsOf(rendered([...names, ...aliases]));
    const bot = made.find(({ kind }) => kind === 'Deployment')?.spec as JobSpec | undefined;
    expect(bot?.template.spec).toMatchObject(wanted);
    expect(made.find(({ kind }) => kind === 'Pod')?.spec).toMatchObject(wanted);
    expect(refusal(['dnsPolicy=Clusterfirst'])).toContain('dnsPolicy');
  });

  it('takes another name for all that it makes, for a second installation in the cluster', () => {
    const names = objectsOf(
      rendered(['name=other', 'priorityClass.name=other', 'namespaces={shop}', 'mode=http', 'monitoring.create=true']),
    );
    expect(names.filter(({ metadata }) => !/^other(?:-|$)/.test(metadata.name))).toEqual([]);
    expect(rendered(['name=other'])).not.toContain('name: kdebug-policy');
  });

  it('leaves the field that Kubernetes 1.25 does not know out of the disruption budget there', () => {
    const values = ['--set-file', `policy=${POLICY}`, '--set', 'redis=true,replicas=2'];
    const made = run(helm ?? '', ['template', 'kdebug', CHART, '--kube-version', '1.25.0', ...values]);
    const [budget] = objectsOf(made).filter(({ kind }) => kind === 'PodDisruptionBudget');
    expect(budget?.spec).toMatchObject({ maxUnavailable: 1 });
    expect(budget?.spec).not.toHaveProperty('unhealthyPodEvictionPolicy');
  });

  it.each([
    [[], '', 'policy is missing'],
    [['replicas=2'], POLICY, 'redis must be true'],
    [['replicas=5', 'redis=true'], POLICY, 'in Socket Mode each needs two of the ten connections'],
    [['impersonate=true', 'namespaces={shop}'], POLICY, 'namespaces is not for impersonate'],
    [['moreFacts=true'], POLICY, 'moreFacts binds its rights in namespaces, which is empty'],
    [['moreFacts=true', 'impersonate=true'], POLICY, '--more-facts` prints them'],
    [['egress.create=true'], POLICY, 'egress.apiServers is missing'],
    [['mode=https'], POLICY, 'mode'],
    [['env.SLACK_BOT_TOKEN=xoxb-1'], POLICY, 'SLACK_BOT_TOKEN'],
    [['env.PORT=80'], POLICY, 'PORT'],
    [['image.tagg=1'], POLICY, 'tagg'],
    [['namespaces={Shop}'], POLICY, 'namespaces'],
    // Text that would go into the objects as YAML of its own.
    ...[
      'image.repository',
      'image.tag',
      'http.host',
      'http.ingress.className',
      'http.ingress.tlsSecretName',
      'priorityClass.name',
      'egress.redisNamespace',
    ].map((name): [string[], string, string] => [
      [`${name}=x\nhostNetwork: true`],
      POLICY,
      name.split('.').at(-1) ?? '',
    ]),
  ])('refuses %s, and says why', (values, policy, reason) => {
    expect(refusal(values, policy)).toContain(reason);
  });

  it('says how to give the first policy, and `helm lint` finds nothing', () => {
    expect(refusal([], '')).toContain('--set-file policy=policy.yaml');
    const linted = run(helm ?? '', ['lint', '--strict', CHART, '--set-file', `policy=${POLICY}`]);
    expect(linted).toContain('1 chart(s) linted, 0 chart(s) failed');
    expect(linted).not.toMatch(/\[(?:WARNING|ERROR)\]/);
  });
});

describe.runIf(kubeconform)('every object is one that Kubernetes knows', () => {
  const problemsOf = (yaml: string) => schemaProblems(kubeconform ?? '', yaml);

  it.each(['socket', 'http', 'several', 'impersonate'])('by kustomize: %s', (name) => {
    const yaml = kustomize(folderOf(name));
    if (yaml !== undefined) expect(problemsOf(yaml)).toEqual([]);
  });

  it.each(['nodes', 'more-facts', 'mapped-people', 'egress', 'namespaces'])('by kustomize: components/%s', (name) => {
    const yaml = kustomize(join(ROOT, 'manifests/components', name));
    if (yaml !== undefined) expect(problemsOf(yaml)).toEqual([]);
  });

  it('by kustomize: components/doctor', () => {
    const yaml = withDoctor('several').doctor;
    if (yaml !== undefined) expect(problemsOf(yaml)).toEqual([]);
  });

  it
    .runIf(helm)
    .each([
      ...INSTALLATIONS,
      [
        'everything',
        [
          'mode=http',
          'redis=true',
          'replicas=3',
          'nodes=true',
          'moreFacts=true',
          'mappedPeople=true',
          'namespaces={shop}',
        ],
      ],
      ['a Secret', ['secret.create=true', 'secret.values.KDEBUG_KEY=x', 'image.pullPolicy=Never']],
    ] as const)('by helm: %s', (_, values) => expect(problemsOf(rendered(values))).toEqual([]));

  it('and a misspelt field is found', () => {
    const yaml = kustomize(folderOf('socket'));
    if (yaml === undefined) return;
    expect(problemsOf(yaml.replace('readinessProbe:', 'readynessProbe:')).join()).toContain('readynessProbe');
  });
});
