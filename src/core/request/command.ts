import type { EnvVar, ImagePullPolicy } from '../container/ephemeral-container.ts';
import type { ProfileName, UserAndGroup } from '../container/profiles.ts';
import type { WantedRevision } from '../container/revisions.ts';
import type { ReasonCode } from '../errors.ts';
import type { OutcomeWord } from '../outcome.ts';

/** The kinds of workloads that a request may aim at. Of several that one object belongs to, the first is what people mean. */
export const WORKLOAD_KINDS = ['deployment', 'statefulset', 'daemonset', 'cronjob', 'job', 'replicaset'] as const;
export type WorkloadKind = (typeof WORKLOAD_KINDS)[number];

/**
 * The target of a request. Every kind but `pod` is for several pods: a batch, or a question about them (`isQuestion`).
 */
export type Target =
  | { readonly kind: 'pod'; readonly name: string }
  | {
      readonly kind: 'workload';
      readonly workload: WorkloadKind;
      readonly name: string;
    }
  | { readonly kind: 'selector'; readonly selector: string }
  | { readonly kind: 'all' }
  /** One pod, and healthy siblings of its owner to compare it with. */
  | { readonly kind: 'compare'; readonly name: string };

/** A request as typed: nothing resolved, no default but the profile's. Times in milliseconds. */
export interface RunRequest {
  readonly target: Target;
  readonly cluster?: string;
  readonly namespace?: string;
  /** `--target=NAME`, `--no-target`, or absent: the bot chooses. */
  readonly targetContainer?: { readonly kind: 'named'; readonly name: string } | { readonly kind: 'none' };
  /** A catalogue alias or an image reference; absent: the policy's `defaultImage`. */
  readonly image?: string;
  /** `-c`: a label that people see; container names are derived. */
  readonly label?: string;
  readonly env: readonly EnvVar[];
  readonly profile: ProfileName;
  /** The user and group to run as. Only the button "Look again" sets it; there is no flag. */
  readonly runAs?: UserAndGroup;
  readonly imagePullPolicy?: ImagePullPolicy;
  /** The words after `--`. */
  readonly command: readonly string[];
  /** `--arguments-only`: `command` holds arguments for the image's own entry point. */
  readonly argumentsOnly: boolean;
  readonly timeoutMs?: number;
  readonly reason?: string;
  /** Run the program of the target container a second time. No image is named, at most a revision that had another. */
  readonly onceMore?: {
    /** Variables to leave out. */
    readonly withoutEnv: readonly string[];
    readonly imageOf?: WantedRevision;
    /** Without the tracer that could end it. */
    readonly untraced?: boolean;
  };
  readonly dryRun: boolean;
  readonly batch: {
    readonly replicas?: number;
    readonly parallelism?: number;
    readonly ttlMs?: number;
    readonly canary: boolean;
  };
}

/** By convention, the alias of the image that can look for a comparison. */
export const COMPARING_IMAGE = 'autodiagnose';

/** The runs that `list` shows. */
export interface RunFilter {
  /** Only the reader's own. */
  readonly mine?: true;
  /** Of other channels too: those for which the reader approves; with `mine`, all. */
  readonly all?: true;
  /** In the pod's name, in lower case. */
  readonly pod?: string;
  readonly outcome?: OutcomeWord;
  /** From 1. */
  readonly page?: number;
}

/** The lines of a log that `logs` shows; without any of these, an excerpt. */
export interface LogFilter {
  /** At most so many, the last ones. */
  readonly tail?: number;
  readonly sinceMs?: number;
  /** A literal; case does not matter. */
  readonly grep?: string;
}

/** Every command that `/kdebug` understands (design, section 3.1). */
export type Command =
  | { readonly kind: 'run'; readonly request: RunRequest }
  | { readonly kind: 'form' }
  | { readonly kind: 'help'; readonly topic?: string }
  | ({ readonly kind: 'list' } & RunFilter)
  | { readonly kind: 'images' }
  | { readonly kind: 'whoami' }
  | { readonly kind: 'show'; readonly id: string }
  | { readonly kind: 'stop'; readonly id: string }
  | { readonly kind: 'rerun'; readonly id: string }
  | ({ readonly kind: 'logs'; readonly id: string } & LogFilter)
  | { readonly kind: 'export'; readonly id: string }
  | { readonly kind: 'describe'; readonly pod: string; readonly namespace?: string; readonly cluster?: string }
  | { readonly kind: 'can-i'; readonly request: RunRequest }
  | {
      readonly kind: 'batch';
      readonly id: string;
      readonly change?:
        | { readonly kind: 'pause' | 'resume' | 'continue' | 'cancel' }
        | { readonly kind: 'scale'; readonly parallelism?: number; readonly replicas?: number };
    }
  | { readonly kind: 'apply'; readonly namespace?: string; readonly cluster?: string; readonly yaml?: string };

export interface CommandError {
  /** Stable code from `core/errors.ts`, section "the command". */
  readonly code: ReasonCode;
  /** One sentence that names the wrong word. */
  readonly message: string;
  /** The nearest right word, or what to do next. */
  readonly hint?: string;
  /** The repaired command line that the columns refer to. */
  readonly text: string;
  /** First column of the wrong word in `text`, from 0, in UTF-16 units. */
  readonly start: number;
  /** One past its last column; `start` at the end of `text` means "something is missing here". */
  readonly end: number;
}

export type ParsedCommand =
  | {
      readonly kind: 'ok';
      readonly command: Command;
      /** One sentence for each ignored word, with the reason; shown to the person. */
      readonly notes?: readonly string[];
    }
  | { readonly kind: 'error'; readonly error: CommandError };
