/** The API objects that the local cluster keeps, in the API's own JSON spelling (core/v1; times are RFC 3339 text). */
export type Labels = Readonly<Record<string, string>>;

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Labels;
  readonly annotations?: Labels;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly JsonObject[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: boolean;
}

export interface SecurityContext {
  readonly privileged?: boolean;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly allowPrivilegeEscalation?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly seccompProfile?: { readonly type: string };
}

interface EnvVar {
  readonly name: string;
  readonly value?: string;
}

/** core/v1 Container and EphemeralContainer: the fields that mean something here; others are stored but unread. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly imagePullPolicy?: string;
  readonly restartPolicy?: string;
  readonly securityContext?: SecurityContext;
  readonly resources?: Resources;
  readonly ports?: readonly Port[];
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: string;
  readonly targetContainerName?: string;
}

export interface Port {
  readonly containerPort: number;
  readonly hostPort?: number;
  readonly protocol?: string;
  readonly name?: string;
}

export interface Resources {
  readonly limits?: Labels;
  readonly requests?: Labels;
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly nodeName?: string;
  readonly nodeSelector?: Labels;
  readonly os?: { readonly name: string };
  readonly restartPolicy?: string;
  readonly securityContext?: SecurityContext;
  readonly shareProcessNamespace?: boolean;
  readonly hostPID?: boolean;
  readonly hostNetwork?: boolean;
  readonly hostIPC?: boolean;
  /** Each has its name and one more key, its type. */
  readonly volumes?: readonly { readonly name: string; readonly [type: string]: Json }[];
  readonly serviceAccountName?: string;
  readonly serviceAccount?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly dnsPolicy?: string;
  readonly schedulerName?: string;
  readonly tolerations?: readonly JsonObject[];
  readonly priority?: number;
  readonly preemptionPolicy?: string;
  readonly enableServiceLinks?: boolean;
}

export interface Termination {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason: string;
  readonly message?: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly containerID: string;
}

/** Exactly one of the three is set in `state`; in `lastState` at most one. */
export interface ContainerState {
  readonly waiting?: { readonly reason: string; readonly message?: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: Termination;
}

export interface ContainerStatus {
  readonly name: string;
  readonly state: ContainerState;
  readonly lastState: ContainerState;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly started?: boolean;
  /** What the runtime was given; absent before it was given anything. */
  readonly resources?: Resources;
  readonly allocatedResources?: Labels;
  readonly user?: {
    readonly linux: { readonly uid: number; readonly gid: number; readonly supplementalGroups: readonly number[] };
  };
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
  readonly lastProbeTime: null;
  readonly lastTransitionTime: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface PodStatus {
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  readonly reason?: string;
  /** The pod's generation that this status speaks of. */
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly hostIP?: string;
  readonly hostIPs?: readonly { readonly ip: string }[];
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly startTime?: string;
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
  readonly qosClass?: string;
}

/** Never changed in place: every change makes a new object, so that an event keeps what it told. */
export interface PodObject {
  readonly kind: 'Pod';
  readonly apiVersion: 'v1';
  readonly metadata: Metadata;
  readonly spec: PodSpec;
  readonly status: PodStatus;
}

export const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** RFC 3339 with whole seconds, as metav1.Time is written. */
export const rfc3339 = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
