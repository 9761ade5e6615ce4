/**
 * Just enough of OpenAPI v3 for `kubectl apply` and `create -f`: it looks whether the server itself validates fields
 * (`fieldValidation` on PATCH) and then leaves the rest to it.
 */
const DOCUMENTS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'api/v1': [
    ['namespaces', 'Namespace'],
    ['namespaces/{namespace}/pods', 'Pod'],
    ['namespaces/{namespace}/persistentvolumeclaims', 'PersistentVolumeClaim'],
    ['namespaces/{namespace}/services', 'Service'],
  ],
  'apis/apps/v1': [
    ['namespaces/{namespace}/deployments', 'Deployment'],
    ['namespaces/{namespace}/replicasets', 'ReplicaSet'],
    ['namespaces/{namespace}/statefulsets', 'StatefulSet'],
    ['namespaces/{namespace}/daemonsets', 'DaemonSet'],
  ],
  'apis/batch/v1': [
    ['namespaces/{namespace}/jobs', 'Job'],
    ['namespaces/{namespace}/cronjobs', 'CronJob'],
  ],
  'apis/rbac.authorization.k8s.io/v1': [
    ['clusterroles', 'ClusterRole'],
    ['clusterrolebindings', 'ClusterRoleBinding'],
    ['namespaces/{namespace}/roles', 'Role'],
    ['namespaces/{namespace}/rolebindings', 'RoleBinding'],
  ],
};

/** The index or one document of it, or nothing. */
export function openapiOf(path: string): object | undefined {
  if (path === '/openapi/v3') {
    const paths = Object.keys(DOCUMENTS).map((each) => [each, { serverRelativeURL: `/openapi/v3/${each}` }]);
    return { paths: Object.fromEntries(paths) };
  }
  const place = path.replace('/openapi/v3/', '');
  const kinds = DOCUMENTS[place];
  if (!kinds) return undefined;
  const group = place.startsWith('apis/') ? (place.split('/')[1] ?? '') : '';
  const paths = kinds.map(([resource, kind]) => [`/${place}/${resource}/{name}`, patchOf(group, kind)]);
  return {
    openapi: '3.0.0',
    info: { title: 'kdebug local cluster', version: 'v1' },
    paths: Object.fromEntries(paths),
    components: { schemas: {} },
  };
}

function patchOf(group: string, kind: string): object {
  const parameters = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
  }));
  return {
    patch: {
      parameters,
      responses: {},
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group, kind, version: 'v1' },
    },
  };
}
