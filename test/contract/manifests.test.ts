import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
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

interface PodSpec {
  readonly securityContext: unknown;
  readonly volumes: readonly { readonly name: string; readonly emptyDir?: { readonly sizeLimit?: string } }[];
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly {
    readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
    readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
    readonly securityContext: unknown;
    readonly resources: { readonly limits: Readonly<Record<string, string>> };
    readonly volumeMounts: readonly { readonly mountPath: string; readonly subPath?: string }[];
  }[];
}

const rolesIn = (folder: string): readonly Role[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.yaml'))
    .flatMap((path) => parseAllDocuments(read(`${folder}/${path}`)).map((document) => document.toJS() as Role))
    .filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');

const deployment = parse(read('manifests/base/deployment.yaml')) as Deployment;
const pod = deployment.spec.template.spec;
const container = pod.containers[0];
if (!container) throw new Error('the Deployment has no container');

describe('the manifests', () => {
  it('give kdebug the rights that its API calls need, and no more', () => {
    const roles = ['base', 'namespace', 'several', 'egress'].flatMap((name) => rolesIn(`manifests/${name}`));
    expect(roles.flatMap(rightsOf).sort()).toEqual(RIGHTS);
  });

  it('let kdebug ask what other users may do only where the policy maps people to them', () => {
    expect(rolesIn('manifests/mapped-people').flatMap(rightsOf)).toEqual([
      'authorization.k8s.io/subjectaccessreviews create',
    ]);
    expect(readdirSync(join(ROOT, 'manifests')).toSorted()).toEqual([
      'base',
      'egress',
      'mapped-people',
      'namespace',
      'several',
    ]);
  });

  it('set every variable of the environment, and none that is not read', () => {
    const variables = [...read('src/config/env.ts').matchAll(/^ {2}([A-Z][A-Z_]+): /gm)].map(([, name]) => name);
    expect(variables).toContain('SLACK_BOT_TOKEN');
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
    const several = parse(read('manifests/several/deployment.yaml')) as Deployment;
    const { replicas, strategy, template } = several.spec;
    const [patched] = template.spec.containers;

    it('start none without Redis and a key that all share', () => {
      for (const name of ['REDIS_URL', 'KDEBUG_KEY']) {
        const found = patched?.env.find((variable) => variable.name === name);
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
  });

  it.each(['base', 'namespace', 'several', 'egress', 'mapped-people'])(
    'are what kubectl kustomize accepts: %s',
    (name) => {
      const output = kustomize(join(ROOT, 'manifests', name));
      if (output === undefined) return;
      expect(parseAllDocuments(output).every(({ errors }) => errors.length === 0)).toBe(true);
      expect(output).toContain('kind: ');
    },
  );
});

/** What kubectl makes of the folder; undefined where there is no kubectl. */
function kustomize(folder: string): string | undefined {
  try {
    return execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    console.warn('skipped: there is no kubectl here');
    return undefined;
  }
}
