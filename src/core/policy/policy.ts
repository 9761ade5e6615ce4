import { own } from '../../lib/object.ts';
import type { FileKind } from '../container/file-kinds.ts';
import type { ImageClass } from '../container/image-class.ts';
import type { Profile } from '../container/profiles.ts';
import type { ReasonCode } from '../errors.ts';
import { asChannelId, type ChannelId, isDirect, type UserId } from '../ids.ts';

/** The valid policy with all defaults. `config/` has the file's own shape. Times in milliseconds. */
export interface Policy {
  /** The people to ask for a change, in the author's words. For display only. */
  readonly owner?: string;
  readonly clusters: Readonly<Record<string, PolicyCluster>>;
  readonly identity: Identity;
  readonly approvers: Readonly<Record<string, ApproverGroup>>;
  readonly images: Readonly<Record<string, ImageAlias>>;
  readonly defaultImage?: string;
  readonly channels: Readonly<Record<ChannelId, ChannelPolicy>>;
  readonly limits: Limits;
  readonly output: Output;
  /** Whose notifications start a look by themselves, by the name in the webhook's path. Absent or empty: nobody's. */
  readonly alerts?: Readonly<Record<string, AlertSource>>;
  /** By their label: where people look next, under every result; addresses with `LINK_VARIABLES`. */
  readonly links?: Readonly<Record<string, string>>;
}

/** The names that an address of `links` may have in braces. `from` and `to` are milliseconds since 1970. */
export const LINK_VARIABLES = ['cluster', 'namespace', 'pod', 'workload', 'from', 'to'] as const;
export type LinkVariable = (typeof LINK_VARIABLES)[number];

export const ALERT_FORMATS = ['alertmanager', 'grafana'] as const;

/** A sender of alerts, the alerts that count, and the look that they start. */
export interface AlertSource {
  /** Its key. */
  readonly name: string;
  readonly format: (typeof ALERT_FORMATS)[number];
  /** The environment variable with the shared secret. */
  readonly secretEnv: string;
  /** The alert is posted here. The rules of this channel decide on the look. */
  readonly channel: ChannelId;
  /**
   * By the value of the label `cluster`: a cluster of the policy. With it, an alert without an entry starts nothing. Absent: alerts
   * without that label are about the default cluster, and those with it start nothing.
   */
  readonly clusters?: Readonly<Record<string, string>>;
  /** Every label must have one of its values, in full or as a beginning and `*`. An empty list matches nothing. */
  readonly match: Readonly<Record<string, readonly string[]>>;
  /** An alias of class `observe`. Absent: the default image. */
  readonly image?: string;
  /** No further look at the same workload for an alert of the same name. */
  readonly cooldownMs: number;
  /** The most pods that one notification may have looked at. */
  readonly perGroup: number;
  /** True: a rule with an approval gets its card. False: nothing starts there. */
  readonly asks: boolean;
}

export interface PolicyCluster {
  /** A kubeconfig context; absent with `inCluster`. */
  readonly context?: string;
  readonly inCluster: boolean;
  readonly default: boolean;
}

/** The user and groups that the cluster sees. Templates may use `{userId}`, `{teamId}` and `{channelId}`. */
export type Identity =
  | {
      readonly mode: 'serviceAccount';
      /** Slack user id to Kubernetes user. The bot checks that user's rights by SubjectAccessReview before it acts. */
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
 * The rights of people outside `users`: none, or whatever the mode allows everybody. Absent: `deny` with mode
 * serviceAccount if `users` names anybody, else `allow`.
 */
export type Unmapped = 'deny' | 'allow';

/** Approvers: everybody whom one of these fields names. */
export interface ApproverGroup {
  readonly usergroup?: string;
  readonly users: readonly UserId[];
  /** Every full member of this channel at the time of the vote. Requests also appear there. */
  readonly channel?: ChannelId;
}

export interface ImageAlias {
  readonly alias: string;
  /** The image reference as in the file: with tag, digest or both. */
  readonly reference: string;
  readonly class: ImageClass;
  /** `allowed`: people may supply a command, arguments and environment. */
  readonly command: 'allowed' | 'fixed';
  /** A diagnostic image: it runs only its own command, and kdebug believes its report. Absent: false. */
  readonly diagnostic?: boolean;
  /** It seizes its target (ptrace), as a debugger does: only rules with `traces` allow it. Absent: false. */
  readonly traces?: boolean;
  /** The kinds of files that it may hand back. Absent: none. */
  readonly files?: readonly FileKind[];
  /** The variables that people may set although the command is fixed; without it, none. */
  readonly settings?: readonly string[];
  readonly timeoutMs?: number;
  /** Its purpose, in one sentence of at most 120 characters. */
  readonly description?: string;
}

/** The key of the entry for everybody's direct message with kdebug. */
export const DIRECT = 'direct' as ChannelId;

export interface ChannelPolicy {
  /** For display only, never matched. */
  readonly name?: string;
  /** Instead of the policy's own. */
  readonly owner?: string;
  /** `allowed`: kdebug answers in this channel also while another company shares it (Slack Connect). Absent: denied. */
  readonly slackConnect?: 'denied' | 'allowed';
  /** Of the entry `direct`: who may use kdebug there. Elsewhere the channel's members may. */
  readonly members?: ApproverGroup;
  readonly rules: readonly Rule[];
}

/** The entry that decides for a channel or a direct message; undefined: nothing is allowed there. */
export const channelPolicy = ({ channels }: Pick<Policy, 'channels'>, channelId: string): ChannelPolicy | undefined =>
  own(channels, keyOfChannel(channelId));

/** Counts channels with rules, and those of approvers and members. */
export const namesChannel = ({ channels, approvers }: Pick<Policy, 'channels' | 'approvers'>, id: string): boolean =>
  own(channels, id) !== undefined ||
  [...Object.values(approvers), own(channels, DIRECT)?.members].some((group) => group?.channel === id);

/** A channel's own id, or the key that all direct messages share. */
export const keyOfChannel = (channelId: string): ChannelId => (isDirect(channelId) ? DIRECT : asChannelId(channelId));

/** An empty list matches nobody and nothing. */
export interface Rule {
  readonly id: string;
  readonly clusters: readonly string[];
  /** Names, or prefixes ending in `*`; the file's schema refuses `*` alone. */
  readonly namespaces: readonly string[];
  readonly classes: readonly ImageClass[];
  readonly profiles: readonly Profile[];
  readonly batch?: { readonly maxPods: number; readonly maxParallelism: number };
  /**
   * `allowed`: the rule lets an image without an approval bring back files that may hold secrets (`isSecretKind`).
   * Absent: `approval`, so a rule without one does not match such an image.
   */
  readonly secretFiles?: 'approval' | 'allowed';
  /** The rule allows images that seize their target, too, within its classes. Absent: it matches none of them. */
  readonly traces?: boolean;
  readonly approval?: Approval;
  /**
   * The lines that a diagnosis may read and show of the log of the pod's own containers: none, the lines that say what
   * is wrong (chosen, redacted, bounded), or also the newest lines as they are. Absent: `errors`; in a channel shared
   * with another company: `none`.
   */
  readonly targetLog?: TargetLogRight;
  /** Workloads whose program may run a second time although it counts on being alone. Absent: none of these kinds. */
  readonly onceMore?: readonly OnceMoreKind[];
}

export const ONCE_MORE_KINDS = ['jobs', 'statefulSets'] as const;
export type OnceMoreKind = (typeof ONCE_MORE_KINDS)[number];

/** In rising order. */
export const TARGET_LOG_RIGHTS = ['none', 'errors', 'tail'] as const;
export type TargetLogRight = (typeof TARGET_LOG_RIGHTS)[number];

export interface Approval {
  /** Names of approver groups. */
  readonly from: readonly string[];
  readonly count: number;
  readonly expiresMs: number;
  readonly reason: 'required' | 'optional';
  readonly voteReason: 'required' | 'optional';
  /** `allowed`: an approver may let the requester repeat the command for a while. */
  readonly grants: 'allowed' | 'denied';
}

export interface Limits {
  readonly ephemeralContainersPerPod: number;
  /** The number of these that one person may add. */
  readonly ephemeralContainersPerPodAndUser: number;
  readonly runsPerUserPerMinute: number;
  /** Open runs of one person, without those that wait for an approval. */
  readonly runsPerUser: number;
  /** Requests of one person that wait for an approval. */
  readonly pendingApprovalsPerUser: number;
  readonly runsPerChannel: number;
  readonly runsPerCluster: number;
  readonly startDeadlineMs: number;
  readonly maxTimeoutMs: number;
  /** Without files. */
  readonly maxLogBytes: number;
  /** Of one file that an image hands back. */
  readonly maxFileBytes: number;
  /** Of one run. */
  readonly maxFiles: number;
  /** Of one run, together. */
  readonly maxFilesBytes: number;
}

export interface Output {
  /** Further patterns to redact (regular expressions of RE2). */
  readonly redact: readonly string[];
  readonly retentionMs: number;
  readonly deliverTo: 'thread' | 'requester';
}

export type Decision =
  | { readonly kind: 'allow'; readonly rule: string }
  | { readonly kind: 'needs-approval'; readonly rule: string; readonly approval: Approval }
  | {
      readonly kind: 'deny';
      readonly code: ReasonCode;
      /** The nearest rule; absent when none was near. */
      readonly rule?: string;
      /** The value that was not allowed, for the message. */
      readonly subject: string;
    };

export type Denial = Extract<Decision, { kind: 'deny' }>;

/** Of no rule: because of what is asked for, before rules are looked at. */
export const denied = (code: ReasonCode, subject: string): Denial => ({ kind: 'deny', code, subject });
