import { type Pod, TEMPLATE_HASH } from '../../core/container/pod.ts';
import type { ClusterFacts } from '../../core/diagnosis/look-at-cluster.ts';
import { toKdebugError } from '../../core/errors.ts';
import { withDeadline } from '../../lib/clock.ts';
import type { FlowDeps } from '../deps.ts';
import type { Cluster } from '../ports/cluster.ts';

/** How long to wait for extra facts of the API: an incomplete answer is better than a late one. */
const MAX_FACTS_WAIT_MS = 2_000;

type Deps = Pick<FlowDeps, 'clock' | 'log'>;

interface WantedFacts extends Pick<ClusterFacts, 'targetContainerName' | 'launch'> {
  readonly cluster: Cluster;
  readonly withEventsAndNode: boolean;
  readonly waitMs?: number;
}

/** What the API knows about a pod besides its own object; what fails or takes too long is left out. Never rejects. */
export async function readPodFacts(pod: Pod, wanted: WantedFacts, deps: Deps): Promise<ClusterFacts> {
  const { cluster, targetContainerName, launch, withEventsAndNode: isFull, waitMs } = wanted;
  const { nodeName } = pod.spec;
  const [versionedPods, events, node] = await Promise.all([
    inTime(deps, versionedPodsOf(pod, cluster), waitMs),
    isFull ? inTime(deps, cluster.events(pod.metadata), waitMs) : undefined,
    isFull && nodeName !== undefined ? inTime(deps, cluster.node(nodeName), waitMs) : undefined,
  ]);
  return {
    pod,
    targetContainerName,
    versionedPods: versionedPods ?? [],
    events,
    node,
    nowMs: deps.clock.now(),
    launch,
  };
}

/** Uses the open watch; no answer needs them for a pod without a Deployment. */
const versionedPodsOf = async (pod: Pod, cluster: Cluster): Promise<readonly Pod[]> =>
  TEMPLATE_HASH in pod.metadata.labels
    ? cluster.pods(pod.metadata.namespace, [{ key: TEMPLATE_HASH, operator: 'exists' }])
    : [];

/** Undefined on failure or timeout: the reader says what is missing. */
export async function inTime<Value>(
  { clock, log }: Deps,
  reading: Promise<Value>,
  waitMs = MAX_FACTS_WAIT_MS,
): Promise<Value | undefined> {
  const answered = reading.catch((thrown: unknown) => {
    log.debug('cluster fact left out', { reason: toKdebugError(thrown).code });
    return undefined;
  });
  return withDeadline(clock, waitMs, answered, () => undefined);
}
