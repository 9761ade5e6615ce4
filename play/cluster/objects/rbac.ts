import type { Labels } from './pod.ts';

/** rbac.authorization.k8s.io/v1, in the API's own JSON spelling. */
export const RBAC_GROUP = 'rbac.authorization.k8s.io';
export const RBAC_VERSION = `${RBAC_GROUP}/v1`;

export type RbacKind = 'Role' | 'ClusterRole' | 'RoleBinding' | 'ClusterRoleBinding';

export const RBAC_KINDS: Readonly<Record<string, RbacKind>> = {
  roles: 'Role',
  clusterroles: 'ClusterRole',
  rolebindings: 'RoleBinding',
  clusterrolebindings: 'ClusterRoleBinding',
};

export const isNamespacedKind = (kind: RbacKind): boolean => !kind.startsWith('Cluster');

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  /** Absent or empty: any name. */
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface Subject {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

interface RbacMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp: string;
  readonly labels?: Labels;
  readonly annotations?: Labels;
}

interface RbacBase {
  readonly apiVersion: string;
  readonly metadata: RbacMetadata;
}

export interface RoleObject extends RbacBase {
  readonly kind: 'Role' | 'ClusterRole';
  /** `null` as the API server writes a role without rules. */
  readonly rules: readonly PolicyRule[] | null;
}

export interface BindingObject extends RbacBase {
  readonly kind: 'RoleBinding' | 'ClusterRoleBinding';
  readonly subjects?: readonly Subject[];
  readonly roleRef: RoleRef;
}

/** Never changed in place. */
export type RbacObject = RoleObject | BindingObject;

export const isBinding = (object: RbacObject): object is BindingObject => 'roleRef' in object;
