import { batchPlanHash, newBatch, type PlannedPod } from '../../core/batch/new-batch.ts';
import { cronJobOf, selectorOf } from '../../core/batch/select-pods.ts';
import { targetWords } from '../../core/command/print.ts';
import { planHash } from '../../core/container/plan.ts';
import { type Pod, workloadOf } from '../../core/container/pod.ts';
import type { Verdict } from '../../core/diagnosis/facts/verdict.ts';
import { firstWorkloadAnswer } from '../../core/diagnosis/workload/workload-answer.ts';
import { hasInside } from '../../core/lookup/question.ts';
import {
  isKnown,
  MAX_LOOKED_GROUPS,
  podsOfTarget,
  type QuestionTarget,
  runs,
} from '../../core/lookup/workload-sources.ts';
import { decideSnapshot } from '../../core/planning/decide-batch.ts';
import { type PlannedQuestion, planQuestion } from '../../core/planning/plan-request.ts';
import { hasRuleFor, reasonWithoutRule } from '../../core/planning/possible-runs.ts';
import type { Denial } from '../../core/policy/policy.ts';
import { defined } from '../../lib/object.ts';
import { nearest } from '../../lib/text.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { PlanContext, PlanSubject } from '../planning/plan-batch.ts';
import {
  type AnsweredQuestion,
  learntFor,
  learntFrom,
  type PlannedRequest,
  refuse,
  unlessDenied,
} from '../planning/plan-pod.ts';
import type { QuestionAboutWorkload, QuestionInputs, QuestionWithoutPods } from '../planning/question.ts';
import { ownLogIn, recordMessages } from './target-logs.ts';
import { groupInTurns, readWorkloadFacts, turnsOf } from './workload-facts.ts';

/**
 * Plans a question about a workload or a selector for one of its pods, which decides whether it may be answered: one
 * that runs, if there is one. @throws Refused
 */
export async function planWorkload(
  subject: PlanSubject,
  target: QuestionTarget,
  { aim, policy, deps }: PlanContext,
): Promise<PlannedRequest | QuestionWithoutPods> {
  const { request, origin } = subject;
  const cluster = deps.clusters.get(aim.cluster);
  const [all, level] = await Promise.all([
    cluster.pods(aim.namespace, selectorOf(target)),
    cluster.podSecurity(aim.namespace),
  ]);
  const pods = podsOfTarget(all, target);
  const scope = { target, namespace: aim.namespace, pods, reader: { subject, cluster: aim.cluster } };
  const inputs = { request, origin, policy, aim, level };
  const first = pods.find(runs) ?? pods[0];
  if (!first) {
    // There is no plan to decide on: where no rule could let the image look, nobody is told anything.
    if (!hasRuleFor(aim, origin.channelId, policy))
      return refuse(reasonWithoutRule(aim, origin.channelId, policy), aim.alias.alias);
    return { kind: 'nobody', scope, subject: missingTarget(target, all) };
  }
  const { plan, decision, problem } = unlessDenied(await planned(first, inputs, deps));
  const isPlanned = { plan, planHash: planHash(plan), decision };
  return { ...isPlanned, question: { kind: 'workload', scope, inputs, problem } };
}

async function planned(pod: Pod, inputs: QuestionInputs, deps: FlowDeps): Promise<PlannedQuestion | Denial> {
  const learnt = await learntFor(pod, inputs, learntFrom(deps));
  return planQuestion(pod, { ...inputs, learnt });
}

/** A workload of another kind with that name may be meant, or one of that kind with a name like it. */
function missingTarget(target: QuestionTarget, pods: readonly Pod[]): string {
  const words = targetWords(target).join(' ');
  if (target.kind !== 'workload') return words;
  const found = pods.flatMap(workloadsOf);
  const namesake = found.find(({ name }) => name === target.name);
  const ofKind = found.flatMap(({ kind, name }) => (kind === target.workload ? name : []));
  const near = namesake?.name ?? nearest(target.name, [...new Set(ofKind)]);
  return near === undefined ? words : `${words} (did you mean ${namesake?.kind ?? target.workload}/${near}?)`;
}

interface Named {
  readonly kind: string;
  readonly name: string;
}

/** The workload of a pod, and the CronJob that makes its Job, as far as the names tell. */
function workloadsOf(pod: Pod): readonly Named[] {
  const workload = workloadOf(pod);
  if (!workload) return [];
  const cronJob = workload.kind === 'job' ? cronJobOf(workload.name) : undefined;
  return [workload, ...(cronJob === undefined ? [] : [{ kind: 'cronjob', name: cronJob }])];
}

/** Answers a question about pods of which there are none, where anything is known of the name. @throws Refused */
export async function answerNobody({ scope, subject }: QuestionWithoutPods, deps: FlowDeps): Promise<Verdict> {
  const facts = await readWorkloadFacts(scope, deps);
  if (!isKnown(facts)) return refuse('no_pod_matches', subject);
  return firstWorkloadAnswer(facts, await groupInTurns(facts.pods, turnsOf(scope.reader, deps)));
}

/**
 * Answers a question about a workload, and plans the looks: into one pod, or as a batch into one pod of each of up to
 * three groups, where the policy allows that. @throws KdebugError audit_unavailable
 */
export async function answerWorkload(
  { scope, inputs }: QuestionAboutWorkload,
  deps: FlowDeps,
): Promise<AnsweredQuestion> {
  const facts = await readWorkloadFacts(scope, deps);
  const grouped = await groupInTurns(facts.pods, turnsOf(scope.reader, deps));
  // Of each group, the answer quotes its example.
  await Promise.all(grouped.groups.map(({ example }) => recordMessages(example, scope.reader, deps)));
  const looks: LookInto[] = [];
  for (const { pods } of grouped.groups.slice(0, MAX_LOOKED_GROUPS)) {
    // Nodes are known of few pods, and what runs by the watch can be looked into.
    const running = pods.filter(({ pod }) => runs(pod));
    const look = await firstLook(running.slice(0, MAX_TRIED), inputs, deps);
    if (look) looks.push(look);
  }
  const verdict = { ...firstWorkloadAnswer(facts, grouped), ...defined({ ownLog: ownLogIn(facts.pods) }) };
  return { verdict, look: lookOf(looks, inputs, deps.clock.now()) };
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
