import type { Plan } from '../container/plan.ts';
import type { Node, Pod } from '../container/pod.ts';
import { usesOwnWords } from '../planning/resolve.ts';
import type { ImageAlias } from '../policy/policy.ts';
import type { Run } from '../run/run.ts';

/**
 * A question is a diagnostic image with nothing but its own words, for a pod, a workload or a selector. kdebug answers
 * it before it launches anything, and launches nothing if no container can see more. A request with a number of pods is
 * a batch.
 */
export function isQuestion(
  { request, job, rerunOf }: Pick<Run, 'request' | 'job' | 'rerunOf'>,
  alias: Pick<ImageAlias, 'diagnostic' | 'settings'>,
): boolean {
  const { target, batch, dryRun } = request;
  const isOfBatch =
    job !== undefined ||
    rerunOf !== undefined ||
    batch.canary ||
    batch.replicas !== undefined ||
    batch.parallelism !== undefined ||
    batch.ttlMs !== undefined;
  const hasTarget = target.kind === 'pod' || target.kind === 'workload' || target.kind === 'selector';
  return alias.diagnostic === true && hasTarget && !dryRun && !isOfBatch && !usesOwnWords(request, alias);
}

/**
 * A container beside the target can see something if the target runs and its node answers. Without a target, any
 * running container will do, since the pod's network is up then.
 */
export function hasInside(
  { status }: Pick<Pod, 'status'>,
  { targetContainerName }: Pick<Plan, 'targetContainerName'>,
  node: Node | undefined,
): boolean {
  const isLost = node?.conditions.some(({ type, status: state }) => type === 'Ready' && state !== 'True') ?? false;
  const statuses = [...status.containerStatuses, ...status.initContainerStatuses];
  const running = statuses.filter((each) => each.running !== undefined);
  return !isLost && running.some(({ name }) => targetContainerName === undefined || name === targetContainerName);
}
