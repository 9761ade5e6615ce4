import { type Pod, TEMPLATE_HASH, workloadOf } from '../../core/container/pod.ts';
import type { ClusterFacts, NotRead, WorkloadFact } from '../../core/diagnosis/facts/facts.ts';
import { firstSources } from '../../core/lookup/first-sources.ts';
import { isAbout, ofPod } from '../../core/lookup/workload-sources.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { LogReader } from '../planning/question.ts';
import type { Cluster } from '../ports/cluster.ts';
import { FIRST_ANSWER_MS, inTime, NOTHING_READ, readSource, readWarnings } from './source.ts';
import { logAccess, readTargetLogs, recordMessages } from './target-logs.ts';

interface WantedFacts extends Pick<ClusterFacts, 'targetContainerName' | 'launch'> {
  readonly cluster: Cluster;
  /** Absent: no words of the pod's own containers are read, nor the last change of its workload. */
  readonly reader?: LogReader;
  readonly waitMs?: number;
}

/**
 * Reads the facts about a pod besides its own object, and the logs of its containers: at most six API calls side by
 * side, one more where the warnings of the namespace are cut, each at most `waitMs` (1 s); the pod and its siblings are those of the open watch. `notRead` has what is
 * missing. @throws KdebugError audit_unavailable
 */
export async function readPodFacts(pod: Pod, wanted: WantedFacts, deps: FlowDeps): Promise<ClusterFacts> {
  const { cluster, targetContainerName, launch, reader, waitMs = FIRST_ANSWER_MS } = wanted;
  const { namespace } = pod.metadata;
  const { nodeName } = pod.spec;
  const sources = firstSources(pod, targetContainerName, deps.clock.now());
  const access = reader && logAccess(namespace, reader, deps);
  const read = <Value>(what: NotRead['what'], reading: Promise<Value | undefined>) =>
    readSource(deps, { what }, { reading, waitMs });
  const [versionedPods, warnings, node, claims, classes, services, job, ownWorkload, logs] = await Promise.all([
    inTime(deps, versionedPodsOf(pod, cluster), waitMs),
    readWarnings(deps, cluster.warnings(namespace, ofPod(pod), pod.metadata), waitMs),
    nodeName === undefined ? NOTHING_READ : read('node', cluster.node(nodeName)),
    sources.claims ? read('claims', cluster.claims(namespace)) : NOTHING_READ,
    sources.claims ? inTime(deps, cluster.storageClasses(), waitMs) : undefined,
    sources.services ? read('services', cluster.services(namespace)) : NOTHING_READ,
    sources.job === undefined
      ? NOTHING_READ
      : read('workload', cluster.workload(namespace, { kind: 'job', name: sources.job })),
    reader && inTime(deps, ownWorkloadOf(pod, cluster), waitMs),
    access && readTargetLogs(pod, sources.logs, access, deps),
  ]);
  const found = [warnings, node, claims, services, job].flatMap(({ notRead }) => notRead);
  const facts: ClusterFacts = {
    pod,
    targetContainerName,
    versionedPods: versionedPods ?? [],
    events: warnings.value?.filter(({ involved }) => isAbout(pod, involved)),
    node: node.value,
    nowMs: deps.clock.now(),
    launch,
    ...defined({
      warnings: warnings.value,
      claims: claims.value,
      storageClasses: classes,
      services: services.value,
      workload: job.value === 'not-found' ? undefined : (job.value ?? ownWorkload),
      logRight: await access?.right,
      lastWords: logs?.lastWords,
      logs: logs?.logs,
    }),
    notRead: [...found, ...(logs?.notRead ?? [])],
  };
  await recordMessages(facts, reader, deps);
  return facts;
}

/** Tells only who changed it last, so nobody needs to know that it was not read. */
async function ownWorkloadOf(pod: Pod, cluster: Cluster): Promise<WorkloadFact | undefined> {
  const workload = workloadOf(pod);
  if (!workload || workload.kind === 'job') return undefined;
  const found = await cluster.workload(pod.metadata.namespace, workload);
  return found === 'not-found' ? undefined : found;
}

/** Uses the open watch; no answer needs them for a pod without a Deployment. */
const versionedPodsOf = async (pod: Pod, cluster: Cluster): Promise<readonly Pod[]> =>
  TEMPLATE_HASH in pod.metadata.labels
    ? cluster.pods(pod.metadata.namespace, [{ key: TEMPLATE_HASH, operator: 'exists' }])
    : [];
