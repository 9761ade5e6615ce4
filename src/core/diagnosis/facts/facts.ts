import type { Node, Pod, PodCondition, PodEvent } from '../../container/pod.ts';
import type { TargetLogRight } from '../../policy/policy.ts';
import type { WorkloadKind } from '../../request/command.ts';

/** kdebug's own container, and its launch by kdebug's clock. */
export interface Launch {
  readonly containerName: string;
  readonly launchedAtMs: number;
}

/** A core/v1 Event of type Warning about any object of a namespace: a pod, its ReplicaSet, its claim, its Job. */
export interface ObjectEvent extends PodEvent {
  readonly involved: { readonly kind: string; readonly name: string; readonly uid?: string };
}

/** The fields that kdebug reads of a core/v1 PersistentVolumeClaim. */
export interface Claim {
  readonly name: string;
  readonly phase: string;
  /** `spec.storageClassName`; absent: the cluster's default class, empty: none. */
  readonly storageClass?: string;
  readonly volumeName?: string;
  /** `spec.resources.requests.storage`. */
  readonly requested?: string;
}

/** A core/v1 Service, with its addresses from discovery/v1 EndpointSlices. */
export interface ServiceFact {
  readonly name: string;
  /** Empty: somebody else keeps its endpoints. */
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly { readonly port: number; readonly targetPort: number | string }[];
  /** Its name resolves to the pods themselves, so its ports redirect nothing. */
  readonly isHeadless?: true;
  /** Addresses in all its slices; undefined: the slices were not read. */
  readonly addresses?: { readonly ready: number; readonly notReady: number };
}

/** The fields that kdebug reads of an apps/v1 or batch/v1 object (optional right). */
export interface WorkloadFact {
  readonly kind: WorkloadKind;
  readonly name: string;
  readonly uid: string;
  /** `spec.replicas`, `status.desiredNumberScheduled`, or `spec.completions` of a Job. */
  readonly wanted?: number;
  /** Of a Job: how many pods succeeded. */
  readonly ready: number;
  /** Pods of the newest template. */
  readonly updated?: number;
  /** Of a Job. */
  readonly failed?: number;
  readonly active?: number;
  /** The setting that keeps a StatefulSet or DaemonSet from replacing its pods: `OnDelete`, or `partition 2`. */
  readonly heldBack?: string;
  /** Of a CronJob: `spec.schedule` and `status.lastScheduleTime`. */
  readonly schedule?: string;
  readonly lastScheduledAtMs?: number;
  /** `spec.suspend` of a Job or CronJob, `spec.paused` of a Deployment. */
  readonly suspended?: boolean;
  /** Of a Job: `spec.backoffLimit`. */
  readonly backoffLimit?: number;
  /** `status.conditions`, all of them, whatever their status. */
  readonly conditions: readonly (PodCondition & { readonly status: string })[];
  readonly createdAtMs: number;
  /** The last change of its spec, and the program that made it. Absent: the API server does not say. */
  readonly lastChange?: LastChange;
  /** Its labels and annotations of `OWNER_MARKS`, each at most 253 characters; redacted. */
  readonly marks?: Readonly<Partial<Record<OwnerMark, string>>>;
}

/** The newest entry of an object's `managedFields` that holds a part of its spec. */
export interface LastChange {
  readonly atMs: number;
  /** The name that it gave itself, at most 128 characters: `kubectl-client-side-apply`, `argocd-controller`, `helm`. Redacted. */
  readonly manager: string;
}

/** Labels and annotations that tell who keeps a workload, and which state of it this is. */
export const OWNER_MARKS = [
  'app.kubernetes.io/managed-by',
  'app.kubernetes.io/version',
  'argocd.argoproj.io/tracking-id',
  'deployment.kubernetes.io/revision',
  'helm.toolkit.fluxcd.io/name',
  'helm.toolkit.fluxcd.io/namespace',
  'kustomize.toolkit.fluxcd.io/name',
  'kustomize.toolkit.fluxcd.io/namespace',
  'meta.helm.sh/release-name',
] as const;
export type OwnerMark = (typeof OWNER_MARKS)[number];

/** The last words of a container that ended (core/v1 `pods/log`, `previous` where it was restarted). Redacted, cleaned. */
export interface LastWords {
  readonly containerName: string;
  /** The line that says why, at most 300 characters; undefined: the container wrote nothing. */
  readonly line?: string;
  /** At most five more lines around it or from the end, in their order. */
  readonly more: readonly string[];
}

/** Error lines of one shape: equal but for numbers, ids, quoted words and times. */
export interface LogShape {
  /** The newest line of this shape, without its time and level; redacted, at most 300 characters. */
  readonly line: string;
  readonly count: number;
  readonly level: 'fatal' | 'error' | 'warning';
  /** A request that was answered with 500 or more: what the program says itself comes first. */
  readonly isAccess?: true;
  /** It says that something ended for good, or was given up. */
  readonly isFinal?: true;
  /** By the kubelet's stamps. */
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** Of the first line since the shape last was silent for two minutes. */
  readonly sinceMs: number;
  /** Of the tenth newest line. Absent: there are fewer. */
  readonly tenthAtMs?: number;
}

/** The errors and newest lines of a running container. */
export interface TargetLog {
  readonly containerName: string;
  /** Lines that were read, at most 5,000. */
  readonly lines: number;
  /** By the kubelet's stamps; undefined where the log is empty. */
  readonly firstAtMs?: number;
  readonly lastAtMs?: number;
  /** Its newest line that has words, without its time and level; redacted, at most 300 characters. */
  readonly newest?: string;
  /** The same of the newest line that says that the program listens on 127.0.0.1 or localhost. */
  readonly onLoopback?: string;
  /** At most twenty: the worst level first, then what is final, then what is no access line, then the most frequent. */
  readonly shapes: readonly LogShape[];
  /** Its newest lines, at most five, in their order; only where the policy says `targetLog: tail`. Redacted, cleaned. */
  readonly tail?: readonly string[];
}

/** A fact that a first answer lacks; its reader must not conclude that all is well. */
export interface NotRead {
  readonly what: 'events' | 'node' | 'claims' | 'services' | 'workload' | 'last-words' | 'log';
  /**
   * `forbidden`: kdebug or the person lacks the right; `late`: no answer in time; `policy`: the rule's `targetLog`; `cut`: there are
   * more than one answer reads.
   */
  readonly why: 'forbidden' | 'late' | 'policy' | 'failed' | 'cut';
  readonly containerName?: string;
}

/**
 * The state of a pod in the Kubernetes API at one moment. An undefined field was not read (`notRead` has the reason).
 */
export interface ClusterFacts {
  readonly pod: Pod;
  readonly targetContainerName: string | undefined;
  /** Pods of the namespace that carry a template hash. */
  readonly versionedPods: readonly Pod[];
  /** About the pod itself, of the warnings below. Newest first. */
  readonly events: readonly PodEvent[] | undefined;
  /** Undefined if the bot has no right to read it, or could not. */
  readonly node: Node | undefined;
  readonly nowMs: number;
  readonly launch?: Launch | undefined;
  /** About the pod, what made it, and its claims; newest first. */
  readonly warnings?: readonly ObjectEvent[] | undefined;
  /** Of the namespace (optional right). */
  readonly claims?: readonly Claim[] | undefined;
  /** Names of the cluster's StorageClasses (optional right). */
  readonly storageClasses?: readonly string[] | undefined;
  /** Of the namespace (optional right). */
  readonly services?: readonly ServiceFact[] | undefined;
  /** The pod's own workload (optional right); of a pod of a Job only once the pod has failed. */
  readonly workload?: WorkloadFact | undefined;
  /**
   * What whoever asked may read of the logs of all its containers, whichever were read: also a termination message may be the
   * end of a log. Absent: nothing.
   */
  readonly logRight?: TargetLogRight | undefined;
  /** One of each container that ended and was asked for its last words. */
  readonly lastWords?: readonly LastWords[] | undefined;
  /** One of each running container whose log was read. */
  readonly logs?: readonly TargetLog[] | undefined;
  readonly notRead?: readonly NotRead[] | undefined;
}

/** The state of a workload in the API, or of the pods of a selector, at one moment. */
export interface WorkloadFacts {
  /** `deployment/web`, or the selector in its canonical spelling. */
  readonly name: string;
  readonly kind: WorkloadKind | 'selector';
  /** Undefined without the optional right, and for a selector. */
  readonly workload: WorkloadFact | undefined;
  /** Its pods, the oldest first; each with the facts of the open watch and the shared lists, the worst few with logs. */
  readonly pods: readonly ClusterFacts[];
  /** Warnings about the workload itself, its ReplicaSets, Jobs and claims; newest first. */
  readonly warnings: readonly ObjectEvent[] | undefined;
  readonly services?: readonly ServiceFact[] | undefined;
  readonly claims?: readonly Claim[] | undefined;
  readonly nowMs: number;
  readonly notRead: readonly NotRead[];
}
