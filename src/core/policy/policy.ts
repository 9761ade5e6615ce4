import type { Profile } from '../container/profiles.ts';
import type { ReasonCode } from '../errors.ts';
import type { ChannelId, UserId } from '../ids.ts';

/** Classes of harm, in rising order (design, section 3.2). */
export const IMAGE_CLASSES = ['observe', 'intrusive', 'elevated'] as const;
export type ImageClass = (typeof IMAGE_CLASSES)[number];

/** The more harmful of two classes. */
export const worseClass = (a: ImageClass, b: ImageClass): ImageClass =>
  IMAGE_CLASSES.indexOf(a) > IMAGE_CLASSES.indexOf(b) ? a : b;

/** The valid policy: what the program uses, every default filled in. The file's own shape is in `config/`. Times in milliseconds. */
export interface Policy {
  readonly clusters: Readonly<Record<string, PolicyCluster>>;
  readonly identity: Identity;
  readonly approvers: Readonly<Record<string, ApproverGroup>>;
  readonly images: Readonly<Record<string, ImageAlias>>;
  readonly defaultImage?: string;
  readonly channels: Readonly<Record<ChannelId, ChannelPolicy>>;
  readonly limits: Limits;
  readonly output: Output;
}

export interface PolicyCluster {
  /** A context of the kubeconfig; absent with `inCluster`. */
  readonly context?: string;
  readonly inCluster: boolean;
  readonly default: boolean;
}

/** Whom the cluster sees. Templates know `{userId}`, `{teamId}` and `{channelId}`. */
export type Identity =
  | {
      readonly mode: 'serviceAccount';
      /** Slack user id to Kubernetes user: who is named here is asked for by SubjectAccessReview before the bot acts. */
      readonly users: Readonly<Record<UserId, string>>;
      readonly unmapped?: Unmapped;
    }
  | {
      readonly mode: 'impersonate';
      readonly user: string;
      readonly groups: readonly string[];
      /** Exceptions: Slack user id to Kubernetes user. */
      readonly users: Readonly<Record<UserId, string>>;
      readonly unmapped?: Unmapped;
    };

/**
 * What a person whom `users` does not name may do: nothing at all, or what the mode gives everybody. Absent: `deny` with mode
 * serviceAccount where `users` names anybody, else `allow`.
 */
export type Unmapped = 'deny' | 'allow';

/** Who may decide: everybody whom one of these names. */
export interface ApproverGroup {
  readonly usergroup?: string;
  readonly users: readonly UserId[];
  /** Every full member of this channel at that moment. Requests are shown there as well. */
  readonly channel?: ChannelId;
}

export interface ImageAlias {
  readonly alias: string;
  /** The image reference as the file gives it: with tag, digest or both. */
  readonly reference: string;
  readonly class: ImageClass;
  /** Whether people may give their own command, arguments and environment. */
  readonly command: 'allowed' | 'fixed';
  /** A diagnostic image: it runs its own command only, and its report is believed. Absent: it is not. */
  readonly diagnostic?: boolean;
  readonly timeoutMs?: number;
}

export interface ChannelPolicy {
  /** Shown, never matched. */
  readonly name?: string;
  /** Whether kdebug answers in this channel while it is shared with another company (Slack Connect). Absent: denied. */
  readonly slackConnect?: 'denied' | 'allowed';
  readonly rules: readonly Rule[];
}

/** Empty lists mean nobody and nothing. */
export interface Rule {
  readonly id: string;
  readonly clusters: readonly string[];
  /** Names, or a prefix ending in `*`; `*` alone is refused by the file's schema. */
  readonly namespaces: readonly string[];
  readonly classes: readonly ImageClass[];
  readonly profiles: readonly Profile[];
  readonly batch?: { readonly maxPods: number; readonly maxParallelism: number };
  readonly approval?: Approval;
}

export interface Approval {
  /** Names of approver groups. */
  readonly from: readonly string[];
  readonly count: number;
  readonly expiresMs: number;
  readonly reason: 'required' | 'optional';
  readonly voteReason: 'required' | 'optional';
  /** Whether an approver may let the requester repeat the same command for a while. */
  readonly grants: 'allowed' | 'denied';
}

export interface Limits {
  readonly ephemeralContainersPerPod: number;
  /** Of these, what one person may add. */
  readonly ephemeralContainersPerPodAndUser: number;
  readonly runsPerUserPerMinute: number;
  /** Open runs of one person; requests that wait for an approval count apart. */
  readonly runsPerUser: number;
  /** Requests of one person that wait for an approval. */
  readonly pendingApprovalsPerUser: number;
  readonly runsPerChannel: number;
  readonly runsPerCluster: number;
  readonly startDeadlineMs: number;
  readonly maxTimeoutMs: number;
  readonly maxLogBytes: number;
}

export interface Output {
  /** Further patterns (JavaScript regular expressions) whose matches are redacted. */
  readonly redact: readonly string[];
  readonly retentionMs: number;
  readonly deliverTo: 'thread' | 'requester';
}

/** What the policy says about a plan, with the rule that decides. */
export type Decision =
  | { readonly kind: 'allow'; readonly rule: string }
  | { readonly kind: 'needs-approval'; readonly rule: string; readonly approval: Approval }
  | {
      readonly kind: 'deny';
      readonly code: ReasonCode;
      /** The rule that came nearest; absent when none was near. */
      readonly rule?: string;
      /** The value that was not allowed, for the sentence. */
      readonly subject: string;
    };

export type Denial = Extract<Decision, { kind: 'deny' }>;
