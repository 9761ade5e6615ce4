import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { KubeConfig, loadYaml, makeAbsolutePath } from '@kubernetes/client-node';
import { KdebugError } from '../../../core/errors.ts';
import type { PolicyCluster } from '../../../core/policy/policy.ts';
import { asObject, asObjects, asText } from './json-fields.ts';

/** Where a cluster's credentials come from. */
export interface KubeconfigSource {
  readonly cluster: PolicyCluster;
  /** Absent: `KUBECONFIG`, `~/.kube/config`, or the pod's own service account, as for kubectl. */
  readonly kubeconfigPath?: string;
}

/**
 * Reads the kubeconfig anew: one object per cluster and reading, because the library caches plug-in tokens by user name
 * inside the object (kubernetes-client/javascript issue 592). @throws KdebugError cluster_config_invalid
 */
export function readKubeconfig({ cluster, kubeconfigPath }: KubeconfigSource): KubeConfig {
  const kubeconfig = new KubeConfig();
  try {
    if (cluster.inCluster) kubeconfig.loadFromCluster();
    else if (kubeconfigPath !== undefined) kubeconfig.loadFromFile(kubeconfigPath);
    else kubeconfig.loadFromDefault();
    if (!cluster.inCluster && kubeconfigPath !== undefined) useTokenFiles(kubeconfig, kubeconfigPath);
  } catch (cause) {
    throw new KdebugError('cluster_config_invalid', { detail: 'it cannot be read', cause });
  }
  if (cluster.context !== undefined) kubeconfig.setCurrentContext(cluster.context);
  if (!kubeconfig.getCurrentCluster() || !kubeconfig.getCurrentUser()) {
    throw new KdebugError('cluster_config_invalid', { detail: `no usable context ${cluster.context ?? ''}`.trim() });
  }
  return kubeconfig;
}

/** client-node 1.4.0 does not know the kubeconfig's own `tokenFile`; it knows the same thing as an auth provider. */
function useTokenFiles(kubeconfig: KubeConfig, path: string): void {
  const users = asObjects(asObject(loadYaml(readFileSync(path, 'utf8'))).users);
  kubeconfig.users = kubeconfig.users.map((user) => {
    const raw = asObject(users.find(({ name }) => name === user.name)?.user);
    const tokenFile = asText(raw.tokenFile);
    if (tokenFile === '' || asText(raw.token) !== '') return user;
    return {
      ...user,
      authProvider: { name: 'tokenFile', config: { tokenFile: makeAbsolutePath(dirname(path), tokenFile) } },
    };
  });
}
