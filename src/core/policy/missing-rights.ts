/**
 * Rights as a rule of a Kubernetes Role has them, one line a rule: `patch pods/ephemeralcontainers` becomes
 * `{ apiGroups: [""], resources: [pods/ephemeralcontainers], verbs: [patch] }`.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/role-v1/
 */
export const rulesFor = (missing: readonly string[]): readonly string[] =>
  missing.map((right) => {
    const [verb = '', resource = ''] = right.split(' ');
    return `{ apiGroups: [""], resources: [${resource}], verbs: [${verb}] }`;
  });
