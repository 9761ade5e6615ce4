import type { Pod } from '../../core/container/pod.ts';
import { toKdebugError } from '../../core/errors.ts';
import { goneText } from '../../core/lookup/gone-pod.ts';
import { refusal } from '../context/refusals.ts';
import { Refused } from '../planning/plan-pod.ts';
import type { Cluster } from '../ports/cluster.ts';
import { FIRST_ANSWER_MS, inTime, type SourceDeps } from './source.ts';

/**
 * The pod that is asked about. One that is gone is refused with the pod that its workload has now, or with what was last
 * said of it, where anything is known. @throws Refused, and as `Cluster.pod`
 */
export async function podOrItsHeir(
  cluster: Cluster,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  deps: SourceDeps,
): Promise<Pod> {
  try {
    return await cluster.pod(namespace, name);
  } catch (thrown) {
    if (toKdebugError(thrown).code !== 'pod_not_found') throw thrown;
    const [pods, warnings] = await Promise.all([
      inTime(deps, cluster.pods(namespace, []), FIRST_ANSWER_MS),
      inTime(deps, cluster.warnings(namespace), FIRST_ANSWER_MS),
    ]);
    const text = goneText(name, pods ?? [], warnings ?? []);
    if (text === undefined) throw thrown;
    throw new Refused({ ...refusal('pod_is_gone'), message: text });
  }
}
