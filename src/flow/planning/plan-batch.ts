import { batchPlanHash, newBatch, type PlannedPod, variantKeyOf } from '../../core/batch/new-batch.ts';
import { podsToRerun } from '../../core/batch/pod-result.ts';
import { type BatchTarget, kindOf, type SelectedPod, selectorOf, selectPods } from '../../core/batch/select-pods.ts';
import { worseClass } from '../../core/container/image-class.ts';
import type { Plan } from '../../core/container/plan.ts';
import { decideSnapshot, firstOfEachVariant } from '../../core/planning/decide-batch.ts';
import { type Aim, aimOf, type PlanInputs, roomFor } from '../../core/planning/plan-request.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { RunRequest } from '../../core/request/command.ts';
import type { Run } from '../../core/run/run.ts';
import { sleep } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import type { AuditSubject } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import { compared, comparisonOf } from './comparison.ts';
import {
  type LearntOf,
  learntFrom,
  type PlannedRequest,
  type Preview,
  planPodOrRefuse,
  refuse,
  unlessDenied,
} from './plan-pod.ts';

/** Pods to plan before other work gets a turn: a few milliseconds. */
const PODS_PER_TURN = 100;

/** A run, or a request that only `can-i` and the like plan. */
export type PlanSubject = AuditSubject & Pick<Run, 'request' | 'job' | 'rerunOf' | 'plan'>;

/** The requests of a batch, one for each container that a pod gets. */
export const requestsOf = ({ job, request }: PlanSubject): readonly RunRequest[] => job?.requests ?? [request];

/**
 * Plans a request for several pods: takes the snapshot, plans each pod, and asks the policy about all of them. Refuses
 * an empty match. @throws Refused
 */
export async function planBatch(run: PlanSubject, target: BatchTarget, context: PlanContext): Promise<PlannedRequest> {
  const { aim, policy, deps } = context;
  const { request, origin } = run;
  const cluster = deps.clusters.get(aim.cluster);
  const [pods, level, onlyUids] = await Promise.all([
    cluster.pods(aim.namespace, selectorOf(target)),
    cluster.podSecurity(aim.namespace),
    uidsToRerun(run, deps),
  ]);
  // Several such requests begin at the same moment: each of the steps below looks at all pods.
  await giveTurn(pods, context);
  const requests = requestsOf(run);
  const room = roomFor(origin.requesterId, policy.limits);
  const selected =
    target.kind === 'compare'
      ? compared(pods, { name: target.name, targetContainer: request.targetContainer, room })
      : selectPods(pods, {
          target,
          targetContainers: requests.map(({ targetContainer }) => targetContainer),
          room,
          ...defined({ onlyUids }),
        });
  stopIfOver(context);
  if (selected.kind === 'refused') return refuse(selected.code, selected.subject);
  const comparison = target.kind === 'compare' ? await comparisonOf(selected, run, context) : undefined;
  const inputs = requests.map((containerRequest) => ({
    request: containerRequest,
    origin,
    policy,
    level,
    aim: { ...aim, alias: unlessDenied(aimOf(containerRequest, origin, policy)).alias },
  }));
  const planned = await planAll(selected.pods, inputs, context);
  await giveTurn(planned, context);
  const batch = newBatch({
    pods: planned,
    requested: request.batch,
    ...defined({ comparison, pausedBy: run.job?.paused ? origin.requesterId : undefined }),
    nowMs: deps.clock.now(),
  });
  await giveTurn(planned, context);
  const plans = [...firstOfEachVariant(batch)];
  const decision = decideSnapshot(batch, policy);
  await giveTurn(planned, context);
  return { plan: highestClassOf(plans), planHash: batchPlanHash(batch), decision, batch };
}

/** The resolved aim of a request, and the policy that decides on it. */
export interface PlanContext {
  readonly aim: Aim;
  readonly policy: Policy;
  readonly deps: FlowDeps;
  /** Set for a preview: only the first pod of each kind is planned. */
  readonly preview?: Preview;
}

async function planAll(
  selected: readonly SelectedPod[],
  inputs: readonly PlanInputs[],
  context: PlanContext,
): Promise<readonly PlannedPod[]> {
  const { deps, preview } = context;
  const planned: PlannedPod[] = [];
  const learntOf = lookUpOnce(learntFrom(deps));
  const kinds = new Map<string, Pick<PlannedPod, 'plans' | 'key'>>();
  for (const pod of selected) {
    const kind = preview && kindOf(pod.pod);
    const known = kind === undefined || pod.skip !== undefined ? undefined : kinds.get(kind);
    const plans = known ?? (await planOfEach(pod, inputs, learntOf));
    if (kind !== undefined && pod.skip === undefined) kinds.set(kind, plans);
    if (planned.push({ ...pod, ...plans }) % PODS_PER_TURN === 0) await giveTurn(planned, context);
  }
  return planned;
}

/** Lets other work go on before the next step over so many pods; over few it takes no time. */
async function giveTurn(
  pods: readonly unknown[],
  { deps, preview }: Pick<PlanContext, 'deps' | 'preview'>,
): Promise<void> {
  if (pods.length < PODS_PER_TURN) return;
  await sleep(deps.clock, 0);
  stopIfOver({ preview });
}

const stopIfOver = ({ preview }: { readonly preview?: Preview | undefined }): void =>
  void (preview?.isOver() && refuse('cluster_unreachable', 'no answer in time'));

async function planOfEach(
  { pod, skip }: SelectedPod,
  inputs: readonly PlanInputs[],
  learntOf: LearntOf,
): Promise<Pick<PlannedPod, 'plans' | 'key'>> {
  if (skip !== undefined) return { plans: [] };
  const plans: Plan[] = [];
  for (const part of inputs) plans.push(await planPodOrRefuse(pod, part, learntOf));
  return { plans, key: variantKeyOf(plans) };
}

/** A batch has few kinds of targets: looks up each kind once. */
function lookUpOnce(lookUp: LearntOf): LearntOf {
  const known = new Map<string, ReturnType<LearntOf>>();
  return (kind) => {
    const learnt = known.has(kind) ? known.get(kind) : lookUp(kind);
    known.set(kind, learnt);
    return learnt;
  };
}

async function uidsToRerun({ rerunOf }: PlanSubject, { store }: FlowDeps): Promise<ReadonlySet<string> | undefined> {
  if (rerunOf === undefined) return undefined;
  const earlier = await store.read(rerunOf);
  return earlier?.batch
    ? new Set(podsToRerun(earlier.batch).map(({ uid }) => uid))
    : refuse('batch_not_found', rerunOf);
}

/** The plan of the highest class: what the card says about it holds for all. */
const highestClassOf = ([first, ...others]: readonly Plan[]): Plan =>
  others.reduce(
    (worst, plan) => (worseClass(worst.class, plan.class) === worst.class ? worst : plan),
    first ?? refuse('no_pod_fits'),
  );
