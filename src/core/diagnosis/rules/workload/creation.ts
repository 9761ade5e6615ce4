import { controllerOf } from '../../../container/pod.ts';
import type { ClusterRule } from '../../cluster-rule.ts';
import type { ClusterFacts, ObjectEvent, WorkloadFacts } from '../../facts.ts';
import { refusedCreation } from '../../reading/admission.ts';
import { cleanWords } from '../../reading/phrases.ts';
import { MINUTE_MS, manifestOf } from '../../reading/pod-containers.ts';
import { conditionOf, isShort, titleOf } from '../../reading/workload-facts.ts';
import type { Finding } from '../../report.ts';

/** A controller that is refused tries again after up to 17 minutes (client-go, exponential backoff of 1,000 s). */
const CREATE_MS = 20 * MINUTE_MS;
const FAILED_CREATE: ReadonlySet<string> = new Set(['FailedCreate', 'ReplicaSetCreateError']);

function createFinding(event: Pick<ObjectEvent, 'message' | 'involved'>, manifest: string): Finding {
  const { says, next } = refusedCreation(event.message, manifest);
  const { kind, name } = event.involved;
  return {
    code: 'cannot_create',
    text: `the ${cleanWords(kind, 40)} ${cleanWords(name, 80)} cannot create pods: ${says}`,
    next,
  };
}

function cannotCreate(facts: WorkloadFacts): readonly Finding[] {
  if (!isShort(facts)) return [];
  const event = facts.warnings?.find(
    ({ reason, atMs }) => FAILED_CREATE.has(reason) && facts.nowMs - atMs <= CREATE_MS,
  );
  if (event) return [createFinding(event, titleOf(facts))];
  const condition = conditionOf(facts, 'ReplicaFailure', 'True');
  if (!condition) return [];
  return [
    createFinding(
      { message: condition.message, involved: { kind: 'ReplicaSet', name: `of ${facts.name}` } },
      titleOf(facts),
    ),
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
