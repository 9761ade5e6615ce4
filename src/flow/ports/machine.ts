import type { Closed } from '../../core/batch/batch.ts';
import type { RunId, UserId } from '../../core/ids.ts';
import type { EphemeralJob, ReadJob } from '../../core/job/ephemeral-job.ts';
import type { OutcomeKind } from '../../core/outcome.ts';
import type { Decision, Policy } from '../../core/policy/policy.ts';

/** Whose log a spool holds. One run (a batch with its parts) shares one bound, and so does one person. */
export interface SpoolOwner {
  readonly runId: RunId;
  readonly requesterId: UserId;
}

/** Bounded scratch files for logs; gone with the process. */
export interface Spools {
  open(owner: SpoolOwner): Promise<Spool>;
  /** An archive in such a file: a gzipped tar. */
  archive(owner: SpoolOwner): Promise<Archive>;
}

/** One writer. After an error it is broken, and `finish` rejects: half an archive is of no use. */
export interface Archive {
  /** Appends a finished spool as a file at this path; one call at a time. @throws KdebugError spool_full, spool_failed */
  add(path: string, file: Spool, atMs: number): Promise<void>;
  /** No more files; what it returns has finished. @throws as `add` */
  finish(): Promise<Spool>;
  remove(): Promise<void>;
}

export interface Spool {
  /** Resolves or returns at once while the disk keeps up. @throws KdebugError spool_full */
  write(chunk: Uint8Array): Promise<void> | void;
  /** No more writes; readers may start. Resolves with the SHA-256 in hexadecimal. */
  finish(): Promise<string>;
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
  remove(): Promise<void>;
}

/** The current policy, reloaded in the background. */
export interface PolicySource {
  current(): Policy;
}

/** EphemeralJobs as text. Pure, and never throws. */
export interface Manifests {
  /** Strict: reports every mistake with its line and column. */
  read(yaml: string): ReadJob;
  /** The text that `read` parses into the same job. */
  write(job: EphemeralJob): string;
}

export interface Ids {
  runId(): RunId;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Structured records; fields as in the docs (`runId`, `namespace`, `podName`, `reason` …). Never secrets. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Gauges that are read when somebody asks for the metrics; each with the label that its readings have, if any. */
export type GaugeName =
  /** `state` */
  | 'runs_in_flight'
  | 'batches_in_flight'
  | 'approvals_pending'
  | 'approvals_oldest_seconds'
  /** `queue` */
  | 'queue_length'
  | 'slack_sockets'
  | 'ended_runs_to_search'
  | 'memory_used_bytes'
  | 'memory_limit_bytes';

/** One number, or one for each value of the gauge's label. Undefined: not known right now. */
export type Reading = number | Readonly<Record<string, number>> | undefined;

export type MeasuredApi = 'kubernetes' | 'slack' | 'redis';

/**
 * Numbers for operators (docs/metrics.md). All labels come from closed lists (outcomes, reason codes, method names); a
 * value outside its list counts as `other`, so series stay few. No method throws. Durations are milliseconds.
 */
export interface Metrics {
  /** A delivery was acknowledged: `accepted`, `answered`, or the error's code; `durationMs` since its arrival. */
  command(result: string, durationMs: number): void;
  /** A request was decided on; `reason`: the code of a refusal, `grant` when a grant replaced the approval, else `none`. */
  decided(decision: Decision['kind'], reason: string): void;
  /** A run's container was seen running or ended; `durationMs` since the request, or since its approval. */
  launched(durationMs: number): void;
  /** A run reached its final state, saved for the first time; `durationMs` without the wait for an approval. */
  runFinished(outcome: OutcomeKind, durationMs: number): void;
  /** A batch ended: `complete`, or why it was closed. */
  batchFinished(outcome: 'complete' | Closed['because']): void;
  /** An approval that somebody waited for came to an end. */
  approvalEnded(verdict: 'approved' | 'rejected' | 'expired' | 'cancelled' | 'withdrawn', waitedMs: number): void;
  /** A call returned: `ok`, or the error's code (of Slack: its own word). */
  apiCall(api: MeasuredApi, method: string, result: string, durationMs: number): void;
  /** A request to the Slack endpoint was refused, because Slack cannot have sent it, or not now. */
  requestRefused(reason: 'signature' | 'clock' | 'form'): void;
  /** A notification of a source of alerts was answered: what became of it, or the error's code. `source`: a name of the policy, or `unknown`. */
  alertsReceived(source: string, result: string, durationMs: number): void;
  /** Slack refused a call of this Web API method with 429. */
  rateLimited(method: string): void;
  /** A pod watch began again with a list: `expired`, `silent`, `garbled`, or the error's code. */
  watchRestarted(reason: string): void;
  /** Facts of a log that a run finished with. */
  logRead(facts: { readonly gaps: number; readonly redactions: number }): void;
  /** A run was taken over from a replica that died (`store`), or found again after the store had lost it (`cluster`). */
  adopted(from: 'store' | 'cluster'): void;
  /** A log could not be written whole to the disk buffer; once for each log. */
  spoolFailed(reason: 'spool_full' | 'spool_failed'): void;
  /** Another replica took over a run that this one still worked on. */
  leaseLost(): void;
  /** Slack refused a result for good, so that its readers do not have it. */
  deliveryLost(): void;
  /** A record could not be written to the audit log. */
  auditFailed(): void;
  /** The result of the last token check. */
  tokenAccepted(isAccepted: boolean): void;
  /** The result of a reload of the policy file; `hash`: of the policy now in force. Call it at the start too. */
  policyReloaded(result: 'applied' | 'unchanged' | 'refused', hash: string): void;
  /** A readiness check passed or failed. */
  checked(check: string, isOk: boolean): void;
  /** From now on asks `read` for the gauge's value. Several readers of one gauge add up. A reader that rejects counts as undefined. */
  observe(gauge: GaugeName, read: () => Reading | Promise<Reading>): void;
}

/** The steps of a run in the audit log. */
export type AuditStep =
  | 'refusal'
  | 'request'
  | 'decision'
  | 'access-review'
  | 'log-read'
  | 'target-log'
  | 'dry-run'
  | 'vote'
  | 'grant'
  | 'batch'
  | 'stop'
  | 'patch'
  | 'outcome';

export interface AuditEntry {
  readonly step: AuditStep;
  readonly atMs: number;
  readonly runId: string;
  readonly channelId: string;
  /** The person who acted; the bot for its own steps. */
  readonly actorId: string;
  /** Names, codes, hashes and numbers; never a secret, a log line or a private address. */
  readonly facts: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** Append-only, chained by hash. */
export interface AuditLog {
  /**
   * Resolves when the entry is written. @throws KdebugError audit_unavailable: then the recorded step must not happen.
   */
  append(entry: AuditEntry): Promise<void>;
}
