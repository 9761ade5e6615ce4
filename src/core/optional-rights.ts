/** A rule of a Role (rbac.authorization.k8s.io/v1 PolicyRule). */
export interface RightsRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Rights that kdebug can do without; each lets an answer say one thing more. */
export interface OptionalRight {
  /** Their subject, for a line of the doctor. */
  readonly what: string;
  readonly rules: readonly RightsRule[];
  /** The objects belong to no namespace, so the right is for the whole cluster. */
  readonly isOfCluster: boolean;
  /** Completes `without it kdebug cannot say …`. */
  readonly brings: string;
}

const rule = (group: string, resources: readonly string[], verbs: readonly string[]): RightsRule => ({
  apiGroups: [group],
  resources,
  verbs,
});

/** The rights of `manifests/components/more-facts`, of the chart's `moreFacts` and of `rbac --more-facts`. All of them only read. */
export const MORE_FACTS: readonly OptionalRight[] = [
  {
    what: 'claims',
    rules: [rule('', ['persistentvolumeclaims'], ['list'])],
    isOfCluster: false,
    brings: 'which claim a pod waits for, and why it has no volume',
  },
  {
    what: 'services',
    rules: [rule('', ['services'], ['list']), rule('discovery.k8s.io', ['endpointslices'], ['list'])],
    isOfCluster: false,
    brings: 'that a Service selects no pod, or has no ready address',
  },
  {
    what: 'workloads',
    rules: [
      rule('apps', ['deployments', 'replicasets', 'statefulsets', 'daemonsets'], ['get']),
      rule('batch', ['jobs', 'cronjobs'], ['get']),
    ],
    isOfCluster: false,
    brings: 'how many pods a workload wants, whether it is paused, who changed it last, and why a Job gave up',
  },
  {
    what: 'revisions',
    rules: [rule('apps', ['replicasets'], ['list'])],
    isOfCluster: false,
    brings: 'which image an earlier revision of a Deployment had, for once-more --image-of',
  },
  {
    what: 'storage classes',
    rules: [rule('storage.k8s.io', ['storageclasses'], ['list'])],
    isOfCluster: true,
    brings: 'that the StorageClass of a claim does not exist',
  },
];
