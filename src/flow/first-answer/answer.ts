import { countSiblings } from '../../core/compare/siblings.ts';
import type { Plan } from '../../core/container/plan.ts';
import { type Pod, workloadOf } from '../../core/container/pod.ts';
import type { Verdict } from '../../core/diagnosis/facts/verdict.ts';
import { leadsOf } from '../../core/diagnosis/findings.ts';
import { firstAnswer } from '../../core/diagnosis/first-answer.ts';
import { nextImageOf, onceMoreOf } from '../../core/diagnosis/images/next-image.ts';
import { hasInside } from '../../core/lookup/question.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { defined } from '../../lib/object.ts';
import type { AuditSubject } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { AnsweredQuestion, PlannedRequest } from '../planning/plan-pod.ts';
import type { Question, QuestionAboutPod } from '../planning/question.ts';
import type { Cluster } from '../ports/cluster.ts';
import { answerWorkload } from './plan-workload.ts';
import { readPodFacts } from './pod-facts.ts';
import { FIRST_ANSWER_MS, inTime } from './source.ts';
import { ownLogIn } from './target-logs.ts';

/** Answers a question within a second. @throws KdebugError audit_unavailable */
export async function answerQuestion(
  planned: PlannedRequest,
  question: Question,
  { subject, deps }: { readonly subject: AuditSubject; readonly deps: FlowDeps },
): Promise<AnsweredQuestion> {
  const { verdict, look } = await (question.kind === 'workload'
    ? answerWorkload(question, deps)
    : answerPod(planned, question, { subject, deps }));
  return {
    verdict: { ...verdict, ...nextFor(verdict, look, { planned, question, policy: deps.policies.current() }) },
    look,
  };
}

interface LeadContext {
  readonly planned: PlannedRequest;
  readonly question: Question;
  readonly policy: Policy;
}

function nextFor(
  verdict: Verdict,
  look: PlannedRequest | undefined,
  { planned: { plan }, question, policy }: LeadContext,
) {
  if (look) return look.batch ? {} : nextImageFor(verdict, look.plan, policy);
  const mayHold = question.kind === 'pod' && question.problem === undefined;
  return mayHold ? onceMoreOf(leadsOf(verdict.findings), { pod: question.pod, plan, policy }) : {};
}

/** Nothing is known of the target's runtime or user before a look, which goes only into what runs. */
const nextImageFor = ({ findings, groups }: Verdict, plan: Plan, policy: Policy) =>
  nextImageOf(leadsOf(findings), {
    target: undefined,
    plan,
    // Of a workload: the pod to look into is one of those with the worst finding.
    isRunning: groups?.[0]?.podNames.includes(plan.podName) ?? true,
    policy,
    lookAgain: undefined,
    mayTryGeneral: false,
  });

async function answerPod(
  planned: PlannedRequest,
  { pod, problem }: Question & QuestionAboutPod,
  { subject, deps }: { readonly subject: AuditSubject; readonly deps: FlowDeps },
): Promise<AnsweredQuestion> {
  const { targetContainerName, cluster: name } = planned.plan;
  const cluster = deps.clusters.get(name);
  const wanted = { cluster, targetContainerName, reader: { subject, cluster: name } };
  const [facts, siblings] = await Promise.all([
    readPodFacts(pod, wanted, deps),
    inTime(deps, siblingsOf(pod, cluster), FIRST_ANSWER_MS),
  ]);
  const canLook = problem === undefined && hasInside(pod, planned.plan, facts.node);
  const known = defined({ siblings, ownLog: ownLogIn([facts]) });
  return { verdict: { ...firstAnswer(facts), ...known }, look: canLook ? planned : undefined };
}

/** Of the open watch; undefined for a pod without a workload. */
const siblingsOf = async (pod: Pod, cluster: Cluster): Promise<number | undefined> =>
  workloadOf(pod) && countSiblings(pod, await cluster.pods(pod.metadata.namespace, []));
