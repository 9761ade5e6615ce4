import type { AlertCard } from '../alert/card.ts';
import type { Batch, BatchEvent } from '../batch/batch.ts';
import type { Plan } from '../container/plan.ts';
import type { ContainerTermination } from '../container/pod.ts';
import type { Verdict } from '../diagnosis/facts/verdict.ts';
import type { RunId } from '../ids.ts';
import type { Outcome } from '../outcome.ts';
import type { Grant, GrantUse } from '../planning/grant.ts';
import type { Vote, Voter } from '../planning/vote.ts';
import type { Decision } from '../policy/policy.ts';
import type { Refusal } from '../request/origin.ts';
import type { DeliveryEvent } from './delivery.ts';
import type { Rehearsal, RunLog, StopContainer } from './run.ts';
import type { SentCopies } from './sent-copies.ts';

/** The events of a stop. */
export type StopEvent =
  | { readonly kind: 'stop-requested'; readonly byUserId: string; readonly atMs: number }
  | { readonly kind: 'stop-launching'; readonly container: StopContainer }
  | { readonly kind: 'stop-ended'; readonly exitCode: number; readonly message: string; readonly atMs: number }
  | { readonly kind: 'stop-failed'; readonly why: string; readonly isOutput?: boolean; readonly atMs: number };

/** Everything that can happen to a run. `atMs`: when it was noticed. */
export type RunEvent =
  | {
      readonly kind: 'planned';
      readonly plan: Plan;
      readonly planHash: string;
      readonly decision: Decision;
      /** The run whose grant replaces the approval that the rule requires. */
      readonly grantedBy?: RunId;
      /** The snapshot of a request for several pods. */
      readonly batch?: Batch;
      /** The first answer of a diagnosis, which its card shows at once. */
      readonly verdict?: Verdict;
      readonly atMs: number;
    }
  /**
   * A diagnosis that needs no container, or can have none: its first answer is its result. Of a workload without pods
   * there is nothing to plan or to decide on.
   */
  | {
      readonly kind: 'answered';
      readonly verdict: Verdict;
      /** The reason why the pod can hold no container. */
      readonly because?: string;
      readonly plan?: Plan;
      readonly planHash?: string;
      readonly decision?: Decision;
      readonly atMs: number;
    }
  | { readonly kind: 'denied'; readonly refusal: Refusal; readonly atMs: number }
  /** Slack refuses its card everywhere before a launch: nobody could decide, or see what happens. */
  | { readonly kind: 'unheard'; readonly refusal: Refusal; readonly atMs: number }
  | {
      readonly kind: 'voted';
      readonly vote: Vote;
      readonly voter: Voter;
      /** Earlier voters who are no longer approvers. */
      readonly lapsed?: readonly string[];
      readonly grant?: Grant;
    }
  | { readonly kind: 'expired'; readonly atMs: number }
  | { readonly kind: 'cancelled'; readonly byUserId: string; readonly atMs: number }
  | {
      readonly kind: 'rehearsed';
      readonly plan: Plan;
      readonly planHash: string;
      readonly decision: Decision;
      readonly rehearsal: Rehearsal;
      readonly atMs: number;
    }
  | { readonly kind: 'grant-used'; readonly use: GrantUse }
  | { readonly kind: 'grant-ended'; readonly byUserId: string; readonly atMs: number }
  | { readonly kind: 'launching'; readonly containerName: string; readonly notAfterMs: number; readonly ref: string }
  | { readonly kind: 'launched'; readonly atMs: number }
  | { readonly kind: 'waiting'; readonly reason: string; readonly message: string }
  | { readonly kind: 'started'; readonly atMs: number; readonly imageId: string }
  | {
      readonly kind: 'ended';
      readonly outcome: Outcome;
      readonly termination?: ContainerTermination;
      readonly imageId?: string;
      readonly atMs: number;
    }
  | {
      readonly kind: 'finished';
      readonly outcome: Outcome;
      readonly log?: RunLog;
      readonly verdict?: Verdict;
      readonly atMs: number;
    }
  | {
      readonly kind: 'came-late';
      readonly outcome: Outcome;
      readonly termination: ContainerTermination;
      readonly imageId: string;
      readonly log?: RunLog;
      readonly verdict?: Verdict;
      readonly atMs: number;
    }
  | StopEvent
  /** Of a batch that may run. */
  | { readonly kind: 'batch'; readonly event: BatchEvent; readonly atMs: number }
  /** A source told of the alerts of its card again. */
  | { readonly kind: 'alerted'; readonly alert: AlertCard }
  /** The card of these alerts belongs into the thread of the one with this `dedupeKey`. */
  | { readonly kind: 'joined'; readonly threadOf: string; readonly alert: AlertCard }
  /** The card of its alerts has a message in Slack, in whose thread this run answers. */
  | { readonly kind: 'threaded'; readonly threadTs: string }
  | { readonly kind: 'asked'; readonly asked: SentCopies }
  /** Slack accepted a post of kdebug, or refused it permanently. */
  | { readonly kind: 'delivered'; readonly event: DeliveryEvent };

export type EventOf<Kind extends RunEvent['kind']> = Extract<RunEvent, { kind: Kind }>;
