import type { Plan } from '../container/plan.ts';
import type { OutcomeKind } from '../run/outcome.ts';

/** Where a pod of a batch is; exactly one at a time (design, section 5). In flight are `starting` and `running`. */
export const POD_STATES = [
  'queued',
  'skipped',
  'starting',
  'running',
  'succeeded',
  'failed',
  'start-failed',
  'timed-out',
  'lost',
  'cancelled',
] as const;
export type PodState = (typeof POD_STATES)[number];

/** Why a matched pod is left alone; `REASON_OF_SKIP` has the words for people. */
export const SKIP_REASONS = [
  'static',
  'finished',
  'deleting',
  'not-scheduled',
  'windows',
  'cap-reached',
  'share-reached',
  'no-such-target',
  'target-ended',
  'beyond-replicas',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** What one container came to. Every text is clean, on one line and short (`podResult`). */
export interface PodResult {
  readonly outcome: OutcomeKind;
  readonly exitCode?: number;
  /** The kubelet's word, or who refused: `Error`, `ImagePullBackOff`, `pod-security`. */
  readonly reason?: string;
  readonly message?: string;
  /** Codes of the report's findings, sorted, at most eight. */
  readonly findings?: readonly string[];
  /** What was kept of its log. */
  readonly logBytes?: number;
  /** What could not be proven about its log (`logDoubt`). */
  readonly logDoubt?: string;
  /** It has ended, and the rest of its log is being read: findings and `logBytes` are not known yet. */
  readonly reading?: true;
}

/**
 * One matched pod. Plain data, below 1 KiB. `state` is what was last stored for it; `stateOf` says what it means now, for
 * closing a batch or changing its `replicas` writes the head only and never ten thousand pods.
 */
export interface BatchPod {
  /** Its place in the snapshot, from 0; oldest first. */
  readonly index: number;
  readonly name: string;
  readonly uid: string;
  /** Empty where the pod is on no node; such a pod is skipped. */
  readonly node: string;
  readonly state: PodState;
  /** Of `skipped`. */
  readonly skip?: SkipReason;
  /** Which of `Batch.variants` is its plan; absent where the pod is skipped. */
  readonly variant?: number;
  readonly launchedAtMs?: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  /** One for each container of its variant, in that order; null until it has ended. */
  readonly results?: readonly (PodResult | null)[];
}

/** A plan without its pod: what all pods of a variant have in common. */
export type PlanTemplate = Omit<Plan, 'podName' | 'podUid' | 'nodeName' | 'workload' | 'observed'>;

/** The containers that one pod gets, nearly always one. */
export type Variant = readonly PlanTemplate[];

/** Why nothing more is launched. */
export interface Closed {
  readonly because: 'cancelled' | 'ttl' | 'start-failures' | 'record-lost';
  readonly atMs: number;
  /** Who, where a person did it. */
  readonly byUserId?: string;
  /** The reason that came three times. */
  readonly reason?: string;
}

/** All of a batch but its pods; small, and replaced as a whole. */
export interface BatchHead {
  readonly variants: readonly Variant[];
  /** How many pods the approver, or the rule, said yes to at most. */
  readonly approvedPods: number;
  readonly approvedParallelism: number;
  readonly parallelism: number;
  /** Absent: all that match. */
  readonly replicas?: number;
  readonly ttlMs?: number;
  /** `first`: one pod alone; `waiting`: for a click on Continue; `continued`. Absent: no canary was asked for. */
  readonly canary?: 'first' | 'waiting' | 'continued';
  readonly paused?: { readonly byUserId: string; readonly atMs: number };
  readonly closed?: Closed;
  /** How many pods of the snapshot can be worked on: they stand before the skipped ones. */
  readonly eligible: number;
  /** Queued pods from this index on are beyond `replicas`. */
  readonly queueEnd: number;
  readonly createdAtMs: number;
  readonly firstLaunchAtMs?: number;
  /** Since when nothing may be launched (paused, or waiting for Continue), and how long that lasted before. */
  readonly idleSinceMs?: number;
  readonly idleMs: number;
  /** It has ended, for good: the last pod's end, or a close with nothing in flight, brings it about. */
  readonly endedAtMs?: number;
}

/**
 * What a run of several pods has beside what every run has (`Run.batch`): the snapshot with its plans, and how far each pod is.
 * Plain data. Who asked, what was typed, the approval and what was said are the run's own.
 */
export interface Batch extends BatchHead {
  readonly pods: readonly BatchPod[];
}

/** The batch without its pods. */
export function headOf(batch: Batch): BatchHead {
  const { pods: _, ...head } = batch;
  return head;
}

/**
 * Everything that can happen to a batch once it may run; what comes before is the run's own. `index` is a pod's place in the
 * snapshot; `container` one of its variant, 0 when absent.
 */
export type BatchEvent =
  /** Its PATCH is sent next: from here the pod counts as in flight. */
  | { readonly kind: 'launched'; readonly index: number }
  /** A container was seen running. */
  | { readonly kind: 'started'; readonly index: number }
  /**
   * A container has ended, or will never start (`start-failed`, `refused` …), or was given up; the outcome says which. The same
   * again tells more of it (what its log came to).
   */
  | {
      readonly kind: 'ended';
      readonly index: number;
      readonly container?: number;
      readonly result: PodResult;
    }
  | { readonly kind: 'paused'; readonly byUserId: string }
  | { readonly kind: 'resumed' }
  /** Nothing more is launched. What runs cannot be killed: it is followed to its end. */
  | { readonly kind: 'cancelled'; readonly byUserId: string }
  /** Allowed only as far as `decideResize` says; only these two numbers may change while it runs (proposal). */
  | { readonly kind: 'resized'; readonly parallelism?: number; readonly replicas?: number }
  /** Somebody looked at the canary's result and clicked on Continue. */
  | { readonly kind: 'continued' }
  /** The time to live is over: what is queued is cancelled, what is in flight is no longer waited for. */
  | { readonly kind: 'ttl-expired' };
