import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CoreV1Api,
  KubeConfig,
  type KubernetesObject,
  KubernetesObjectApi,
  RbacAuthorizationV1Api,
  type V1RoleBinding,
} from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { KubernetesCluster } from '../../src/adapters/kubernetes/cluster.ts';
import { FakeClock } from '../support/fake-clock.ts';

/** A service account on the cluster under test, as poor as it is made, and kdebug's own cluster adapter in its name. */
export class ServiceAccount {
  readonly name: string;
  readonly namespace: string;
  readonly clock = new FakeClock();
  readonly #admin = new KubeConfig();
  readonly #directory = mkdtempSync(join(tmpdir(), 'kdebug-account-'));
  readonly #clusterWide: KubernetesObject[] = [];
  #cluster: KubernetesCluster | undefined;

  constructor(kubeconfig: string, namespace: string) {
    this.#admin.loadFromString(kubeconfig);
    this.namespace = namespace;
    // Cluster roles are named after it, so it bears the random part of its namespace.
    this.name = `bot-${namespace.split('-').at(-1)}`;
  }

  /** Makes the account and gives it a token. */
  async open(): Promise<KubernetesCluster> {
    const core = this.#admin.makeApiClient(CoreV1Api);
    const { name, namespace } = this;
    await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name } } });
    const body = { spec: { audiences: [], expirationSeconds: 3_600 } };
    const { status } = await core.createNamespacedServiceAccountToken({ namespace, name, body });
    const config = new KubeConfig();
    const cluster = this.#admin.getCurrentCluster();
    if (!cluster || status === undefined) throw new Error('no cluster, or no token');
    config.loadFromClusterAndUser(cluster, { name, token: status.token });
    const kubeconfigPath = join(this.#directory, 'config');
    writeFileSync(kubeconfigPath, config.exportConfig());
    const { clock } = this;
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const source = { cluster: { inCluster: false, default: true }, kubeconfigPath };
    this.#cluster = new KubernetesCluster({ name: 'test', version: '0', source, clock, log });
    return this.#cluster;
  }

  /** Creates the objects of a YAML text, as the administrator. */
  async apply(yaml: string): Promise<void> {
    const api = KubernetesObjectApi.makeApiClient(this.#admin);
    for (const document of parseAllDocuments(yaml)) {
      const object = document.toJS() as KubernetesObject | null;
      if (!object) continue;
      if (object.metadata?.namespace === undefined) this.#clusterWide.push(object);
      await api.create(object);
    }
  }

  /** Binds a role of the cluster, to one user in one namespace. */
  async bind(namespace: string, role: string, user: string): Promise<V1RoleBinding> {
    const apiGroup = 'rbac.authorization.k8s.io';
    const body = {
      metadata: { generateName: 'kdebug-test-' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup, kind: 'User', name: user }],
    };
    return this.#admin.makeApiClient(RbacAuthorizationV1Api).createNamespacedRoleBinding({ namespace, body });
  }

  async unbind({ metadata }: V1RoleBinding): Promise<void> {
    const { name = '', namespace = '' } = metadata ?? {};
    await this.#admin.makeApiClient(RbacAuthorizationV1Api).deleteNamespacedRoleBinding({ namespace, name });
  }

  /** Removes what is not in a namespace of the test. */
  async close(): Promise<void> {
    await this.#cluster?.close();
    const api = KubernetesObjectApi.makeApiClient(this.#admin);
    for (const object of this.#clusterWide) await api.delete(object);
    rmSync(this.#directory, { recursive: true });
  }
}
