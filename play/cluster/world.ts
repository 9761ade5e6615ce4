import type { Clock } from './clock.ts';
import type { Events } from './objects/events.ts';
import type { Places } from './objects/places.ts';
import type { PodObject } from './objects/pod.ts';
import type { PodStore } from './objects/pod-store.ts';
import type { RbacStore } from './objects/rbac-store.ts';
import type { Webhooks } from './resources/webhooks.ts';
import type { ObjectStore } from './stored/object-store.ts';

/** What the API side and the kubelet side share. */
export interface World {
  readonly clock: Clock;
  readonly pods: PodStore;
  readonly places: Places;
  readonly events: Events;
  readonly rbac: RbacStore;
  readonly webhooks: Webhooks;
  readonly objects: ObjectStore;
}

/** What the API server tells the nodes, and asks of them. */
export interface NodeSide {
  podAdded(pod: PodObject): void;
  /** The pod now has ephemeral containers that it had not. */
  ephemeralAdded(pod: PodObject): void;
  podDeleting(pod: PodObject): void;
  /** The only node a new pod can go to. */
  readonly nodeName: string;
}
