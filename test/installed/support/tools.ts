import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { CLUSTER, helm, kubectl, ROOT } from './commands.ts';
import { SLACK_PORT } from './pod-network.ts';
import type { Way } from './policy.ts';

/** What an installation is given; it may change later. */
export interface Given {
  readonly policy: string;
  readonly namespaces: readonly string[];
  /** What `npm run rbac` printed, where people act as themselves. */
  readonly rbac?: string | undefined;
}

/** What an operator installs with. */
export interface Tool {
  apply(given: Given): Promise<void>;
  /** Takes away the rights in a namespace that people's pods are in. */
  forget(namespace: string): Promise<void>;
  uninstall(): Promise<void>;
}

/** All that differs from a real installation: where Slack and the cluster's names are found (pod-network). */
const HERE = `apiVersion: apps/v1
kind: Deployment
metadata: { name: kdebug, namespace: kdebug }
spec:
  template:
    spec:
      dnsPolicy: None
      dnsConfig: { nameservers: [127.0.0.1] }
      containers:
        - name: kdebug
          env:
            - { name: SLACK_API_URL, value: "http://127.0.0.1:${SLACK_PORT}/api/" }
`;

const KUSTOMIZATION = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n';

/** A copy of manifests/ with an overlay beside it, as docs/operations.md advises. */
export class KustomizeTool implements Tool {
  readonly #name: Way['name'];
  readonly #manifests: string;
  readonly #overlay: string;

  constructor(name: Way['name'], directory: string) {
    this.#name = name;
    this.#manifests = join(directory, 'manifests');
    this.#overlay = join(directory, 'ours');
    cpSync(join(ROOT, 'manifests'), this.#manifests, { recursive: true });
    mkdirSync(this.#overlay);
    const policy = { name: 'kdebug-policy', namespace: 'kdebug', behavior: 'replace', files: ['policy.yaml'] };
    const overlay = {
      // In one of them with the optional right, which results ask for.
      resources: [`../manifests/installations/${name}`, ...(name === 'http' ? ['../manifests/components/nodes'] : [])],
      configMapGenerator: [policy],
      generatorOptions: { disableNameSuffixHash: true },
      patches: [{ path: 'here.yaml' }],
    };
    writeFileSync(join(this.#overlay, 'kustomization.yaml'), KUSTOMIZATION + stringify(overlay));
    writeFileSync(join(this.#overlay, 'here.yaml'), HERE);
  }

  async apply({ policy, namespaces, rbac }: Given): Promise<void> {
    writeFileSync(join(this.#overlay, 'policy.yaml'), policy);
    if (rbac !== undefined) {
      writeFileSync(join(this.#manifests, `installations/${this.#name}/rbac.yaml`), rbac);
    } else {
      const bind = (namespace: string) => kubectl(['-n', namespace, 'apply', '-k', this.#bindings]);
      await Promise.all(namespaces.map(bind));
    }
    await kubectl(['apply', '-k', this.#overlay]);
  }

  async forget(namespace: string): Promise<void> {
    // What an earlier rbac.yaml gave in a namespace that the policy no longer names is not the installation's own.
    const printed = ['roles,rolebindings', '-l', 'app.kubernetes.io/name=kdebug'];
    const what = this.#name === 'impersonate' ? printed : ['-k', this.#bindings];
    await kubectl(['-n', namespace, 'delete', ...what, '--ignore-not-found']);
  }

  async uninstall(): Promise<void> {
    await kubectl(['delete', '-k', this.#overlay, '--ignore-not-found']);
  }

  get #bindings(): string {
    return join(this.#manifests, 'components/namespaces');
  }
}

/** The chart, as its values.yaml says, rendered through one patch that says where Slack is here. */
export class HelmTool implements Tool {
  readonly #name: Way['name'];
  readonly #directory: string;
  readonly #renderer: string;

  constructor(name: Way['name'], directory: string) {
    this.#name = name;
    this.#directory = directory;
    this.#renderer = join(directory, 'here');
    const overlay = { resources: ['rendered.yaml'], patches: [{ path: 'here.yaml' }] };
    writeFileSync(join(directory, 'kustomization.yaml'), KUSTOMIZATION + stringify(overlay));
    writeFileSync(join(directory, 'here.yaml'), HERE);
    const kustomize = `exec '${join(CLUSTER, 'kubectl')}' kustomize '${directory}'`;
    writeFileSync(this.#renderer, `#!/bin/sh\nset -e\ncat >'${directory}/rendered.yaml'\n${kustomize}\n`);
    chmodSync(this.#renderer, 0o755);
  }

  async apply({ policy, namespaces, rbac }: Given): Promise<void> {
    const values = join(this.#directory, 'values.yaml');
    const rights = rbac === undefined ? { namespaces } : { rbac };
    writeFileSync(values, stringify({ ...VALUES[this.#name], ...rights, policy }));
    const chart = join(ROOT, 'charts/kdebug');
    const words = ['--namespace', 'kdebug', '--values', values, '--post-renderer', this.#renderer];
    await helm(['upgrade', '--install', 'kdebug', chart, ...words]);
  }

  async forget(): Promise<void> {
    // The release holds them.
  }

  async uninstall(): Promise<void> {
    await helm(['uninstall', 'kdebug', '--namespace', 'kdebug', '--wait']);
  }
}

const VALUES = {
  socket: { mode: 'socket' },
  http: { mode: 'http' },
  several: { mode: 'socket', replicas: 2, redis: true },
  impersonate: { mode: 'socket', impersonate: true },
} as const;
