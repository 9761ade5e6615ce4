import { randomUUID } from 'node:crypto';
import {
  type Labels,
  MIRROR_ANNOTATION,
  type OwnerReference,
  type PodObject,
  type Resources,
  rfc3339,
  type SecurityContext,
} from './objects/pod.ts';
import type { Workload } from './programs/recordings.ts';
import { podFrom } from './resources/pod-defaults.ts';

export interface ContainerToAdd {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Labels;
  readonly securityContext?: SecurityContext;
  readonly resources?: Resources;
  /** What it does: what the diagnostic images find beside it is recorded. */
  readonly workload?: Workload;
}

/** A pod to add. Without containers it gets one, `app`, of image `web`: a service that stays. */
export interface PodToAdd {
  readonly name: string;
  /** Default `default`; made if it is not there. */
  readonly namespace?: string;
  readonly labels?: Labels;
  readonly annotations?: Labels;
  readonly ownerReferences?: readonly Omit<OwnerReference, 'apiVersion' | 'uid'>[];
  readonly containers?: readonly ContainerToAdd[];
  readonly securityContext?: SecurityContext;
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly nodeName?: string;
  /** A static pod's mirror: it refuses ephemeral containers. */
  readonly isMirror?: boolean;
  /** Never scheduled: it stays `Pending`, without a node. */
  readonly isUnscheduled?: boolean;
  readonly os?: 'linux' | 'windows';
}

/** The API object of a pod to add. */
export function podObject(pod: PodToAdd, now: number, nodeName: string): PodObject {
  const containers = (pod.containers ?? [{ name: 'app', image: 'web' }]).map(({ workload: _, env, ...container }) => ({
    ...container,
    ...(env ? { env: Object.entries(env).map(([name, value]) => ({ name, value })) } : {}),
  }));
  const annotations = { ...pod.annotations, ...(pod.isMirror ? { [MIRROR_ANNOTATION]: 'static' } : {}) };
  const raw = {
    metadata: {
      name: pod.name,
      labels: pod.labels ?? { app: pod.name },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec: {
      containers,
      securityContext: pod.securityContext ?? {},
      restartPolicy: pod.restartPolicy ?? 'Always',
      ...(pod.os ? { os: { name: pod.os } } : {}),
    },
  };
  const node = pod.nodeName ?? nodeName;
  const birth = { namespace: pod.namespace ?? 'default', uid: randomUUID(), now: rfc3339(now), nodeName: node };
  const made = podFrom(JSON.parse(JSON.stringify(raw)), birth);
  const owners = pod.ownerReferences?.map((owner) => ({ apiVersion: 'apps/v1', uid: randomUUID(), ...owner }));
  const metadata = { ...made.metadata, ...(owners ? { ownerReferences: owners } : {}) };
  if (!pod.isUnscheduled) return { ...made, metadata };
  const { nodeName: _, ...spec } = made.spec;
  return { ...made, metadata, spec };
}

export function workloadsOf(pod: PodToAdd): Readonly<Record<string, Workload>> {
  return Object.fromEntries(
    (pod.containers ?? []).flatMap(({ name, workload }) => (workload ? [[name, workload] as const] : [])),
  );
}
