import { controllerOf } from '../../../container/pod.ts';
import type { ClusterRule } from '../../facts/cluster-rule.ts';
import type { ClusterFacts, ObjectEvent, WorkloadFacts } from '../../facts/facts.ts';
import type { Finding } from '../../facts/report.ts';
import { refusedCreation } from '../../reading/admission.ts';
import { cleanWords } from '../../reading/phrases.ts';
import { MINUTE_MS, manifestOf } from '../../reading/pod-containers.ts';
import { conditionOf, isShort, livePods, workloadTitle } from '../../reading/workload-facts.ts';

/** A controller that is refused tries again after up to 17 minutes (client-go, exponential backoff of 1,000 s). */
const CREATE_MS = 20 * MINUTE_MS;
const FAILED_CREATE: ReadonlySet<string> = new Set(['FailedCreate', 'ReplicaSetCreateError']);

type Refusal = Pick<ObjectEvent, 'message' | 'involved'>;

function createFinding({ message, involved: { kind, name } }: Refusal, manifest: string): Finding {
  const { says, next } = refusedCreation(message, manifest);
  return {
    code: 'cannot_create',
    text: `the ${cleanWords(kind, 40)} ${cleanWords(name, 80)} cannot create pods: ${says}`,
    next,
  };
}

/** Of one workload, its ReplicaSets go without saying; of a selector, nobody knows whose pods are meant. */
function cannotCreate(facts: WorkloadFacts): readonly Finding[] {
  if (!isShort(facts)) return [];
  const manifest = workloadTitle(facts);
  const event = facts.warnings?.find(
    ({ reason, atMs }) => FAILED_CREATE.has(reason) && facts.nowMs - atMs <= CREATE_MS,
  );
  if (event && facts.kind === 'selector')
    return [createFinding(event, `the ${event.involved.kind} ${event.involved.name}`)];
  const message = event?.message ?? conditionOf(facts, 'ReplicaFailure', 'True')?.message;
  if (message === undefined) return [];
  const { says, next } = refusedCreation(message, manifest);
  return [
    { code: 'cannot_create', text: `no ${livePods(facts) > 0 ? 'further ' : ''}pod can be created: ${says}`, next },
  ];
}

/** The pod itself is there, so it is only worth knowing that another cannot be created. */
function cannotCreateBeside({ pod, warnings, nowMs }: ClusterFacts): readonly Finding[] | undefined {
  const owner = controllerOf(pod);
  const event = warnings?.find(
    ({ reason, atMs, involved }) =>
      FAILED_CREATE.has(reason) &&
      nowMs - atMs <= CREATE_MS &&
      involved.kind === owner?.kind &&
      involved.name === owner.name,
  );
  // Undefined rather than fine: nobody asked about the workload.
  return event && [{ ...createFinding(event, manifestOf(pod)), rank: 3 }];
}

export const CREATION_RULES: readonly ClusterRule[] = [
  {
    seenBy: 'cluster',
    section: 'workload',
    code: 'cannot_create',
    rank: 1,
    reads: 'events FailedCreate of its ReplicaSet, StatefulSet, DaemonSet or Job; condition ReplicaFailure',
    means:
      'The API server accepts no new pod of the workload: a quota, a LimitRange, Pod Security or a webhook forbids it.',
    next: 'Correct what the answer names in the manifest of the workload.',
    source:
      'Kubernetes, "Resource Quotas", "Limit Ranges", "Pod Security Admission"; 20 minutes are chosen, as controllers try again after 17',
    replaces: ['too_few_ready', 'no_pods', 'rollout_stuck'],
    find: cannotCreateBeside,
    findInWorkload: cannotCreate,
  },
];
