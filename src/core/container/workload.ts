import type { Pod } from './pod.ts';

/** A workload of a kind that kdebug knows, as people write it: `deployment/web`. */
export interface Workload {
  readonly kind: 'deployment' | 'statefulset' | 'daemonset' | 'job';
  readonly name: string;
}

const OWNER_KINDS = { StatefulSet: 'statefulset', DaemonSet: 'daemonset', Job: 'job' } as const;

const isOwnerKind = (kind: string): kind is keyof typeof OWNER_KINDS => Object.hasOwn(OWNER_KINDS, kind);

/**
 * The workload of a pod. A deployment's pods are owned by a ReplicaSet named after the deployment and the pod's own template hash
 * (design, section 3), so no right to read ReplicaSets is needed and `web` is not taken for `web-admin`. Undefined: nobody that
 * we know owns it.
 */
export function workloadOf({ metadata }: Pod): Workload | undefined {
  const owner = metadata.ownerReferences.find(({ controller }) => controller);
  if (!owner) return undefined;
  if (isOwnerKind(owner.kind)) return { kind: OWNER_KINDS[owner.kind], name: owner.name };
  const suffix = `-${metadata.labels['pod-template-hash'] ?? ''}`;
  const isOfDeployment = owner.kind === 'ReplicaSet' && suffix !== '-' && owner.name.endsWith(suffix);
  const name = isOfDeployment ? owner.name.slice(0, -suffix.length) : '';
  return name === '' ? undefined : { kind: 'deployment', name };
}
