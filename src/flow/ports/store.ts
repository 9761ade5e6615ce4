import type { UserAndGroup } from '../../core/container/profiles.ts';
import type { ReasonCode } from '../../core/errors.ts';
import type { RunId } from '../../core/ids.ts';
import type { Run } from '../../core/run/run.ts';

/** A claim on a run. The store refuses writes with an outdated `fence`. */
export interface Lease {
  readonly run: Run;
  readonly fence: number;
}

/** Another owner's claim. `endsAtMs`, by the store's clock, moves only while that owner lives: it renews what it holds. */
export interface ForeignLease {
  readonly fence: number;
  readonly endsAtMs: number;
}

/**
 * A limit on how many runs may share a key, checked in the same step that makes a run count, so that no burst slips
 * through. A run counts once, however often it is saved, released or adopted.
 */
export interface Quota {
  /** E.g. `person:U0ROY`. */
  readonly key: string;
  readonly code: ReasonCode;
  /**
   * `open`: runs that are neither final nor waiting for an approval, checked by `create`; an approved one counts again,
   * and is no longer refused. `pending`: runs that wait for an approval, checked by the `save` that makes them wait.
   * `window`: created within the last `windowMs`, checked by `create`.
   */
  readonly per: 'open' | 'pending' | 'window';
  /** Of `window`; the same for every quota with this key. */
  readonly windowMs?: number;
  readonly max: number;
}

export type CreateResult =
  | { readonly kind: 'created'; readonly fence: number }
  | { readonly kind: 'duplicate'; readonly runId: RunId }
  /** Nothing was saved. `count`: how many runs share the key. `retryAtMs`: when there will be room, if known. */
  | { readonly kind: 'limited'; readonly code: ReasonCode; readonly count: number; readonly retryAtMs?: number };

/**
 * Stores runs. Every method is atomic, repeatable after a lost answer, and throws `KdebugError store_unreachable`. Any
 * number of replicas use it at the same time.
 */
export interface RunStore {
  /** From replicas, for the one that holds a run. */
  readonly notes: Notes;
  /** Of runs that the store has lost. */
  readonly searches: Searches;
  /** Saves a new run, leased to `owner`. For a known dedupe key it only returns the first run's id. */
  create(run: Run, owner: string, quotas?: readonly Quota[]): Promise<CreateResult>;
  read(id: RunId): Promise<Run | undefined>;
  /** The run that was created with this dedupe key. */
  idOf(dedupeKey: string): Promise<RunId | undefined>;
  /** Leases one run, unless another owner holds it. For immediate changes, such as a click. Undefined: unknown or settled. */
  lease(id: RunId, owner: string): Promise<Lease | ForeignLease | undefined>;
  /** Runs of a channel whose grant may still be open, newest first, at most 20. */
  granting(channelId: string): Promise<readonly Run[]>;
  /** Leases up to `limit` runs that are not settled (`isSettled`) and whose lease has lapsed, oldest first. */
  claim(owner: string, limit: number): Promise<readonly Lease[]>;
  /** Extends every lease of `owner`; one call per replica, not per run. */
  renew(owner: string): Promise<void>;
  /**
   * Replaces the run if `fence` is its newest, and extends its lease: after `saved` the caller holds the run. A stale
   * owner must stop at once. `limited`: a `pending` quota from its creation is full, and nothing changed.
   */
  save(run: Run, fence: number): Promise<'saved' | 'stale' | 'limited'>;
  /** Returns the lease; another replica may claim at once. */
  release(id: RunId, fence: number): Promise<void>;
  /**
   * Remembers the user and group of targets of a kind (`kindOfTarget`). The newest value counts. Stores at least the
   * newest 1,000 kinds, for 7 days after the last `learn`.
   */
  learn(kind: string, identity: UserAndGroup): Promise<void>;
  /** The value that `learn` stored for that kind. */
  learnt(kind: string): Promise<UserAndGroup | undefined>;
  /**
   * The newest runs of a channel, or of several together, newest first; `skip` leaves out so many of the newest. Work and
   * memory depend on these numbers and on the number of channels, never on the history.
   */
  recent(channels: string | readonly string[], limit: number, skip?: number): Promise<readonly Run[]>;
  /** The number of runs that wait for an approval now, and the creation time of the oldest (0 without any). */
  pending(): Promise<{ readonly count: number; readonly oldestMs: number }>;
  /** For readiness: rejects when the store does not answer. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Short texts from other replicas for the current holder of a run. Throws like the store. A note is read once. It is
 * lost when nobody reads it within a minute, or when the answer to the read is lost: the author must not rely on it.
 */
export interface Notes {
  leave(id: RunId, note: string): Promise<void>;
  /** The oldest first, at most 100. */
  read(id: RunId): Promise<readonly string[]>;
}

/** The turns to search Slack for results of runs that the store does not know, and the finds. Throws like the store. */
export interface Searches {
  /** Claims a turn. All replicas together get `perMinute` turns in 60 s, and a run's turn ends `heldMs` after it began. */
  turn(id: RunId, bounds: { readonly perMinute: number; readonly heldMs: number }): Promise<Turn>;
  /** Remembers for `forMs` that Slack has the run's result. */
  found(id: RunId, forMs: number): Promise<void>;
  /** True after `found`; false also if it was forgotten. */
  wasFound(id: RunId): Promise<boolean>;
}

export type Turn =
  | { readonly kind: 'yours' }
  /** Another turn for this run has not ended. */
  | { readonly kind: 'held' }
  | { readonly kind: 'none-left'; readonly freeInMs: number };
