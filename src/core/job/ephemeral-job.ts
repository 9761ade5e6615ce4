import type { EnvVar, ImagePullPolicy } from '../container/ephemeral-container.ts';

/** The group and version of the proposal and of Kruise's code. */
export const JOB_API_VERSION = 'apps.kruise.io/v1alpha1';

/**
 * Prefix of selector labels that no pod has. It names a workload as the target (`kdebug/deployment: web`), which
 * EphemeralJob cannot express. Kruise would match nothing with it, never everything.
 */
export const WORKLOAD_LABEL = 'kdebug/';

/** Prefix of annotations for flags that EphemeralJob lacks; the flag's name follows. */
export const FLAG_ANNOTATION = 'kdebug/';

/** The fields that kdebug reads of an EphemeralJob, in the API's spelling. Its names, numbers and labels are valid. */
export interface EphemeralJob {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly selector: LabelSelector;
    readonly replicas?: number;
    readonly parallelism?: number;
    readonly paused?: boolean;
    readonly ttlSecondsAfterCreated?: number;
    readonly template: { readonly ephemeralContainers: readonly JobContainer[] };
  };
}

/** meta/v1 LabelSelector; an empty one matches every pod of the namespace. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

export const LABEL_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

export interface LabelRequirement {
  readonly key: string;
  readonly operator: (typeof LABEL_OPERATORS)[number];
  /** Empty for `Exists` and `DoesNotExist`, at least one for the others. */
  readonly values?: readonly string[];
}

/** The part of core/v1 EphemeralContainer that a template may have. */
export interface JobContainer {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: ImagePullPolicy;
  readonly targetContainerName?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly terminationMessagePolicy?: 'File' | 'FallbackToLogsOnError';
  /** Exactly the settings of one profile. */
  readonly securityContext?: JobSecurityContext;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
}

export interface JobSecurityContext {
  readonly privileged?: boolean;
  readonly runAsNonRoot?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly seccompProfile?: { readonly type: string };
}

/** A mistake in a job's text; line and column from 1. */
export interface ManifestProblem {
  readonly line: number;
  readonly column: number;
  /** Place and problem: `spec.parallelism must be from 1 to 10`. May quote the text. */
  readonly message: string;
}

/** The result of reading a job: the job, or up to twenty problems, not only the first. */
export type ReadJob =
  | { readonly kind: 'ok'; readonly job: EphemeralJob }
  | { readonly kind: 'invalid'; readonly problems: readonly ManifestProblem[] };
