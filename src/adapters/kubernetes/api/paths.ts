import { isDnsLabel, isDnsSubdomain } from '../../../core/container/names.ts';
import { KdebugError } from '../../../core/errors.ts';
import type { WorkloadKind } from '../../../core/request/command.ts';

function checked(kind: string, name: string, valid: boolean): string {
  if (valid) return name;
  throw new KdebugError('invalid_name', { detail: `${kind} ${JSON.stringify(name.slice(0, 80))}`, facts: { kind } });
}

/** @throws KdebugError invalid_name */
export const checkedContainer = (name: string): string => checked('container', name, isDnsLabel(name));

/**
 * The URL paths that kdebug uses. They check names first, so that no name can reach another resource.
 * @throws KdebugError invalid_name
 */
export const namespacePath = (namespace: string): string =>
  `/api/v1/namespaces/${checked('namespace', namespace, isDnsLabel(namespace))}`;

export const groupPath = (group: string, namespace: string): string =>
  `/apis/${group}/namespaces/${checked('namespace', namespace, isDnsLabel(namespace))}`;

export const storageClassesPath = '/apis/storage.k8s.io/v1/storageclasses';

const GROUPS = {
  deployment: 'apps/v1',
  replicaset: 'apps/v1',
  statefulset: 'apps/v1',
  daemonset: 'apps/v1',
  job: 'batch/v1',
  cronjob: 'batch/v1',
} as const satisfies Record<WorkloadKind, string>;

export const workloadPath = (namespace: string, kind: WorkloadKind, name: string): string =>
  `${groupPath(GROUPS[kind], namespace)}/${kind}s/${checked(kind, name, isDnsSubdomain(name))}`;

export const replicaSetsPath = (namespace: string): string => `${groupPath(GROUPS.replicaset, namespace)}/replicasets`;

export const podsPath = (namespace: string): string => `${namespacePath(namespace)}/pods`;

export const podPath = (namespace: string, name: string): string =>
  `${podsPath(namespace)}/${checked('pod', name, isDnsSubdomain(name))}`;

export const nodePath = (name: string): string => `/api/v1/nodes/${checked('node', name, isDnsSubdomain(name))}`;
