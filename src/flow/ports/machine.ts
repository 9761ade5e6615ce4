import type { RunId, UserId } from '../../core/ids.ts';
import type { EphemeralJob, ReadJob } from '../../core/job/ephemeral-job.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { OutcomeKind } from '../../core/run/outcome.ts';

/** Whose log a spool holds. One run (a batch with its parts) shares one bound, and so does one person. */
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

/**
 * Counters for operators. All labels come from closed lists (outcomes, reason codes, method names), so series stay few.
 */
export interface Metrics {
  /** A delivery was acknowledged: `accepted`, `answered`, or the error's code; `durationMs` since its arrival. */
  command(result: string, durationMs: number): void;
  /** A run reached a final state; `durationMs` since its arrival. */
  runFinished(outcome: OutcomeKind, durationMs: number): void;
  /** A call to `kubernetes` or `slack` returned: `ok`, or the error's code. */
  apiCall(api: 'kubernetes' | 'slack', method: string, result: string, durationMs: number): void;
}

/** The steps of a run in the audit log. */
export type AuditStep =
  | 'refusal'
  | 'request'
  | 'decision'
  | 'access-review'
  | 'log-read'
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
