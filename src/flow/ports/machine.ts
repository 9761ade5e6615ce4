import type { RunId, UserId } from '../../core/ids.ts';
import type { EphemeralJob, ReadJob } from '../../core/job/ephemeral-job.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { OutcomeKind } from '../../core/run/outcome.ts';

/** Whose log a spool holds: all that one run (a batch with its parts) and one person write share one bound each. */
export interface SpoolOwner {
  readonly runId: RunId;
  readonly requesterId: UserId;
}

/** Bounded scratch files for logs; gone with the process. */
export interface Spools {
  open(owner: SpoolOwner): Promise<Spool>;
}

export interface Spool {
  /** Resolves or returns at once while the disk keeps up. @throws KdebugError spool_full */
  write(chunk: Uint8Array): Promise<void> | void;
  /** No more writes; what was written can be read from now on. Resolves with its SHA-256 in hexadecimal. */
  finish(): Promise<string>;
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
  remove(): Promise<void>;
}

/** The policy that is in force now; reloaded behind the caller's back. */
export interface PolicySource {
  current(): Policy;
}

/** EphemeralJobs as text. Pure, and never throws. */
export interface Manifests {
  /** Strict: all that is wrong is told with its line and column. */
  read(yaml: string): ReadJob;
  /** What `read` gives back as the same job. */
  write(job: EphemeralJob): string;
}

export interface Ids {
  runId(): RunId;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Structured records; the fields' names are those of the docs (`runId`, `namespace`, `podName`, `reason` …). Never secrets. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** Counters for operators. Every word given is from a closed list (outcomes, reason codes, method names), so series stay few. */
export interface Metrics {
  /** A delivery was acknowledged: `accepted`, `answered`, or the code of the error; `durationMs` since it was received. */
  command(result: string, durationMs: number): void;
  /** A run reached a final state; `durationMs` since it was received. */
  runFinished(outcome: OutcomeKind, durationMs: number): void;
  /** A call to `kubernetes` or `slack` was answered: `ok`, or the code of the error. */
  apiCall(api: 'kubernetes' | 'slack', method: string, result: string, durationMs: number): void;
}

/** The steps of a run that are kept for ever. */
export type AuditStep =
  | 'refusal'
  | 'request'
  | 'decision'
  | 'access-review'
  | 'dry-run'
  | 'vote'
  | 'grant'
  | 'batch'
  | 'patch'
  | 'outcome';

export interface AuditEntry {
  readonly step: AuditStep;
  readonly atMs: number;
  readonly runId: string;
  readonly channelId: string;
  /** The person whose deed it is; the bot itself for what it does by itself. */
  readonly actorId: string;
  /** Names, codes, hashes and numbers; never a secret, a log line or a private address. */
  readonly facts: Readonly<Record<string, string | number | boolean | undefined>>;
}

/** Append-only, chained by hash. */
export interface AuditLog {
  /** Resolves when it is written. @throws KdebugError audit_unavailable: then what was to be recorded must not happen. */
  append(entry: AuditEntry): Promise<void>;
}
