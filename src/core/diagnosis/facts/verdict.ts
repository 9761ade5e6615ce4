import type { UserAndGroup } from '../../container/profiles.ts';

/** Foreign lines that show a finding: the last words of a container, or error lines of a log. Redacted and bounded. */
export interface Evidence {
  /** `Last words of web`, `Errors in the log of web`. */
  readonly title: string;
  /** At most six, each at most 300 characters. */
  readonly lines: readonly string[];
}

/**
 * The answer to a diagnosis: what the API, the last words and the log say, and the image's report once there is one,
 * shortened for a reply.
 */
export interface Verdict {
  /** Absent without a report and without a first answer: then the outcome is the headline, and the findings explain it. */
  readonly line?: string;
  /** What is well where nothing is wrong, for the sentence after a look: `ready, never restarted, no errors in its log`. */
  readonly well?: string;
  /** The pod is ready, its log was read, and nothing is wrong: the only verdict that a green tick may go with. */
  readonly healthy?: true;
  /** The time at which the API and the logs were read for it. */
  readonly readAtMs?: number;
  /** Set where the log of the pod's own containers was read for it: its words may quote lines of it. */
  readonly ownLog?: true;
  /** The last change of the workload, where it is recent: `Deployment changed 12 min ago by Argo CD`. No cause by itself. */
  readonly changed?: string;
  /** For the thread; at most three. */
  readonly evidence?: readonly Evidence[];
  /** At most three, the most important first. */
  readonly findings: readonly VerdictFinding[];
  /** Findings that are only in the file. */
  readonly more?: number;
  /** One line. */
  readonly fine?: string;
  /** One line each: what could not be checked, why, and how to change that. */
  readonly unseen?: readonly string[];
  /** The series that moved while the image ran; at most two. */
  readonly charts?: readonly Chart[];
  /** Offered as a button. */
  readonly lookAgain?: LookAgain;
  /** The alias of the image that shows more of a finding, or `once-more`; offered as a button. */
  readonly nextImage?: string;
  /** As whom it would see most; absent: as this run. */
  readonly nextAs?: LookAgain;
  /** The tool, its user and its cost; one line. */
  readonly by?: string;
  /**
   * Set where the verdict is about a workload or the pods of a selector, not about one pod: its pods by their worst
   * finding, the worst group first.
   */
  readonly groups?: readonly VerdictGroup[];
  /** The number of other ready pods of the pod's workload. Absent: unknown. */
  readonly siblings?: number;
}

/** Pods with the same worst finding. */
export interface VerdictGroup {
  /** A phrase, at most 300 characters. */
  readonly text: string;
  /** As of a finding; absent: nothing was found in them. */
  readonly rank?: 1 | 2 | 3;
  /** At most twenty. */
  readonly podNames: readonly string[];
  /** Pods of the group beside those. Absent: none. */
  readonly more?: number;
}

/** Readings of one thing at a few moments, to be drawn as lines. */
export interface Chart {
  /** At most 50 characters. */
  readonly title: string;
  /** Of all values: `MiB`. May be empty. */
  readonly unit: string;
  /** 3 to 20 different words, one for each reading: `0.3 s`. */
  readonly moments: readonly string[];
  /** One or two, with different names of at most 20 characters and a value for each moment. */
  readonly lines: readonly { readonly name: string; readonly values: readonly number[] }[];
}

export interface VerdictFinding {
  /** Of its rule; absent for findings of images without one. */
  readonly code?: string;
  /** The container that it is about; absent: the pod, or unknown. */
  readonly containerName?: string;
  /** A phrase with the number in it. */
  readonly text: string;
  /** The threshold: `90%`. */
  readonly limit?: string;
  /** One sentence on what to do; may be empty. */
  readonly next: string;
  /** As in the findings' table: 3 is worth knowing, below it something is wrong. */
  readonly rank?: 1 | 2 | 3;
  /** As of a finding. */
  readonly explains?: readonly string[];
}

/** A finding without a rank comes from an image without a rule, and counts as wrong. */
export const rankOfShown = ({ rank = 2 }: Pick<VerdictFinding, 'rank'>): 1 | 2 | 3 => rank;

/** More than worth knowing. */
export const isTrouble = (finding: Pick<VerdictFinding, 'rank'>): boolean => rankOfShown(finding) < 3;

/** The same request with another view: as the target's own user and group, or as root with the profile *general*. */
export type LookAgain = { readonly kind: 'identity'; readonly runAs: UserAndGroup } | { readonly kind: 'general' };
