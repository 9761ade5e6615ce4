/** A revision that a Deployment keeps, in a ReplicaSet of its own. */
export interface Revision {
  readonly number: number;
  /** The image of the container that is asked about, as the template names it. Undefined: it has no such container. */
  readonly image: string | undefined;
}

/** The revisions of the Deployment of a pod, as far as kdebug could read them. */
export type Revisions =
  | {
      readonly kind: 'revisions';
      readonly deployment: string;
      /** The pod's own. */
      readonly own: number;
      readonly all: readonly Revision[];
    }
  /** The pod is no revision of any Deployment. */
  | { readonly kind: 'none' }
  /** kdebug lacks this right: `list replicasets.apps`. */
  | { readonly kind: 'no-right'; readonly right: string };

/** The revision before the pod's own, or the one of this number. */
export type WantedRevision = 'previous' | number;
