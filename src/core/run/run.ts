import type { AlertCard } from '../alert/card.ts';
import type { Batch } from '../batch/batch.ts';
import type { SecurityContext } from '../container/ephemeral-container.ts';
import type { Plan } from '../container/plan.ts';
import type { ContainerTermination } from '../container/pod.ts';
import type { Verdict } from '../diagnosis/facts/verdict.ts';
import type { RunFile } from '../files/run-file.ts';
import type { RunId } from '../ids.ts';
import type { Outcome } from '../outcome.ts';
import type { Grant } from '../planning/grant.ts';
import type { PendingApproval } from '../planning/vote.ts';
import type { Decision } from '../policy/policy.ts';
import type { RunRequest } from '../request/command.ts';
import type { Origin, Refusal } from '../request/origin.ts';
import type { Delivery } from './delivery.ts';
import type { RunState } from './run-state.ts';
import type { SentCopies } from './sent-copies.ts';

/** The result of a `--dry-run`; nothing was started. */
export interface Rehearsal {
  /** The API server's answer to exactly this patch. */
  readonly cluster: string;
  readonly accepted: boolean;
  /** The patch, as JSON. */
  readonly patch: string;
}

/** The facts of a run's log after reading. Bytes and lines count the kept content, without stamps and files. */
export interface RunLog {
  readonly bytes: number;
  readonly lines: number;
  readonly sha256: string;
  readonly redactions: number;
  readonly completeness: LogCompleteness;
  /** First and last lines, bounded; `head` is the whole log when `omittedLines` is 0. */
  readonly head: string;
  readonly tail: string;
  readonly omittedLines: number;
  /** It holds a report that counts as plain output: the policy does not call the image diagnostic. */
  readonly isReportUnbelieved?: true;
  /**
   * The files that a diagnostic image handed back, in the order of its log, unusable ones too; bounded. Absent: none.
   */
  readonly files?: readonly RunFile[];
}

/** The proof that every line was seen, or the doubt (cluster-facts: "what cannot be proven complete is marked"). */
export interface LogCompleteness {
  readonly complete: boolean;
  /** The reading stopped at `limits.maxLogBytes`. */
  readonly limitReached: boolean;
  readonly beginningMayBeMissing: boolean;
  /** Steps in the stamps of one rotation period or more: a lost file, or silence. */
  readonly gaps: readonly LogGap[];
  /** The log ended early for this reason (a code), e.g. somebody deleted the pod. */
  readonly interruptedBy?: string;
}

export interface LogGap {
  readonly fromStamp: string;
  readonly toStamp: string;
  /** Position in the delivered content, before cleaning and redaction. */
  readonly atByte: number;
}

/**
 * Somebody's wish to end what a run started. Nobody can remove an ephemeral container, so a second one, of a diagnostic
 * image, sends signals to the processes of the run.
 */
export interface Stop {
  readonly byUserId: string;
  readonly requestedAtMs: number;
  /** From 1; each attempt has its own container. */
  readonly attempt: number;
  readonly container?: StopContainer;
  /** Its container has ended; the run's container follows within seconds, or the stop has failed. */
  readonly ended?: { readonly exitCode: number; readonly message: string; readonly atMs: number };
  /** The run goes on. `why`: a sentence; `isOutput`: the container wrote it. Somebody may try again. */
  readonly failed?: { readonly why: string; readonly isOutput?: boolean; readonly atMs: number };
}

/** Stored before its PATCH, so that each repeat sends the identical one. */
export interface StopContainer {
  readonly name: string;
  readonly image: string;
  /** `KDEBUG_NOT_AFTER`: started later, it does nothing. */
  readonly notAfterMs: number;
  readonly securityContext?: SecurityContext;
}

/** The content of an applied EphemeralJob: its requests, one for each container of its template. */
export interface Job {
  /** `metadata.name`. */
  readonly name?: string;
  /** They differ only in the container; all have the target and batch flags of the first one, `Run.request`. */
  readonly requests: readonly RunRequest[];
  /** `spec.paused`: nothing is launched until somebody resumes it. */
  readonly paused?: boolean;
}

/**
 * A request from its command to its outcome: one ephemeral container in one pod, or, with `batch`, the same in many.
 * Plain data, versioned by `schema`.
 */
export interface Run {
  readonly schema: 1;
  readonly id: RunId;
  readonly state: RunState;
  readonly origin: Origin;
  readonly request: RunRequest;
  /** The request in its canonical spelling, for display: without typed secrets. */
  readonly commandLine: string;
  readonly plan?: Plan;
  readonly planHash?: string;
  readonly decision?: Decision;
  readonly refusal?: Refusal;
  /** While pending; afterwards it shows who decided. */
  readonly approval?: PendingApproval;
  /** Given with this run's approval. */
  readonly grant?: Grant;
  /** The run whose grant replaced the approval. */
  readonly grantedBy?: RunId;
  /** The result of a `--dry-run`. */
  readonly rehearsal?: Rehearsal;
  readonly containerName?: string;
  /** `KDEBUG_NOT_AFTER`: a container that starts later does nothing. */
  readonly notAfterMs?: number;
  /** `KDEBUG_REF`: sealed once, so that a repeated launch sends the identical patch. */
  readonly ref?: string;
  readonly approvedAtMs?: number;
  readonly launchedAtMs?: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  readonly finishedAtMs?: number;
  /** The kubelet's own words for why it has not started yet. */
  readonly waiting?: { readonly reason: string; readonly message: string };
  /** Somebody asked to end what it started. */
  readonly stop?: Stop;
  readonly termination?: ContainerTermination;
  readonly imageId?: string;
  readonly outcome?: Outcome;
  /** Its record was lost and rebuilt from the cluster. */
  readonly rebuilt?: boolean;
  /** The outcome came after kdebug gave the run up. */
  readonly late?: boolean;
  readonly log?: RunLog;
  readonly verdict?: Verdict;
  /** Set by `/kdebug apply`; planning takes `job?.requests ?? [request]`. */
  readonly job?: Job;
  /**
   * The batch whose unsuccessful pods this one repeats, as far as they still exist. Planning reads them from that run
   * (`podsToRerun`), so they are not listed here.
   */
  readonly rerunOf?: RunId;
  /** A typed command: where an equal run has just finished, planning offers its result instead. Absent: a repeat on purpose. */
  readonly offersEqual?: true;
  /** Of a request for several pods, once planned. Its `plan` is that of one pod; `planHash` covers all of them. */
  readonly batch?: Batch;
  /**
   * The batch of this part: one container of one of its pods. Such a run is in no store and posts nothing in Slack; its
   * batch and the cluster have its facts.
   */
  readonly partOf?: RunId;
  /** Of such a run in a comparison: `KDEBUG_COMPARE`. */
  readonly compareKey?: string;
  /** The group of alerts that started it, and whose card this run's is. */
  readonly alert?: AlertCard;
  readonly delivery: Delivery;
  /** The notices to the approvers, once its card was posted. */
  readonly asked?: SentCopies;
}
