import type { Batch } from '../batch/batch.ts';
import type { RunRequest } from '../command/command.ts';
import type { Plan } from '../container/plan.ts';
import type { ContainerTermination } from '../container/pod.ts';
import type { UserAndGroup } from '../container/profiles.ts';
import type { ChannelId, RunId, UserId } from '../ids.ts';
import type { Grant } from '../policy/grant.ts';
import type { Decision } from '../policy/policy.ts';
import type { PendingApproval } from '../policy/vote.ts';
import type { Delivery } from './delivery.ts';
import type { Outcome } from './outcome.ts';
import type { RunState } from './run-state.ts';
import type { SentCopies } from './sent-copies.ts';

/** Where a request came from. */
export interface Origin {
  readonly source: 'slash' | 'mention' | 'form' | 'shortcut' | 'button';
  /** Equal for every delivery of the same request, whoever delivers it. */
  readonly dedupeKey: string;
  readonly teamId: string;
  readonly channelId: ChannelId;
  /** The thread that a mention stood in, or the one that it begins; the run is answered there. */
  readonly threadTs?: string;
  /** The thread is under the request itself. Slack shows a private answer there only once somebody has said something in it. */
  readonly beginsThread?: true;
  readonly requesterId: UserId;
  /** The channel is a group direct message, as far as Slack says so: its id looks like a channel's. */
  readonly inGroupMessage?: true;
  /** A bearer secret for private answers, five uses in 30 minutes; never logged, never shown. */
  readonly responseUrl?: string;
  readonly receivedAtMs: number;
}

/** Why a run was not even tried, or could not be. */
export interface Refusal {
  readonly code: string;
  /** One sentence. */
  readonly message: string;
  readonly hint: string;
  readonly rule?: string;
}

/** What a `--dry-run` found out; nothing was started. */
export interface Rehearsal {
  /** What the API server said of the very patch. */
  readonly cluster: string;
  readonly accepted: boolean;
  /** The patch, as JSON. */
  readonly patch: string;
}

/** What is known of a run's log once it has been read. Bytes and lines count what was kept, without stamps. */
export interface RunLog {
  readonly bytes: number;
  readonly lines: number;
  readonly sha256: string;
  readonly redactions: number;
  readonly completeness: LogCompleteness;
  /** First and last lines, bounded; `head` is all of it when `omittedLines` is 0. */
  readonly head: string;
  readonly tail: string;
  readonly omittedLines: number;
  /** It holds a report, which is plain output: the policy does not call the image diagnostic. */
  readonly isReportUnbelieved?: true;
}

/** What a diagnosis came to: the image's report and the API's own knowledge in one, shortened for a reply. */
export interface Verdict {
  /** Absent without a report: then the outcome speaks, and the findings explain it. */
  readonly line?: string;
  /** At most three, the most important first. */
  readonly findings: readonly VerdictFinding[];
  /** Findings that are only in the file. */
  readonly more?: number;
  /** One line. */
  readonly fine?: string;
  /** One line each: what could not be seen, why, and how to see it. */
  readonly unseen?: readonly string[];
  /** Offered as a button. */
  readonly lookAgain?: LookAgain;
  /** Which tool looked, as whom, at which cost; one line. */
  readonly by?: string;
}

export interface VerdictFinding {
  /** A phrase with the number in it. */
  readonly text: string;
  /** The threshold: `90%`. */
  readonly limit?: string;
  /** One sentence on what to do; may be empty. */
  readonly next: string;
  /** As in the findings' table: 3 is worth knowing, below it something is wrong. */
  readonly rank?: 1 | 2 | 3;
}

/** The same request once more with other eyes: as the target's own user and group, or as root with the profile *general*. */
export type LookAgain = { readonly kind: 'identity'; readonly runAs: UserAndGroup } | { readonly kind: 'general' };

/** Whether every line was seen (cluster-facts: "what cannot be proven complete is marked"). */
export interface LogCompleteness {
  readonly complete: boolean;
  /** The reading stopped at `limits.maxLogBytes`. */
  readonly limitReached: boolean;
  readonly beginningMayBeMissing: boolean;
  /** Steps in the stamps of one rotation period or more: a lost file, or silence. */
  readonly gaps: readonly LogGap[];
  /** The log ended early for this reason (a code), e.g. the pod was deleted. */
  readonly interruptedBy?: string;
}

export interface LogGap {
  readonly fromStamp: string;
  readonly toStamp: string;
  /** Position in the delivered content, before cleaning and redaction. */
  readonly atByte: number;
}

/** What `/kdebug apply` was given: the requests of an EphemeralJob, one for each container of its template. */
export interface Job {
  /** `metadata.name`. */
  readonly name?: string;
  /** They differ in nothing but the container; all have the target and the batch flags of `Run.request`, the first one. */
  readonly requests: readonly RunRequest[];
  /** `spec.paused`: nothing is launched until somebody resumes it. */
  readonly paused?: boolean;
}

/**
 * A request from the words to the outcome: one ephemeral container in one pod, or, with `batch`, the same in many. Plain data,
 * versioned by `schema`.
 */
export interface Run {
  readonly schema: 1;
  readonly id: RunId;
  readonly state: RunState;
  readonly origin: Origin;
  readonly request: RunRequest;
  /** The request in its canonical spelling, to show: without the secrets that were typed in it. */
  readonly commandLine: string;
  readonly plan?: Plan;
  readonly planHash?: string;
  readonly decision?: Decision;
  readonly refusal?: Refusal;
  /** While pending, and afterwards who decided. */
  readonly approval?: PendingApproval;
  /** Given with the approval of this run. */
  readonly grant?: Grant;
  /** The run whose grant let this one through. */
  readonly grantedBy?: RunId;
  /** Of a `--dry-run`: what would have happened. */
  readonly rehearsal?: Rehearsal;
  readonly containerName?: string;
  /** `KDEBUG_NOT_AFTER`: a container that starts later does nothing. */
  readonly notAfterMs?: number;
  /** `KDEBUG_REF`: sealed once, so that a repeated launch is the identical patch. */
  readonly ref?: string;
  readonly approvedAtMs?: number;
  readonly launchedAtMs?: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  readonly finishedAtMs?: number;
  /** Why it has not started yet, in the kubelet's own words. */
  readonly waiting?: { readonly reason: string; readonly message: string };
  readonly termination?: ContainerTermination;
  readonly imageId?: string;
  readonly outcome?: Outcome;
  /** Its record was lost, and made again from what the cluster holds. */
  readonly rebuilt?: boolean;
  /** The outcome came after the run had been given up. */
  readonly late?: boolean;
  readonly log?: RunLog;
  readonly verdict?: Verdict;
  /** Set by `/kdebug apply`; planning takes `job?.requests ?? [request]`. */
  readonly job?: Job;
  /**
   * The batch whose pods that did not succeed this one takes up again; of them, those that are still there. Planning reads
   * them from that run (`podsToRerun`), so they are not listed here.
   */
  readonly rerunOf?: RunId;
  /** Of a request for several pods, from its planning on. Its `plan` is then that of one pod, `planHash` covers all of them. */
  readonly batch?: Batch;
  /**
   * The batch that this run is a part of: one container of one of its pods. Such a run is in no store and says nothing in Slack;
   * what is known of it is in its batch and in the cluster.
   */
  readonly partOf?: RunId;
  readonly delivery: Delivery;
  /** How those who may decide were told of it, once its card stood. */
  readonly asked?: SentCopies;
}
