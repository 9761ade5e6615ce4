import { classText } from '../../core/container/class-facts.ts';
import { planHash } from '../../core/container/plan.ts';
import type { Verdict } from '../../core/diagnosis/facts/verdict.ts';
import { toKdebugError } from '../../core/errors.ts';
import type { RunId } from '../../core/ids.ts';
import { withoutLook } from '../../core/lookup/merge-verdicts.ts';
import { isQuestion } from '../../core/lookup/question.ts';
import { aimOf, planQuestion, planRequest } from '../../core/planning/plan-request.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { Refusal } from '../../core/request/origin.ts';
import type { Run } from '../../core/run/run.ts';
import type { EventOf } from '../../core/run/run-event.ts';
import { unseenOnCard } from '../../core/say/parts/power-parts.ts';
import { defined } from '../../lib/object.ts';
import type { Starter } from '../context/accept.ts';
import { record } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun, RunChanger } from '../context/held-run.ts';
import { refusal } from '../context/refusals.ts';
import { answerQuestion } from '../first-answer/answer.ts';
import { podOrItsHeir } from '../first-answer/gone-pod.ts';
import { answerNobody, planWorkload } from '../first-answer/plan-workload.ts';
import { channelProblem } from '../planning/channel-check.ts';
import { type GrantContext, useGrant } from '../planning/grants.ts';
import { type PlanContext, type PlanSubject, planBatch } from '../planning/plan-batch.ts';
import {
  learntFor,
  learntFrom,
  type PlannedRequest,
  type Preview,
  Refused,
  refuse,
  sourcesOfOnceMore,
  unlessDenied,
} from '../planning/plan-pod.ts';
import { accessProblem, muteProblem, rehearse } from '../planning/preflight.ts';
import type { Question, QuestionWithoutPods } from '../planning/question.ts';
import { joinNode, joinStorm, mayBeOfNode } from './join-card.ts';
import { earlyProblem, problemOf } from './problems.ts';

/**
 * Turns a request into a plan and decides on it. Refuses early what cannot work: always before anything is added to the
 * cluster, and before reading a pod when the channel, the policy or the person's own rights forbid it, so that no
 * answer reveals which pods exist.
 */
export async function plan(held: HeldRun, tools: Tools & { readonly starter: Starter }): Promise<void> {
  const { deps } = tools;
  const { run } = held;
  try {
    const early = earlyProblem(run, deps);
    if (early && !mayBeOfNode(run)) throw new Refused(early);
    // Side by side: asking Slack takes as long as reading the pod.
    const [planned, mute] = await Promise.all([
      planFor(run, deps, { answers: true }),
      run.request.dryRun ? undefined : muteProblem(deps),
    ]);
    if (mute) throw new Refused(mute);
    if ('scope' in planned) return await answerOfNone(held, planned, deps);
    const { question, plan: known } = planned;
    if (await joinNode(held, { question, cluster: known.cluster }, tools)) return;
    if (early) throw new Refused(early);
    await decide(held, planned, tools);
  } catch (thrown) {
    // Whatever else is wrong with it: its pod may be gone, or the cluster may not answer.
    if (await joinStorm(held, tools)) return;
    if (!(thrown instanceof Refused)) throw thrown;
    await held.apply({ kind: 'denied', refusal: thrown.refusal, atMs: deps.clock.now() });
  }
}

/** @throws Refused */
async function decide(held: HeldRun, planned: PlannedRequest, { deps, runs }: Tools): Promise<void> {
  const { run } = held;
  const atMs = deps.clock.now();
  const problem = await problemOf(run, planned, deps);
  await recordDecision(run, planned, { problem, deps });
  if (problem) throw new Refused(problem);
  const { question, ...known } = planned;
  if (run.request.dryRun) {
    const rehearsal = await rehearse(run, known.plan, deps);
    await held.apply({ kind: 'rehearsed', ...known, atMs, rehearsal });
  } else if (question) await answerFirst(held, { known, question }, { deps, runs });
  else await launchable(held, known, { deps, runs });
}

interface PlannedQuestion {
  readonly known: PlannedRequest;
  readonly question: Question;
}

interface Tools {
  readonly deps: FlowDeps;
  readonly runs: RunChanger;
}

/** Says at once what can be said without a container, and launches one where it can see more. */
async function answerFirst(held: HeldRun, { known, question }: PlannedQuestion, { deps, runs }: Tools): Promise<void> {
  const { verdict, look } = await answerQuestion(known, question, { subject: held.run, deps });
  try {
    if (!look) return await answered(held, known, { verdict, because: question.problem?.code, deps });
    await launchable(held, look, { deps, runs, verdict });
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown;
    // Only the look is refused, and what was read answers the question all the same.
    const { refusal: why } = thrown;
    await answered(held, look ?? known, { verdict: withoutLook(verdict, why), because: why.code, deps });
  }
}

interface LastWord {
  readonly verdict: Verdict;
  readonly because: string | undefined;
  readonly deps: FlowDeps;
}

async function answered(
  held: HeldRun,
  { plan: planned, planHash: hash, decision }: PlannedRequest,
  { verdict, because, deps }: LastWord,
): Promise<void> {
  const known = { plan: planned, planHash: hash, decision, verdict, ...defined({ because }) };
  await held.apply({ kind: 'answered', ...known, atMs: deps.clock.now() });
}

/** @throws Refused */
async function launchable(
  held: HeldRun,
  planned: PlannedRequest,
  { verdict, deps, runs }: Tools & { readonly verdict?: Verdict },
): Promise<void> {
  const { decision } = planned;
  const grantedBy =
    decision.kind === 'needs-approval'
      ? await beforeApproval(held.run, planned, { needed: decision, deps, runs })
      : undefined;
  const event = { kind: 'planned', ...planned, atMs: deps.clock.now(), ...defined({ grantedBy, verdict }) } as const;
  await applyPlan(held, event, deps.policies.current());
}

/** There is no pod to plan for, so nothing is launched, and channel, image and rights have decided. @throws Refused */
async function answerOfNone(held: HeldRun, nobody: QuestionWithoutPods, deps: FlowDeps): Promise<void> {
  await record(deps, held.run, 'decision', { kind: 'allow', pods: 0 });
  const verdict = await answerNobody(nobody, deps);
  await held.apply({ kind: 'answered', verdict, atMs: deps.clock.now() });
}

/** The store limits how many requests of one person wait for an approval. @throws Refused */
async function applyPlan(held: HeldRun, planned: EventOf<'planned'>, { limits }: Policy): Promise<void> {
  try {
    await held.apply(planned);
  } catch (thrown) {
    const { code } = toKdebugError(thrown);
    if (code !== 'limit_pending_per_person') throw thrown;
    refuse(code, `${limits.pendingApprovalsPerUser} of ${limits.pendingApprovalsPerUser}`);
  }
}

/** Plans a request by the current policy and pods; stores nothing. A preview plans one pod of each kind. */
export async function planOrRefusal(
  subject: PlanSubject,
  deps: FlowDeps,
  preview?: Preview,
): Promise<PlannedRequest | { readonly refusal: Refusal }> {
  try {
    const planned = await planFor(subject, deps, { answers: preview !== undefined, ...defined({ preview }) });
    return 'scope' in planned ? { refusal: refusal('no_pod_matches', planned.subject) } : planned;
  } catch (thrown) {
    if (thrown instanceof Refused) return { refusal: thrown.refusal };
    throw thrown;
  }
}

interface Decided {
  readonly problem: Refusal | undefined;
  readonly deps: FlowDeps;
}

function recordDecision(
  run: Run,
  { plan, decision, batch }: PlannedRequest,
  { problem, deps }: Decided,
): Promise<void> {
  return record(deps, run, 'decision', {
    kind: problem ? 'deny' : decision.kind,
    code: problem?.code,
    rule: decision.rule,
    class: classText(plan.class, plan.classReasons),
    pods: batch?.approvedPods,
  });
}

/**
 * Uses an open grant instead of an approval. Without one, the cluster must accept the patch before approvers are
 * notified.
 * @throws Refused
 */
async function beforeApproval(
  run: Run,
  { plan, batch }: PlannedRequest,
  { needed, deps, runs }: GrantContext,
): Promise<RunId | undefined> {
  // A grant counts single runs, so it covers no batch.
  const grantedBy = batch ? undefined : await useGrant(run, plan, { needed, deps, runs });
  if (grantedBy !== undefined) return grantedBy;
  const unseen = unseenOnCard({ plan, ...defined({ batch }) });
  if (unseen) throw new Refused(refusal(unseen, undefined, needed.rule));
  const rehearsal = await rehearse(run, plan, deps);
  if (!rehearsal.accepted) throw new Refused(refusal('rehearsal_refused', rehearsal.cluster, needed.rule));
  return undefined;
}

interface Planning {
  readonly preview?: Preview;
  /** A question about a pod that can hold no further container is planned too: to be answered. */
  readonly answers: boolean;
}

/** Checks the channel, the policy and the person's rights, in this order, before it reads a pod. @throws Refused */
async function planFor(
  subject: PlanSubject,
  deps: FlowDeps,
  { preview, answers }: Planning,
): Promise<PlannedRequest | QuestionWithoutPods> {
  const { request, origin } = subject;
  const policy = deps.policies.current();
  // A preview and a dry run post nothing.
  const problem = await channelProblem(origin, deps, { posts: !preview && request.dryRun !== true });
  if (problem) throw new Refused(problem);
  const aim = unlessDenied(aimOf(request, origin, policy));
  const { target } = request;
  const podName = target.kind === 'pod' ? target.name : undefined;
  const denied = await accessProblem(subject, { ...aim, ...defined({ podName }) }, deps);
  if (denied) throw new Refused(denied);
  if (preview?.isOver()) return refuse('cluster_unreachable', 'no answer in time');
  const context = { aim, policy, deps, ...defined({ preview }) };
  const hasQuestion = isQuestion(subject, aim.alias);
  if (target.kind === 'pod') return planOne(subject, target.name, { ...context, answers: answers && hasQuestion });
  if (!hasQuestion || (target.kind !== 'workload' && target.kind !== 'selector'))
    return planBatch(subject, target, context);
  // Approvers have seen the pod that it looks into.
  if (!answers && subject.plan) return planOne(subject, subject.plan.podName, { ...context, answers });
  return planWorkload(subject, target, context);
}

async function planOne(
  { request, origin, plan: planned }: PlanSubject,
  named: string,
  { aim, policy, deps, answers }: PlanContext & Pick<Planning, 'answers'>,
): Promise<PlannedRequest> {
  // Of an alert, the pod in the place of the one that it names may have been planned.
  const name = planned?.podName ?? named;
  const cluster = deps.clusters.get(aim.cluster);
  const found = answers
    ? podOrItsHeir(cluster, { namespace: aim.namespace, name, origin }, deps)
    : cluster.pod(aim.namespace, name);
  const [pod, level] = await Promise.all([found, cluster.podSecurity(aim.namespace)]);
  const learnt = await learntFor(pod, { request, aim }, learntFrom(deps));
  const sources = await sourcesOfOnceMore(pod, request, cluster);
  const inputs = { request, origin, policy, aim, level, learnt, ...sources };
  if (answers) {
    const { plan, decision, problem } = unlessDenied(planQuestion(pod, inputs));
    return { plan, planHash: planHash(plan), decision, question: { kind: 'pod', pod, problem } };
  }
  const { plan, decision } = unlessDenied(planRequest(pod, inputs));
  return { plan, planHash: planHash(plan), decision };
}
