import type { UserAndGroup } from '../../core/container/profiles.ts';
import type { ReasonCode } from '../../core/errors.ts';
import type { RunId } from '../../core/ids.ts';
import type { Run } from '../../core/run/run.ts';

/** A claim on a run: writes with a `fence` that is no longer the newest are refused. */
export interface Lease {
  readonly run: Run;
  readonly fence: number;
}

/**
 * A bound on how many runs may share a key; checked in the same step that makes a run count, so that no burst slips through. A run
 * counts once, however often it is written, given back or adopted.
 */
export interface Quota {
  /** E.g. `person:U0ROY`. */
  readonly key: string;
  readonly code: ReasonCode;
  /**
   * `open`: runs that are neither final nor waiting for an approval, checked by `create`; one that was approved counts again, and is not
   * refused any more. `pending`: runs that wait for an approval, checked by the `save` that makes them wait. `minute`: created within
   * the last 60 s, checked by `create`.
   */
  readonly per: 'open' | 'pending' | 'minute';
  readonly max: number;
}

export type CreateResult =
  | { readonly kind: 'created'; readonly fence: number }
  | { readonly kind: 'duplicate'; readonly runId: RunId }
  /** Nothing was kept. `count`: how many runs share the key. `retryAtMs`: when there will be room, where that is known. */
  | { readonly kind: 'limited'; readonly code: ReasonCode; readonly count: number; readonly retryAtMs?: number };

/**
 * Keeps runs. Every method is atomic, may be repeated after a lost answer, and throws `KdebugError store_unreachable`.
 * Any number of replicas use it at the same time.
 */
export interface RunStore {
  /** Left by replicas for the one that holds a run. */
  readonly notes: Notes;
  /** Keeps a new run, leased to `owner`, unless its dedupe key is known: then nothing changes and the first one's id comes back. */
  create(run: Run, owner: string, quotas?: readonly Quota[]): Promise<CreateResult>;
  read(id: RunId): Promise<Run | undefined>;
  /** Leases one run, unless another owner holds it. For who must change it now: a click. */
  lease(id: RunId, owner: string): Promise<Lease | undefined>;
  /** Runs of a channel whose grant may still be open, newest first, at most 20. */
  granting(channelId: string): Promise<readonly Run[]>;
  /** Leases up to `limit` runs that are not settled (`isSettled`) and whose lease has lapsed, oldest first. */
  claim(owner: string, limit: number): Promise<readonly Lease[]>;
  /** Extends every lease of `owner`; one call a replica, not one a run. */
  renew(owner: string): Promise<void>;
  /**
   * Replaces the run if `fence` is its newest, and extends its lease: who was told `saved` has the run from then on. A stale owner must
   * stop at once. `limited`: a `pending` quota that it was created with is full, and nothing changed.
   */
  save(run: Run, fence: number): Promise<'saved' | 'stale' | 'limited'>;
  /** Gives the lease back; another replica may claim at once. */
  release(id: RunId, fence: number): Promise<void>;
  /**
   * Remembers the user and group that targets of a kind (`kindOfTarget`) run as. The newest word counts. At least the newest 1,000
   * kinds are kept, for 7 days from the last word.
   */
  learn(kind: string, identity: UserAndGroup): Promise<void>;
  /** What `learn` was told of that kind. */
  learnt(kind: string): Promise<UserAndGroup | undefined>;
  /** The newest runs of a channel, newest first. */
  recent(channelId: string, limit: number): Promise<readonly Run[]>;
  /** Whether it answers; for readiness. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Small texts for whoever holds a run right now, from a replica that does not. Throws as the store does. A note is given once, and
 * lost when nobody asks for it within a minute, or when its answer is: who leaves one must not count on it.
 */
export interface Notes {
  leave(id: RunId, note: string): Promise<void>;
  /** The oldest first, at most 100. */
  read(id: RunId): Promise<readonly string[]>;
}
