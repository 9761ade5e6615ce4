import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { rbac } from '../../src/cli/rbac.ts';
import { loadPolicy } from '../../src/config/load-policy.ts';
import { MORE_FACTS } from '../../src/core/optional-rights.ts';
import { combined, kustomize, type Manifest, objectsOf, ROOT, withDoctor } from './rendered.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Role {
  readonly kind: string;
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

/** What the API calls of kdebug need (design, section 3): resource and verb. */
const RIGHTS = [
  'authorization.k8s.io/selfsubjectaccessreviews create',
  'events list',
  'namespaces get',
  'pods get',
  'pods list',
  // In its own namespace: whether another replica runs.
  'pods list',
  'pods watch',
  'pods/ephemeralcontainers patch',
  'pods/log get',
];

const rightsOf = (role: Role): readonly string[] =>
  (role.rules ?? []).flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${group === '' ? '' : `${group}/`}${resource} ${verb}`)),
    ),
  );

interface Deployment {
  readonly spec: {
    readonly replicas: number;
    readonly strategy: { readonly type: string; readonly rollingUpdate?: { readonly maxSurge: number } };
    readonly template: { readonly spec: PodSpec };
  };
}

interface FromSecret {
  readonly secretKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
}

interface PodSpec {
  readonly securityContext: unknown;
  readonly volumes: readonly { readonly name: string; readonly emptyDir?: { readonly sizeLimit?: string } }[];
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly {
    readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
    readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: FromSecret }[];
    readonly securityContext: unknown;
    readonly resources: { readonly limits: Readonly<Record<string, string>> };
    readonly volumeMounts: readonly { readonly mountPath: string; readonly subPath?: string }[];
  }[];
}

type Container = PodSpec['containers'][number];

interface Probed {
  readonly startupProbe?: object;
  readonly livenessProbe?: object;
  readonly readinessProbe?: object;
}

/** As people add a proxy or a name to their copy of an installation. */
const PATCH = JSON.stringify({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'kdebug' },
  spec: {
    template: {
      spec: {
        hostAliases: [{ ip: '192.0.2.1', hostnames: ['slack.com'] }],
        containers: [{ name: 'kdebug', env: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }] }],
      },
    },
  },
});

const rolesIn = (folder: string): readonly Role[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.yaml'))
    .flatMap((path) => parseAllDocuments(read(`${folder}/${path}`)).map((document) => document.toJS() as Role))
    .filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');

/** Components whose rights are asked for by name. */
const OPTIONAL_RIGHTS: ReadonlySet<string> = new Set(['mapped-people', 'more-facts', 'nodes']);
const foldersOf = (folder: string): readonly string[] => readdirSync(join(ROOT, 'manifests', folder)).toSorted();
const components = foldersOf('components');
const installations = foldersOf('installations');

const deployment = parse(read('manifests/base/deployment.yaml')) as Deployment;
const pod = deployment.spec.template.spec;
const container = pod.containers[0];
if (!container) throw new Error('the Deployment has no container');

describe('the manifests', () => {
  it('may list the pods of their own namespace only where the runs are in memory', () => {
    const roles = ['socket', 'several'].map((name) => {
      const yaml = kustomize(join(ROOT, 'manifests/installations', name));
      return yaml && objectsOf(yaml).filter(({ kind }) => kind === 'Role').length;
    });
    if (roles[0] !== undefined) expect(roles).toEqual([1, 0]);
  });

  it('are gone, but for namespace and Secret, after the commands for it of operations.md, "Remove"', () => {
    const all = combined({
      resources: ['nodes', 'more-facts', 'mapped-people', 'egress'],
      components: ['http', 'several', 'monitoring'],
    });
    const one = combined({ components: ['socket'] });
    if (all === undefined || one === undefined) return;
    const page = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
    const commands = page.matchAll(/kubectl (?:-n kdebug )?delete ([\w,]+) -l app\.kubernetes\.io\/name=kdebug/g);
    const removed = [...commands].flatMap(([, kinds = '']) => kinds.split(','));
    const left = [...objectsOf(all), ...objectsOf(one)]
      .filter(({ kind }) => kind !== 'Namespace')
      .filter(
        ({ kind, metadata }) =>
          !removed.includes(kind.toLowerCase()) || metadata.labels?.['app.kubernetes.io/name'] !== 'kdebug',
      );
    expect(left.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([]);
  });

  it('give kdebug the rights that its API calls need, and no more', () => {
    const roles = [
      'base',
      ...components.filter((name) => !OPTIONAL_RIGHTS.has(name)).map((name) => `components/${name}`),
    ];
    expect(
      roles
        .flatMap((name) => rolesIn(`manifests/${name}`))
        .flatMap(rightsOf)
        .sort(),
    ).toEqual(RIGHTS);
  });

  it('offer the optional right to read nodes, and no other right on them', () => {
    expect(rolesIn('manifests/components/nodes').flatMap(rightsOf)).toEqual(['nodes get']);
  });

  it('offer the optional rights on more than pods, all of them, and the doctor knows each', () => {
    const known = MORE_FACTS.flatMap(({ rules }) => rightsOf({ kind: 'ClusterRole', rules }));
    expect(rolesIn('manifests/components/more-facts').flatMap(rightsOf).toSorted()).toEqual(known.toSorted());
    for (const right of known) expect(right).toMatch(/ (?:get|list)$/);
  });

  it('let kdebug ask what other users may do only where the policy maps people to them', () => {
    expect(rolesIn('manifests/components/mapped-people').flatMap(rightsOf)).toEqual([
      'authorization.k8s.io/subjectaccessreviews create',
    ]);
  });

  it('set every variable of the environment, and none that is not read', () => {
    const variables = [...read('src/config/variables.ts').matchAll(/^ {2}([A-Z][A-Z_]+): /gm)].map(([, name]) => name);
    expect(variables).toContain('SLACK_BOT_TOKEN');
    // Absent is off: manifests/components/alerts sets it.
    variables.splice(variables.indexOf('ALERTS_PORT'), 1);
    expect(container.env.map(({ name }) => name).sort()).toEqual(variables.sort());
  });

  it('take every secret from the Secret', () => {
    const secrets = container.env.filter(
      ({ name }) => /TOKEN|SECRET|_KEY$|_URL$/.test(name) && name !== 'SLACK_API_URL',
    );
    expect(secrets).toHaveLength(5);
    for (const secret of secrets)
      expect(secret.valueFrom, secret.name).toMatchObject({ secretKeyRef: { name: 'kdebug' } });
  });

  it('run kdebug without any privilege, on a read-only root', () => {
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(read('Dockerfile')).toContain('\nUSER 65532:65532\n');
  });

  it('give the token to the one pod that needs it, and bound what the pod takes of its node', () => {
    expect(parse(read('manifests/base/service-account.yaml'))).toMatchObject({ automountServiceAccountToken: false });
    expect(pod).toMatchObject({ automountServiceAccountToken: true, enableServiceLinks: false });
    expect(container.resources).toMatchObject({
      requests: { cpu: expect.any(String), memory: expect.any(String), 'ephemeral-storage': expect.any(String) },
      limits: { memory: expect.any(String), 'ephemeral-storage': expect.any(String) },
    });
    const scratch = pod.volumes.find(({ name }) => name === 'scratch');
    const gibibytes = (size: string | undefined) => Number(/^(\d+)Gi$/.exec(size ?? '')?.[1]);
    expect(gibibytes(container.resources.limits['ephemeral-storage'])).toBeGreaterThan(
      gibibytes(scratch?.emptyDir?.sizeLimit),
    );
  });

  it('never run two without Redis, and mount the policy so that a change arrives', () => {
    expect(deployment.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    const mount = container.volumeMounts.find(({ mountPath }) => mountPath === '/etc/kdebug');
    expect(mount).toBeDefined();
    expect(mount?.subPath).toBeUndefined();
  });

  describe('for several replicas', () => {
    const several = parse(read('manifests/components/several/deployment.yaml')) as Deployment;
    const { replicas, strategy, template } = several.spec;
    const [patched] = template.spec.containers;

    it('start none without Redis and a key that all share', () => {
      expect(parse(read('manifests/components/several/kustomization.yaml'))).toMatchObject({
        components: ['../redis'],
      });
      const redis = parse(read('manifests/components/redis/deployment.yaml')) as Deployment;
      const { env = [] } = redis.spec.template.spec.containers[0] ?? {};
      for (const name of ['REDIS_URL', 'KDEBUG_KEY']) {
        const found = env.find((variable) => variable.name === name);
        expect(found?.valueFrom, name).toEqual({ secretKeyRef: { name: 'kdebug', key: name, optional: false } });
      }
    });

    it('never need more than the ten connections that Slack gives an app, one being recycled', () => {
      const lines = Number(
        /^const LINES = (\d+);$/m.exec(read('src/adapters/slack/receiving/socket-receiver.ts'))?.[1],
      );
      const most = replicas + (strategy.rollingUpdate?.maxSurge ?? 0);
      expect(lines).toBeGreaterThan(0);
      expect(most * lines + 1).toBeLessThanOrEqual(10);
      // What the manifest and docs/operations.md promise: four, and one more during an update.
      expect((4 + 1) * lines).toBeLessThanOrEqual(10);
    });

    it('give a pod that goes the time for its pause and for ten seconds of handing over', () => {
      const [, , script] = patched?.lifecycle?.preStop.exec.command ?? [];
      const pauseMs = Number(/(\d+)\)$/.exec(script ?? '')?.[1]);
      expect(pauseMs).toBeGreaterThan(0);
      expect(template.spec.terminationGracePeriodSeconds * 1000).toBeGreaterThan(pauseMs + 10_000);
    });

    it('hold up a drain only while another replica is not ready elsewhere: not with one left, and not while none is ready', () => {
      const { spec } = parse(read('manifests/components/several/disruption-budget.yaml'));
      expect(spec).toMatchObject({ maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
      expect(spec).not.toHaveProperty('minAvailable');
    });
  });

  it.each([
    ['socket', 'SLACK_APP_TOKEN', 'SLACK_SIGNING_SECRET'],
    ['http', 'SLACK_SIGNING_SECRET', 'SLACK_APP_TOKEN'],
  ])('over %s read %s, without which no pod starts, and never %s', (name, needed, other) => {
    const patch = parse(read(`manifests/components/${name}/deployment.yaml`)) as Deployment;
    const { env = [] } = patch.spec.template.spec.containers[0] ?? {};
    expect(env).toEqual([
      { name: needed, valueFrom: { secretKeyRef: { name: 'kdebug', key: needed, optional: false } } },
      { name: other, $patch: 'delete' },
    ]);
  });

  it.each(installations)(
    'make one Job of the doctor: the pod of a copy of %s, with all its patches, which ends',
    (name) => {
      const { installed, doctor } = withDoctor(name, { target: { kind: 'Deployment', name: 'kdebug' }, patch: PATCH });
      if (installed === undefined || doctor === undefined) return;
      const [job, ...others] = objectsOf(doctor);
      expect(others).toEqual([]);
      expect(job?.metadata).toMatchObject({ name: 'kdebug-doctor', namespace: 'kdebug' });
      const templateOf = (object?: Manifest) => (object?.spec as Deployment['spec'] | undefined)?.template;
      const template = templateOf(job);
      const bot = templateOf(objectsOf(installed).find(({ kind }) => kind === 'Deployment'));
      const { containers, ...rest } = bot?.spec ?? pod;
      const { startupProbe, livenessProbe, readinessProbe, lifecycle, ...asDoctor } = containers[0] as Container &
        Probed;
      expect([startupProbe, livenessProbe, readinessProbe]).not.toContain(undefined);
      expect(lifecycle === undefined).toBe(name !== 'several');
      // It starts without what is missing in the Secret: to say so is its work.
      const env = asDoctor.env?.map((entry) => {
        const { name, key } = entry.valueFrom?.secretKeyRef ?? {};
        return key ? { ...entry, valueFrom: { secretKeyRef: { name, key, optional: true } } } : entry;
      });
      expect(env?.filter(({ valueFrom }) => valueFrom?.secretKeyRef).length).toBeGreaterThan(3);
      const wanted = {
        ...rest,
        restartPolicy: 'Never',
        containers: [{ ...asDoctor, env, args: ['main.js', 'doctor'] }],
      };
      expect(template?.spec).toEqual(wanted);
      expect(JSON.stringify(template?.spec)).toMatch(/proxy:3128.*192\.0\.2\.1/);
      // Counted neither by the Service nor by the disruption budget.
      expect(template).not.toMatchObject({ metadata: { labels: { 'app.kubernetes.io/name': 'kdebug' } } });
    },
  );

  describe('to copy', () => {
    it('are the four usual installations', () => {
      expect(installations).toEqual(['http', 'impersonate', 'several', 'socket']);
    });

    it('begin with the same policy, but for the mode of impersonate', () => {
      const policies = installations.map((name) => parse(read(`manifests/installations/${name}/policy.yaml`)));
      const [first, ...others] = policies.map(({ identity: _, ...rest }) => rest);
      for (const other of others) expect(other).toEqual(first);
      expect(policies.map(({ identity }) => identity.mode)).toEqual([
        'serviceAccount',
        'impersonate',
        'serviceAccount',
        'serviceAccount',
      ]);
      for (const name of installations)
        expect(loadPolicy(join(ROOT, `manifests/installations/${name}/policy.yaml`)).kind, name).toBe('ok');
    });

    it('give the people of impersonate what `npm run rbac` prints', () => {
      const folder = 'manifests/installations/impersonate';
      const words = /rbac -- (.*) > rbac\.yaml/.exec(read(`${folder}/kustomization.yaml`))?.[1]?.split(' ') ?? [];
      const printed: string[] = [];
      const code = rbac(
        words.map((word) => (word === 'policy.yaml' ? join(ROOT, folder, word) : word)),
        { out: (line) => printed.push(line), err: (line) => printed.push(line) },
      );
      expect(code).toBe(0);
      expect(read(`${folder}/rbac.yaml`)).toBe(`${printed.join('\n')}\n`);
    });
  });

  it.each([
    'base',
    ...installations.map((name) => `installations/${name}`),
    ...components
      // The doctor's needs a copy of an installation.
      .filter((name) => name !== 'doctor' && kindOf(`components/${name}`) === 'Kustomization')
      .map((name) => `components/${name}`),
  ])('are what kubectl kustomize accepts: %s', (name) => {
    const output = kustomize(join(ROOT, 'manifests', name));
    if (output === undefined) return;
    expect(parseAllDocuments(output).every(({ errors }) => errors.length === 0)).toBe(true);
    expect(output).toContain('kind: ');
  });
});

function kindOf(folder: string): string {
  return parse(read(`manifests/${folder}/kustomization.yaml`)).kind;
}
