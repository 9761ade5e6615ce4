import type { Plan } from '../container/plan.ts';
import type { Node, Pod } from '../container/pod.ts';
import { usesOwnWords } from '../planning/resolve.ts';
import type { ImageAlias } from '../policy/policy.ts';
import type { Run } from '../run/run.ts';

/**
 * Whether a request asks what is wrong, and so is answered before anything is launched, and without a launch where no
 * container can see more: a diagnostic image with nothing but its own words, for a pod, a workload or a selector. What
 * says how many pods to work on is a batch.
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
 * Whether a container beside the target can see something: the target runs, and its node answers. Without a target, any
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
