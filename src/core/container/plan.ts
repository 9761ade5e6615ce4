import { canonicalJson, sha256 } from '../hash.ts';
import type { ClassReason } from './class-facts.ts';
import type { EnvVar, ImagePullPolicy, SecurityContext } from './ephemeral-container.ts';
import type { FileKind } from './file-kinds.ts';
import type { ImageClass } from './image-class.ts';
import type { OnceMore } from './once-more.ts';
import type { PodSecurityLevel, Workload } from './pod.ts';
import type { Profile, ProfileName } from './profiles.ts';

/**
 * A request with everything resolved. People decide on, approve and launch the plan, not the words; its hash
 * (`planHash`) covers every field but `observed`.
 */
export interface Plan {
  readonly cluster: string;
  readonly namespace: string;
  readonly podName: string;
  readonly podUid: string;
  readonly nodeName: string;
  /** The pod's workload; a grant covers all its pods. Absent: the pod stands alone, or the plan is for several pods. */
  readonly workload?: Workload;
  /** Absent: the debug container gets its own process namespace. */
  readonly targetContainerName?: string;
  /** The catalogue's alias; a reference outside the catalogue never becomes a plan. */
  readonly imageAlias: string;
  readonly image: string;
  readonly imagePullPolicy?: ImagePullPolicy;
  /** The words after `--` as typed; `$` is doubled only in the container. */
  readonly command: readonly string[];
  readonly argumentsOnly: boolean;
  readonly env: readonly EnvVar[];
  readonly profileAsked: ProfileName;
  readonly profile: Profile;
  readonly securityContext?: SecurityContext;
  readonly class: ImageClass;
  readonly classReasons: readonly ClassReason[];
  /** The run clock, from the start of the container. */
  readonly timeoutMs: number;
  /** The start clock, from the launch. */
  readonly startDeadlineMs: number;
  readonly maxLogBytes: number;
  /** The kinds of files that the image may hand back; what the policy no longer allows is not taken. Absent: none. */
  readonly files?: readonly FileKind[];
  readonly requesterId: string;
  readonly teamId: string;
  readonly channelId: string;
  readonly reason?: string;
  readonly label?: string;
  /** A second run of the pod's own container: its image, its words, and the names of what it gets. */
  readonly onceMore?: OnceMore;
  /** The parts of the target that the chosen profile cannot see, in sentences for people. */
  readonly blindSpots: readonly string[];
  /** Information for approvers. Not part of the approved plan, so it may change later. */
  readonly observed?: Observed;
}

export interface Observed {
  /** Ephemeral containers already in the pod; they stay for its life. */
  readonly earlierContainers: number;
  /** The target's own limit. The debug container shares it (KEP-277: it has no resources of its own). */
  readonly memoryLimit?: string;
  readonly podSecurity?: PodSecurityLevel;
  /** Of a second run, whose words are posted: the channel's rule keeps those of the first one from it (`targetLog`). */
  readonly withholdsLog?: true;
  /** The obstacles that will keep the image from working, in sentences (`obstaclesOf`). */
  readonly obstacles?: readonly string[];
}

/** The SHA-256 of the approved plan: every field except the merely observed ones. */
export function planHash({ observed: _, ...plan }: Plan): string {
  return sha256(canonicalJson(plan));
}
