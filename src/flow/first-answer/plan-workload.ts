import { decideSnapshot } from '../../core/batch/decide-batch.ts';
import { batchPlanHash, newBatch, type PlannedPod } from '../../core/batch/new-batch.ts';
import { selectorOf } from '../../core/batch/select-pods.ts';
import { targetWords } from '../../core/command/print.ts';
import { planHash } from '../../core/container/plan.ts';
import { byAge, type Pod, workloadOf } from '../../core/container/pod.ts';
import { firstWorkloadAnswer } from '../../core/diagnosis/first-answer.ts';
import { hasInside } from '../../core/lookup/question.ts';
import { type AskedTarget, isKnown, podsOfTarget } from '../../core/lookup/workload-sources.ts';
import { type PlannedQuestion, planQuestion } from '../../core/policy/plan-request.ts';
import type { Denial } from '../../core/policy/policy.ts';
import type { Verdict } from '../../core/run/run.ts';
import { nearest } from '../../lib/text.ts';
import type { PlanContext, PlanSubject } from '../batch/plan.ts';
import type { FlowDeps } from '../deps.ts';
import {
  type FirstAnswer,
  learntFor,
  learntFrom,
  type PlannedRequest,
  refuse,
  unlessDenied,
} from '../stages/plan-pod.ts';
import type { AskedOfNone, QuestionAboutWorkload, QuestionInputs } from './question.ts';
import { MAX_GROUPS, readWorkloadFacts, runs } from './workload-facts.ts';

/**
 * Plans a question about a workload or a selector for one of its pods, which decides whether it may be answered: one
 * that runs, if there is one. @throws Refused
 */
export async function planWorkload(
  subject: PlanSubject,
  target: AskedTarget,
  { aim, policy, deps }: PlanContext,
): Promise<PlannedRequest | AskedOfNone> {
  const { request, origin } = subject;
  const cluster = deps.clusters.get(aim.cluster);
  const [all, level] = await Promise.all([
    cluster.pods(aim.namespace, selectorOf(target)),
    cluster.podSecurity(aim.namespace),
  ]);
  const pods = podsOfTarget(all, target).toSorted(byAge);
  const asked = { target, namespace: aim.namespace, pods, reader: { subject, cluster: aim.cluster } };
  const inputs = { request, origin, policy, aim, level };
  const first = pods.find(runs) ?? pods[0];
  if (!first) return { kind: 'nobody', asked, subject: subjectOf(target, all) };
  const { plan, decision, problem } = unlessDenied(await planned(first, inputs, deps));
  const isPlanned = { plan, planHash: planHash(plan), decision };
  return { ...isPlanned, question: { kind: 'workload', asked, inputs, problem } };
}

async function planned(pod: Pod, inputs: QuestionInputs, deps: FlowDeps): Promise<PlannedQuestion | Denial> {
  const learnt = await learntFor(pod, inputs, learntFrom(deps));
  return planQuestion(pod, { ...inputs, learnt });
}

/** Names of workloads that have pods may be meant. */
function subjectOf(target: AskedTarget, pods: readonly Pod[]): string {
  const words = targetWords(target).join(' ');
  if (target.kind !== 'workload') return words;
  const names = pods.flatMap((pod) => {
    const workload = workloadOf(pod);
    return workload?.kind === target.workload ? workload.name : [];
  });
  const near = nearest(target.name, [...new Set(names)]);
  return near === undefined ? words : `${words} (did you mean ${target.workload}/${near}?)`;
}

/** Answers a question about pods of which there are none, where anything is known of the name. @throws Refused */
export async function answerNobody({ asked, subject }: AskedOfNone, deps: FlowDeps): Promise<Verdict> {
  const facts = await readWorkloadFacts(asked, deps);
  if (!isKnown(facts)) return refuse('no_pod_matches', subject);
  const { verdict, groups } = firstWorkloadAnswer(facts);
  return { ...verdict, groups };
}

/**
 * Answers a question about a workload, and plans the looks: into one pod, or as a batch into one pod of each of up to
 * three groups, where the policy allows that. @throws KdebugError audit_unavailable
 */
export async function answerWorkload({ asked, inputs }: QuestionAboutWorkload, deps: FlowDeps): Promise<FirstAnswer> {
  const facts = await readWorkloadFacts(asked, deps);
  const { verdict, groups } = firstWorkloadAnswer(facts);
  const byName = new Map(facts.pods.map((each) => [each.pod.metadata.name, each]));
  const looks: LookInto[] = [];
  for (const { podNames } of groups.slice(0, MAX_GROUPS)) {
    // Nodes are known of few pods, and what runs by the watch can be looked into.
    const running = podNames.flatMap((name) => byName.get(name) ?? []).filter(({ pod }) => runs(pod));
    const look = await firstLook(running.slice(0, MAX_TRIED), inputs, deps);
    if (look) looks.push(look);
  }
  return { verdict: { ...verdict, groups }, look: lookOf(looks, inputs, deps.clock.now()) };
}

/** Pods of one group to try. */
const MAX_TRIED = 5;

interface LookInto extends Pick<PlannedQuestion, 'plan' | 'decision'> {
  readonly pod: Pod;
}

async function firstLook(
  candidates: Awaited<ReturnType<typeof readWorkloadFacts>>['pods'],
  inputs: QuestionInputs,
  deps: FlowDeps,
): Promise<LookInto | undefined> {
  for (const { pod, node } of candidates) {
    const made = await planned(pod, inputs, deps);
    if (made.kind === 'deny' || made.problem || made.decision.kind === 'deny') continue;
    if (hasInside(pod, made.plan, node)) return { pod, plan: made.plan, decision: made.decision };
  }
  return undefined;
}

/** A rule that allows no batch still allows one look. */
function lookOf(
  looks: readonly LookInto[],
  { request, policy }: QuestionInputs,
  nowMs: number,
): PlannedRequest | undefined {
  const [first] = looks;
  if (!first) return undefined;
  const single = { plan: first.plan, planHash: planHash(first.plan), decision: first.decision };
  if (looks.length === 1) return single;
  const pods: PlannedPod[] = looks.map(({ pod, plan }) => ({ pod, plans: [plan] }));
  const batch = newBatch({ pods, requested: { ...request.batch, parallelism: looks.length }, nowMs });
  const decision = decideSnapshot(batch, policy);
  if (decision.kind === 'deny') return single;
  return { plan: first.plan, planHash: batchPlanHash(batch), decision, batch };
}
