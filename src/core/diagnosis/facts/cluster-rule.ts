import type { ClusterFacts, WorkloadFacts } from './facts.ts';
import type { Finding } from './report.ts';
import type { FindingRule } from './rules.ts';

/**
 * One trouble that the bot itself can see, through the Kubernetes API and in the logs of the pod's own containers. Adding
 * a trouble is one such row and one recording.
 */
export interface ClusterRule extends FindingRule {
  readonly seenBy: 'cluster';
  /** The sources that it needs, in words. */
  readonly reads: string;
  /** Codes of findings that it causes: they come behind it, whatever their rank. */
  readonly explains?: readonly string[];
  /** Codes of findings that say less of the same: they are left out. */
  readonly replaces?: readonly string[];
  /**
   * Of a pod. Pure. Each finding is about one container or about the pod as a whole, the most important first; undefined:
   * what it reads was not read.
   */
  readonly find?: (facts: ClusterFacts) => readonly Finding[] | undefined;
  /** Of a workload as a whole. Pure. */
  readonly findInWorkload?: (facts: WorkloadFacts) => readonly Finding[];
}
