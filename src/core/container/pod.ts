/**
 * The fields that kdebug reads of a core/v1 Pod, in the API's JSON spelling (times are RFC 3339 text). The cluster
 * adapter drops all other fields, so that a watch over thousands of pods stays small.
 */
export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    /** The finalizers that hold back a deleted pod. Absent: none. */
    readonly finalizers?: readonly string[];
    readonly labels: Readonly<Record<string, string>>;
    /** Only `kubernetes.io/config.mirror` and those of kubectl: `default-container` and `restartedAt`. */
    readonly annotations: Readonly<Record<string, string>>;
    readonly ownerReferences: readonly { readonly kind: string; readonly name: string; readonly controller: boolean }[];
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly os?: string;
    readonly nodeSelectorOs?: string;
    readonly serviceAccountName?: string;
    readonly nodeSelector?: Readonly<Record<string, string>>;
    /** `topologyKey`s of its topologySpreadConstraints. Absent: none. */
    readonly spreadKeys?: readonly string[];
    /** Names of the PersistentVolumeClaims of its volumes, also of generic ephemeral volumes. Absent: none. */
    readonly claims?: readonly string[];
    /** Names of its emptyDirs of medium Memory. Absent: none. */
    readonly memoryVolumes?: readonly string[];
    /** Names of its `schedulingGates`. Absent: none. */
    readonly schedulingGates?: readonly string[];
    readonly shareProcessNamespace: boolean;
    readonly hostPID: boolean;
    readonly hostIPC: boolean;
    readonly hostNetwork: boolean;
    readonly securityContext: PodSecurityContext;
    readonly containers: readonly PodContainer[];
    readonly initContainers: readonly PodContainer[];
    /** All of them, not only kdebug's. */
    readonly ephemeralContainers: readonly PodEphemeralContainer[];
  };
  readonly status: {
    readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
    /** The reason why the pod failed as a whole: `Evicted`. */
    readonly reason?: string;
    readonly message?: string;
    /** Only those of Kubernetes itself that a healthy, running pod has met. Absent: none, or the pod is over. */
    readonly unmetConditions?: readonly PodCondition[];
    /** `lastTransitionTime` of the condition Ready, where it is met. */
    readonly readySince?: string;
    readonly containerStatuses: readonly ContainerStatus[];
    readonly initContainerStatuses: readonly ContainerStatus[];
    readonly ephemeralContainerStatuses: readonly ContainerStatus[];
  };
}

/** core/v1 PodCondition that is not met; of type `DisruptionTarget` one that is. */
export interface PodCondition {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  /** `lastTransitionTime` */
  readonly since: string;
}

export interface PodSecurityContext {
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  /** `seLinuxOptions` without its level. A container's own, even if empty, replace the pod's. */
  readonly seLinux?: { readonly type?: string; readonly user?: string; readonly role?: string };
  /** `appArmorProfile.type`, of a container also as its annotation says, and `seccompProfile.type`. */
  readonly appArmor?: string;
  readonly seccomp?: string;
}

/** The powers of a container and the user that it runs as. The pod, the image or the runtime decides absent fields. */
export interface ContainerSecurityContext extends PodSecurityContext {
  readonly privileged?: boolean;
  /** `capabilities.add` in the API's spelling: without `CAP_`, or `ALL`. */
  readonly capabilities?: readonly string[];
  /** `procMount: Unmasked`: makes `/proc/sys` and similar writable. */
  readonly unmaskedProc?: boolean;
}

/** The facts about any container that decide the class of a launch. */
interface AnyContainer {
  readonly name: string;
  readonly image: string;
  readonly securityContext: ContainerSecurityContext;
  /** Mounted volumes that reach beyond the pod, by name and kind (`hostPath`, `nfs`). Absent: none. */
  readonly sharedVolumes?: readonly { readonly name: string; readonly kind: string }[];
}

export interface PodEphemeralContainer extends Omit<AnyContainer, 'securityContext'> {
  readonly securityContext?: ContainerSecurityContext;
  readonly targetContainerName?: string;
  /** `KDEBUG_RUN` and `KDEBUG_REQUESTER`. */
  readonly runId?: string;
  readonly requesterId?: string;
  /** `KDEBUG_REF`, sealed. */
  readonly ref?: string;
  /** `KDEBUG_NOT_AFTER`. */
  readonly notAfterMs?: number;
  /** `KDEBUG_ONCE_MORE`: the container whose program runs a second time in it. */
  readonly copyOf?: string;
  /** With a `KDEBUG_RUN` or `KDEBUG_STOPS`: its `fingerprintOf`. */
  readonly fingerprint?: string;
}

export interface PodContainer extends AnyContainer {
  /** Its spec has a `command` or `args`, replacing the image's. */
  readonly hasOwnCommand?: boolean;
  /** `readOnlyRootFilesystem`, and no writable volume at `/tmp`. */
  readonly hasReadOnlyTmp?: boolean;
  /** Its words or variables have `-XX:+DisableAttachMechanism`, which closes a JVM to diagnosis. */
  readonly disablesAttach?: boolean;
  /** `containerPort`s, and the names of those that have one. Absent: none. */
  readonly ports?: readonly number[];
  readonly portNames?: readonly string[];
  readonly probes?: Readonly<Partial<Record<ProbeKind, Probe>>>;
  /** `resources.limits` and `resources.requests`. */
  readonly memoryLimit?: string;
  readonly cpuLimit?: string;
  readonly memoryRequest?: string;
  readonly cpuRequest?: string;
  /** `resources.requests` sets memory and CPU (the API server copies the limits by default). */
  readonly hasRequests?: boolean;
  /** `Always` on an init container makes it a sidecar. */
  readonly restartPolicy?: string;
}

export const PROBE_KINDS = ['startup', 'liveness', 'readiness'] as const;
export type ProbeKind = (typeof PROBE_KINDS)[number];

/** core/v1 Probe. Absent numbers have the API's defaults. */
export interface Probe {
  readonly by: 'http' | 'tcp' | 'grpc' | 'exec';
  /** A number, or the name of a port of the container. */
  readonly port?: number | string;
  readonly path?: string;
  /** The words of an exec probe in one line, at most 200 characters. */
  readonly command?: string;
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly initialDelaySeconds?: number;
  readonly failureThreshold?: number;
}

/** core/v1 ContainerStatus. Sets exactly one of the three states, or none before the kubelet reports. */
export interface ContainerStatus {
  readonly name: string;
  readonly image: string;
  readonly imageID: string;
  readonly restartCount: number;
  /** The result of its readiness probe, if it has one. */
  readonly ready?: boolean;
  readonly waiting?: { readonly reason: string; readonly message: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: ContainerTermination;
  readonly lastTermination?: ContainerTermination;
  /** `user.linux` (Kubernetes 1.31 and newer, if the runtime reports it). */
  readonly user?: { readonly uid: number; readonly gid: number };
}

export interface ContainerTermination {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason: string;
  readonly message: string;
  readonly startedAt: string;
  readonly finishedAt: string;
}

/** core/v1 Event about a pod. */
export interface PodEvent {
  readonly reason: string;
  readonly message: string;
  readonly type: string;
  /** The latest time. */
  readonly atMs: number;
  /** The number of occurrences; the API merges similar events. */
  readonly count?: number;
  /** The part of the pod, e.g. `spec.containers{web}`. */
  readonly fieldPath?: string;
}

export interface PodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Pod Security Admission levels, least strict first. */
export type PodSecurityLevel = 'privileged' | 'baseline' | 'restricted';

/** The fields that kdebug reads of a core/v1 Node. */
export interface Node {
  readonly name: string;
  /** core/v1 NodeCondition: `Ready`, `MemoryPressure`, `DiskPressure`, `PIDPressure` and others. */
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
  /** Its label `topology.kubernetes.io/zone`. */
  readonly zone?: string;
  /** `status.nodeInfo.kernelVersion` and `kubeletVersion`. */
  readonly kernel?: string;
  readonly kubelet?: string;
}

/** A workload of a kind that kdebug supports: `deployment/web`. */
export interface Workload {
  readonly kind: 'deployment' | 'statefulset' | 'daemonset' | 'job';
  readonly name: string;
}

/** Set by the Deployment controller on its ReplicaSets and their pods. */
export const TEMPLATE_HASH = 'pod-template-hash';

const OWNER_KINDS = { StatefulSet: 'statefulset', DaemonSet: 'daemonset', Job: 'job' } as const;
const isOwnerKind = (kind: string): kind is keyof typeof OWNER_KINDS => Object.hasOwn(OWNER_KINDS, kind);
type PodMetadata = Pick<Pod, 'metadata'>;

/** The object that manages the pod, of any kind. */
export const controllerOf = ({ metadata }: PodMetadata): Pod['metadata']['ownerReferences'][number] | undefined =>
  metadata.ownerReferences.find(({ controller }) => controller);

/** Equal for pods made from the same template of one workload; undefined where the controller marks none. */
export const versionOf = ({ metadata: { labels } }: PodMetadata): string | undefined =>
  labels[TEMPLATE_HASH] ?? labels['controller-revision-hash'];

/**
 * The workload of a pod. A deployment's pods belong to a ReplicaSet named after the deployment and the pod's template
 * hash (design, section 3). So kdebug needs no right to read ReplicaSets and never confuses `web` with `web-admin`.
 * Undefined: no supported workload owns the pod.
 */
export function workloadOf({ metadata }: PodMetadata): Workload | undefined {
  const owner = controllerOf({ metadata });
  if (!owner) return undefined;
  if (isOwnerKind(owner.kind)) return { kind: OWNER_KINDS[owner.kind], name: owner.name };
  const suffix = `-${metadata.labels[TEMPLATE_HASH] ?? ''}`;
  const isOfDeployment = owner.kind === 'ReplicaSet' && suffix !== '-' && owner.name.endsWith(suffix);
  const name = isOfDeployment ? owner.name.slice(0, -suffix.length) : '';
  return name === '' ? undefined : { kind: 'deployment', name };
}

/** The oldest pod first; of the same age by name. */
export function byAge({ metadata: a }: PodMetadata, { metadata: b }: PodMetadata): number {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

/** Of an init container: it runs as long as the pod. */
export const isSidecar = ({ restartPolicy }: PodContainer): boolean => restartPolicy === 'Always';

/** The containers that run as long as the pod. */
export const lastingContainers = ({ spec }: Pick<Pod, 'spec'>): readonly PodContainer[] => [
  ...spec.containers,
  ...spec.initContainers.filter(isSidecar),
];

/** Undefined: the condition is met, or the pod is over. */
export const unmetCondition = ({ status }: Pick<Pod, 'status'>, type: string): PodCondition | undefined =>
  status.unmetConditions?.find((condition) => condition.type === type);
