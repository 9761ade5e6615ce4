import type { EnvVar, ImagePullPolicy } from '../container/ephemeral-container.ts';

/** The one group and version that the proposal and Kruise's own code use. */
export const JOB_API_VERSION = 'apps.kruise.io/v1alpha1';

/**
 * Labels of a selector that no pod carries: a workload as the target (`kdebug/deployment: web`), which EphemeralJob has no words
 * for. Kruise would match nothing with it, and never everything.
 */
export const WORKLOAD_LABEL = 'kdebug/';

/** Annotations for the flags that EphemeralJob has no words for; the name of each is the flag's. */
export const FLAG_ANNOTATION = 'kdebug/';

/** What kdebug reads of an EphemeralJob, in the API's own spelling. Valid: names, numbers and labels were checked. */
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
  /** None with `Exists` and `DoesNotExist`, at least one with the others. */
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
  /** Exactly what one of the profiles sets. */
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

/** Something wrong in a job's text; both numbers from 1. */
export interface ManifestProblem {
  readonly line: number;
  readonly column: number;
  /** Where it is and what is wrong: `spec.parallelism must be from 1 to 10`. May hold words of the text. */
  readonly message: string;
}

/** A job read from its text. All that is wrong is told, not only the first, at most twenty. */
export type ReadJob =
  | { readonly kind: 'ok'; readonly job: EphemeralJob }
  | { readonly kind: 'invalid'; readonly problems: readonly ManifestProblem[] };
