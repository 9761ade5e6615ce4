import type { PodFacts } from '../compare/facts.ts';
import type { Plan } from '../container/plan.ts';
import type { OutcomeKind } from '../outcome.ts';

/** The states of a pod in a batch (design, section 5). In flight are `starting` and `running`. */
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

/** The reasons to skip a matched pod; `REASON_OF_SKIP` leads to the words for people. */
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

/** The result of one container. Every text is clean, short and on one line (`podResult`). */
export interface PodResult {
  readonly outcome: OutcomeKind;
  readonly exitCode?: number;
  /** The kubelet's reason, or who refused: `Error`, `ImagePullBackOff`, `pod-security`. */
  readonly reason?: string;
  readonly message?: string;
  /** A diagnostic image reported: without findings, it found nothing. */
  readonly looked?: true;
  /** Codes of the report's findings, sorted, at most eight. */
  readonly findings?: readonly string[];
  /** The facts that the probe reported for a comparison; absent in every other batch. */
  readonly facts?: PodFacts;
  /** The stored bytes of its log. */
  readonly logBytes?: number;
  /** The doubt about its log that remains (`logDoubt`). */
  readonly logDoubt?: string;
  /** Files that it brought back: whole ones in the archive of the batch, and missing ones. Absent: none. */
  readonly files?: number;
  readonly filesMissing?: number;
  /** It has ended, and the rest of its log is being read: findings and `logBytes` are not known yet. */
  readonly reading?: true;
}

/**
 * One matched pod. Plain data, below 1 KiB; of a comparison, which has three at most, below 16 KiB. `state` is the last stored state; `stateOf` gives the current one, because
 * closing a batch or changing its `replicas` writes only the head, never ten thousand pods.
 */
export interface BatchPod {
  /** Its index in the snapshot, from 0; oldest first. */
  readonly index: number;
  readonly name: string;
  readonly uid: string;
  /** Empty if the pod is on no node; such a pod is skipped. */
  readonly node: string;
  readonly state: PodState;
  readonly skip?: SkipReason;
  /** The index of its plan in `Batch.variants`; absent for a skipped pod. */
  readonly variant?: number;
  readonly launchedAtMs?: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  /** One per container of its variant, in that order; null until the container has ended. */
  readonly results?: readonly (PodResult | null)[];
}

/** A plan without its pod: what all pods of a variant have in common. */
export type PlanTemplate = Omit<Plan, 'podName' | 'podUid' | 'nodeName' | 'workload' | 'observed'>;

/** The containers that one pod gets, nearly always one. */
export type Variant = readonly PlanTemplate[];

/** The additional state of a `compare POD` batch. */
export interface Comparison {
  /** `KDEBUG_COMPARE`, random: makes what the probes hash comparable in this run, and in no other. Never shown. */
  readonly key: string;
  /** The facts of each pod from the Kubernetes API, by its uid. */
  readonly facts: Readonly<Record<string, PodFacts>>;
  /** Sentences about siblings that could not be taken. */
  readonly notes: readonly string[];
  /** The alias of the image that sees inside a pod that differs. Absent: the policy has none. */
  readonly nextImage?: string;
}

export interface Closed {
  readonly because: 'cancelled' | 'ttl' | 'start-failures' | 'record-lost';
  readonly atMs: number;
  /** Set if a person closed it. */
  readonly byUserId?: string;
  /** The start failure that occurred three times. */
  readonly reason?: string;
}

/** A batch without its pods; small, and replaced as a whole. */
export interface BatchHead {
  readonly variants: readonly Variant[];
  /** The limit of pods set by the approver, or by the rule. */
  readonly approvedPods: number;
  readonly approvedParallelism: number;
  readonly parallelism: number;
  /** Absent: all that match. */
  readonly replicas?: number;
  readonly ttlMs?: number;
  /** `first`: launch one pod alone; `waiting` for a click on Continue; `continued`. Absent: no canary. */
  readonly canary?: 'first' | 'waiting' | 'continued';
  readonly paused?: { readonly byUserId: string; readonly atMs: number };
  readonly closed?: Closed;
  /** The pods of the snapshot that can be debugged; they come before the skipped ones. */
  readonly eligible: number;
  /** Queued pods from this index on are beyond `replicas`. */
  readonly queueEnd: number;
  readonly createdAtMs: number;
  readonly firstLaunchAtMs?: number;
  /** Since when nothing may be launched (paused, or waiting for Continue), and the total of earlier such times. */
  readonly idleSinceMs?: number;
  readonly idleMs: number;
  /** The end of the batch: that of its last pod, or a close with nothing in flight. */
  readonly endedAtMs?: number;
  /** Its pods are a sick one, which is the first, and healthy siblings of it. */
  readonly comparison?: Comparison;
}

/**
 * The additional state of a run of several pods (`Run.batch`): the snapshot with its plans, and the state of each pod.
 * Plain data. Request, approval and delivery belong to the run.
 */
export interface Batch extends BatchHead {
  readonly pods: readonly BatchPod[];
}

export function headOf(batch: Batch): BatchHead {
  const { pods: _, ...head } = batch;
  return head;
}

/**
 * Every event of a batch after its approval; what comes before is an event of the run. `index` is a pod's index in the
 * snapshot; `container` one in its variant, 0 if absent.
 */
export type BatchEvent =
  /** Sent before its PATCH: from here on the pod counts as in flight. */
  | { readonly kind: 'launched'; readonly index: number }
  | { readonly kind: 'started'; readonly index: number }
  /**
   * A container has ended, will never start (`start-failed`, `refused` …), or kdebug stopped waiting for it; see the
   * outcome. A second event for the same container completes its result after its log is read.
   */
  | {
      readonly kind: 'ended';
      readonly index: number;
      readonly container?: number;
      readonly result: PodResult;
    }
  | { readonly kind: 'paused'; readonly byUserId: string }
  | { readonly kind: 'resumed' }
  /** Stops launching. Running containers cannot be stopped: kdebug follows them to their end. */
  | { readonly kind: 'cancelled'; readonly byUserId: string }
  /** Only within what `decideResize` allows; only these two numbers may change while a batch runs (proposal). */
  | { readonly kind: 'resized'; readonly parallelism?: number; readonly replicas?: number }
  /** Somebody reviewed the canary and clicked Continue. */
  | { readonly kind: 'continued' }
  /** The time to live is over: cancels queued pods and stops waiting for those in flight. */
  | { readonly kind: 'ttl-expired' };
