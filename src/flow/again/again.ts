import type { ActionName } from '../../core/actions.ts';
import type { Decision } from '../../core/policy/policy.ts';
import type { RunRequest } from '../../core/request/command.ts';
import type { Origin } from '../../core/request/origin.ts';
import type { Run } from '../../core/run/run.ts';
import { againForm } from '../../core/say/answers/click-messages.ts';
import { withDeadline } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import { type AcceptRequest, originOf } from '../context/accept.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { PlanSubject } from '../planning/plan-batch.ts';
import type { Actor, Answer } from '../ports/slack.ts';
import { planOrRefusal } from '../run/plan.ts';

export type AgainAction = Extract<
  ActionName,
  'look-again' | 'next-image' | 'compare' | 'rerun-failed' | 'rerun' | 'run-anyway' | 'ask-for-it'
>;

/** A repeat of a run's request, by button or by the form that the button opened. */
export interface Again extends Actor {
  readonly runId: string;
  /** Absent in a form, which is bound only to the channel. */
  readonly messageTs?: string;
  readonly reason?: string;
  /** Chosen in the form of `ask-for-it`. */
  readonly profile?: string;
}

export interface RerunParts {
  readonly deps: FlowDeps;
  readonly accept: AcceptRequest;
}

export function withReason({ reason: _, ...request }: RunRequest, reason: string | undefined): RunRequest {
  return { ...request, ...defined({ reason }) };
}

export const formAgain = (...parts: Parameters<typeof againForm>): Answer => ({
  kind: 'form',
  form: againForm(...parts),
});

/** The longest time that a person waits while their request is planned, before anything is posted or opened. */
export const DECIDE_WITHIN_MS = 1_000;

/** The rule requires a reason; true if no decision comes in time. */
export async function needsReason(subject: PlanSubject, deps: FlowDeps): Promise<boolean> {
  // Never over: a plan that stops because it is late ends in a refusal, which would count as a decision.
  const isWanted = planOrRefusal(subject, deps, { isOver: () => false }).then(
    (planned) => 'decision' in planned && lacksReason(planned.decision),
    () => true,
  );
  return withDeadline(deps.clock, DECIDE_WITHIN_MS, isWanted, () => true);
}

/** The policy denies only because no reason was given. */
export const lacksReason = (decision: Decision): boolean =>
  decision.kind === 'deny' && decision.code === 'reason_required';

/** The clicker's own, in the run's thread. Without a `dedupeKey` it must get one before it is accepted. */
export function originInRunThread(
  { teamId, userId, channelId }: Again,
  run: Run,
  receivedAtMs: number,
  dedupeKey = '',
): Origin {
  const threadTs = threadTsOf(run);
  return originOf({ teamId, userId, channelId, dedupeKey, receivedAtMs, ...defined({ threadTs }) }, 'button');
}

/** The thread in which a run answers, if it has one in its channel. */
export const threadTsOf = ({ origin, delivery: { anchor } }: Pick<Run, 'origin' | 'delivery'>): string | undefined =>
  origin.threadTs ?? (anchor?.channelId === origin.channelId ? anchor.ts : undefined);
