import type { Batch } from '../../core/batch/batch.ts';
import type { Plan } from '../../core/container/plan.ts';
import type { Pod } from '../../core/container/pod.ts';
import type { UserAndGroup } from '../../core/container/profiles.ts';
import type { Verdict } from '../../core/diagnosis/facts/verdict.ts';
import { type ReasonCode, toKdebugError } from '../../core/errors.ts';
import { kindToLookUp, type PlanInputs, planPod } from '../../core/planning/plan-request.ts';
import type { Decision, Denial } from '../../core/policy/policy.ts';
import type { Refusal } from '../../core/request/origin.ts';
import { targetContainerOf } from '../../core/request/target.ts';
import { type Clock, withDeadline } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import { refusal } from '../context/refusals.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Question } from './question.ts';

/** A preview: nobody launches this plan, but somebody waits for the answer. */
export interface Preview {
  /** The requester stopped waiting: stop working. */
  isOver(): boolean;
}

/** Waits `ms` for `plan`, which then stops at its next step. */
export function withPreview<Value, Late>(
  clock: Clock,
  ms: number,
  plan: (preview: Preview) => Promise<Value>,
  onLate: () => Late,
): Promise<Value | Late> {
  const untilMs = clock.elapsed() + ms;
  return withDeadline(clock, ms, plan({ isOver: () => clock.elapsed() >= untilMs }), onLate);
}

export interface PlannedRequest {
  readonly plan: Plan;
  /** Hash of the plan, or of all plans of a batch. */
  readonly planHash: string;
  readonly decision: Decision;
  readonly batch?: Batch;
  /** Set where the request is to be answered before anything is launched. */
  readonly question?: Question;
}

/** The answer that needs no launch. */
export interface AnsweredQuestion {
  readonly verdict: Verdict;
  /** The launch, if a container can see more. */
  readonly look: PlannedRequest | undefined;
}

export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

export const refuse = (code: ReasonCode, subject?: string): never => {
  throw new Refused(refusal(code, subject));
};

/** @throws Refused */
export function unlessDenied<T extends { readonly kind: string }>(result: T | Denial): T {
  if (isDenial(result)) throw new Refused(refusal(result.code, result.subject, result.rule));
  return result;
}

const isDenial = (result: { readonly kind: string } | Denial): result is Denial => result.kind === 'deny';

/** The learnt user and group of a kind of target (`kindOfTarget`). */
export type LearntOf = (kind: string) => Promise<UserAndGroup | undefined> | UserAndGroup | undefined;

/** @throws Refused */
export async function planPodOrRefuse(pod: Pod, inputs: PlanInputs, learntOf: LearntOf): Promise<Plan> {
  const learnt = await learntFor(pod, inputs, learntOf);
  return unlessDenied(planPod(pod, { ...inputs, learnt })).plan;
}

interface Lookup {
  readonly request: Pick<PlanInputs['request'], 'targetContainer'>;
  readonly aim: Pick<PlanInputs['aim'], 'cluster'>;
}

export function learntFor(pod: Pod, { request, aim }: Lookup, learntOf: LearntOf): ReturnType<LearntOf> {
  const kind = kindToLookUp(pod, request, aim.cluster);
  return kind === undefined ? undefined : learntOf(kind);
}

/**
 * For a request that wants its target container to run once more: its command, mounts and names of variables. For one that
 * wants the image of another revision, also the revisions that the Deployment keeps.
 */
export async function sourcesOfOnceMore(
  pod: Pod,
  { targetContainer, onceMore }: Pick<PlanInputs['request'], 'targetContainer' | 'onceMore'>,
  cluster: Pick<Cluster, 'original' | 'revisions'>,
): Promise<Pick<PlanInputs, 'original' | 'revisions'>> {
  const target = onceMore && targetContainerOf(pod, targetContainer);
  if (target?.kind !== 'container') return {};
  const { name } = target.container;
  const [original, revisions] = await Promise.all([
    cluster.original(pod.metadata, name),
    onceMore?.imageOf === undefined ? undefined : cluster.revisions(pod, name),
  ]);
  return defined({ original, revisions });
}

/** Looks up what earlier diagnoses learnt. Only a hint: planning continues when the store fails. */
export const learntFrom =
  ({ store, log }: Pick<FlowDeps, 'store' | 'log'>): LearntOf =>
  async (kind) => {
    try {
      return await store.learnt(kind);
    } catch (thrown) {
      log.debug('cannot look up learnt identity', { reason: toKdebugError(thrown).code });
      return undefined;
    }
  };
