import type { Pod } from '../../core/container/pod.ts';
import { isReady } from '../../core/diagnosis/reading/pod-containers.ts';
import { toKdebugError } from '../../core/errors.ts';
import { goneText, heirOf } from '../../core/lookup/gone-pod.ts';
import type { Origin } from '../../core/request/origin.ts';
import { isUnattended } from '../../core/run/life-cycle.ts';
import { refusal } from '../context/refusals.ts';
import { Refused } from '../planning/plan-pod.ts';
import type { Cluster } from '../ports/cluster.ts';
import { FIRST_ANSWER_MS, inTime, type SourceDeps } from './source.ts';

interface WantedPod {
  readonly namespace: string;
  readonly name: string;
  readonly origin: Origin;
}

/**
 * The pod that is asked about. One that is gone is refused with the pod that its workload has now, or with what was last
 * said of it, where anything is known. @throws Refused, and as `Cluster.pod`
 */
export async function podOrItsHeir(cluster: Cluster, wanted: WantedPod, deps: SourceDeps): Promise<Pod> {
  try {
    return await cluster.pod(wanted.namespace, wanted.name);
  } catch (thrown) {
    if (toKdebugError(thrown).code !== 'pod_not_found') throw thrown;
    return whatIsThere(cluster, wanted, { deps, notFound: thrown });
  }
}

async function whatIsThere(
  cluster: Cluster,
  { namespace, name, origin }: WantedPod,
  { deps, notFound }: { readonly deps: SourceDeps; readonly notFound: unknown },
): Promise<Pod> {
  const [pods = [], warnings] = await Promise.all([
    inTime(deps, cluster.pods(namespace, []), FIRST_ANSWER_MS),
    inTime(
      deps,
      cluster.warnings(namespace, ({ name: about }) => about === name || name.startsWith(`${about}-`)),
      FIRST_ANSWER_MS,
    ),
  ]);
  // Nobody is there who could ask about the pod in its place.
  const heir = isUnattended({ origin }) ? heirOf(name, pods) : undefined;
  if (heir && !isReady(heir) && heir.status.phase !== 'Succeeded') return cluster.pod(namespace, heir.metadata.name);
  const text = goneText(name, pods, warnings?.events ?? []);
  if (text === undefined) throw notFound;
  throw new Refused({ ...refusal('pod_is_gone'), message: text });
}
