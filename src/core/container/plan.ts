import { canonicalJson, sha256 } from '../hash.ts';
import type { ClassReason } from '../policy/class-facts.ts';
import type { ImageClass } from '../policy/policy.ts';
import type { EnvVar, ImagePullPolicy, SecurityContext } from './ephemeral-container.ts';
import type { PodSecurityLevel, Workload } from './pod.ts';
import type { Profile, ProfileName } from './profiles.ts';

/**
 * A request after everything was resolved. This, and not the words, is what is decided on, approved and launched;
 * its hash (`planHash`) covers every field.
 */
export interface Plan {
  readonly cluster: string;
  readonly namespace: string;
  readonly podName: string;
  readonly podUid: string;
  readonly nodeName: string;
  /** What the pod is one of; a grant holds for all of them. Absent: the pod stands alone, or several are planned at once. */
  readonly workload?: Workload;
  /** Absent: the debug container has a process namespace of its own. */
  readonly targetContainerName?: string;
  /** The catalogue's alias; a reference outside the catalogue never becomes a plan. */
  readonly imageAlias: string;
  readonly image: string;
  readonly imagePullPolicy?: ImagePullPolicy;
  /** The words after `--`, as typed (a `$` is doubled only when the container is built). */
  readonly command: readonly string[];
  readonly argumentsOnly: boolean;
  readonly env: readonly EnvVar[];
  readonly profileAsked: ProfileName;
  readonly profile: Profile;
  readonly securityContext?: SecurityContext;
  readonly class: ImageClass;
  /** The facts of pod, profile and command that raised the class. */
  readonly classReasons: readonly ClassReason[];
  /** The run clock: from its start. */
  readonly timeoutMs: number;
  /** The start clock: from the launch. */
  readonly startDeadlineMs: number;
  readonly maxLogBytes: number;
  readonly requesterId: string;
  readonly teamId: string;
  readonly channelId: string;
  readonly reason?: string;
  readonly label?: string;
  /** What the chosen profile cannot see of the target, in sentences for people. */
  readonly blindSpots: readonly string[];
  /** For who decides; no part of what is approved, so it may change meanwhile. */
  readonly observed?: Observed;
}

export interface Observed {
  /** Ephemeral containers that the pod already holds; they stay for its life. */
  readonly earlierContainers: number;
  /** The target's own limit, which a debug container lives on as well (KEP-277: it has no resources of its own). */
  readonly memoryLimit?: string;
  /** The namespace's Pod Security level. */
  readonly podSecurity?: PodSecurityLevel;
}

/** The SHA-256 of what is approved and launched: every field but what was merely observed. */
export function planHash({ observed: _, ...plan }: Plan): string {
  return sha256(canonicalJson(plan));
}
