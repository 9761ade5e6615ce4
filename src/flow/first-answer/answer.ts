import { countSiblings } from '../../core/compare/siblings.ts';
import { type Pod, workloadOf } from '../../core/container/pod.ts';
import { firstAnswer } from '../../core/diagnosis/first-answer.ts';
import { hasInside } from '../../core/lookup/question.ts';
import { defined } from '../../lib/object.ts';
import type { AuditSubject } from '../audit.ts';
import type { FlowDeps } from '../deps.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { FirstAnswer, PlannedRequest } from '../stages/plan-pod.ts';
import { answerWorkload } from './plan-workload.ts';
import { readPodFacts } from './pod-facts.ts';
import type { AskedPod, Question } from './question.ts';
import { FIRST_ANSWER_MS, inTime } from './source.ts';

/** Answers a question within a second. @throws KdebugError audit_unavailable */
export function answerQuestion(
  planned: PlannedRequest,
  question: Question,
  { subject, deps }: { readonly subject: AuditSubject; readonly deps: FlowDeps },
): Promise<FirstAnswer> {
  return question.kind === 'workload'
    ? answerWorkload(question, deps)
    : answerPod(planned, question, { subject, deps });
}

async function answerPod(
  planned: PlannedRequest,
  { pod, problem }: Question & AskedPod,
  { subject, deps }: { readonly subject: AuditSubject; readonly deps: FlowDeps },
): Promise<FirstAnswer> {
  const { targetContainerName, cluster: name } = planned.plan;
  const cluster = deps.clusters.get(name);
  const wanted = { cluster, targetContainerName, reader: { subject, cluster: name } };
  const [facts, siblings] = await Promise.all([
    readPodFacts(pod, wanted, deps),
    inTime(deps, siblingsOf(pod, cluster), FIRST_ANSWER_MS),
  ]);
  const canLook = problem === undefined && hasInside(pod, planned.plan, facts.node);
  return { verdict: { ...firstAnswer(facts), ...defined({ siblings }) }, look: canLook ? planned : undefined };
}

/** Of the open watch; undefined for a pod without a workload. */
const siblingsOf = async (pod: Pod, cluster: Cluster): Promise<number | undefined> =>
  workloadOf(pod) && countSiblings(pod, await cluster.pods(pod.metadata.namespace, []));
