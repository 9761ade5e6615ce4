import type { BatchRun } from '../../core/batch/batch-run.ts';
import { plansOf, runIdOf } from '../../core/batch/new-batch.ts';
import { containerName } from '../../core/container/build.ts';
import type { Plan } from '../../core/container/plan.ts';
import { KdebugError } from '../../core/errors.ts';
import type { Run } from '../../core/run/run.ts';
import { withoutSecret } from '../../core/run/sealed-text.ts';
import type { FlowDeps } from '../deps.ts';
import { RunSession } from '../session.ts';
import { requestsOf } from './plan-batch.ts';

/** One container of one pod of a batch, by their places. */
export interface Place {
  readonly index: number;
  readonly container: number;
}

/** Parts are in no store: their batch and the cluster know all that a crash may leave to be done. */
const NO_STORE = { save: () => Promise.resolve('saved' as const), release: () => Promise.resolve() };

export type PartRun = Run & { readonly plan: Plan };

/** The run of one container of a batch, about to be launched. Its id is derived, so every replica arrives at the same one. */
export function partOf(batch: BatchRun, { index, container }: Place): PartRun {
  const plan = plansOf(batch.batch, index)[container];
  if (!plan) throw new KdebugError('internal_error', { detail: 'a skipped pod is not worked on' });
  return {
    schema: 1,
    id: runIdOf(batch.id, plan.podUid, container),
    state: 'approved',
    origin: withoutSecret(batch.origin),
    request: requestsOf(batch)[container] ?? batch.request,
    commandLine: batch.commandLine,
    plan,
    ...(batch.planHash !== undefined && { planHash: batch.planHash }),
    ...(batch.decision && { decision: batch.decision }),
    ...(batch.approval && { approval: batch.approval }),
    partOf: batch.id,
    delivery: {},
  };
}

/** The same, when its container is in the pod already: it stands where a launch ends, and what follows is seen. */
export async function launchedPart(batch: BatchRun, place: Place, deps: FlowDeps): Promise<PartRun> {
  const part = partOf(batch, place);
  const { plan } = part;
  const name = containerName(part.id, plan.podUid);
  const { launchedAtMs = deps.clock.now(), startedAtMs } = batch.batch.pods[place.index] ?? {};
  if (!(await holds(plan, name, deps))) return part;
  return {
    ...part,
    state: 'starting',
    containerName: name,
    notAfterMs: launchedAtMs + plan.startDeadlineMs,
    launchedAtMs,
    ...(startedAtMs !== undefined && { state: 'running', startedAtMs }),
  };
}

async function holds({ cluster, namespace, podName, podUid }: Plan, name: string, deps: FlowDeps): Promise<boolean> {
  try {
    const pod = await deps.clusters.get(cluster).pod(namespace, podName);
    return pod.metadata.uid === podUid && pod.spec.ephemeralContainers.some((known) => known.name === name);
  } catch (thrown) {
    // A pod that is gone is told so by its launch.
    if (thrown instanceof KdebugError && thrown.code === 'pod_not_found') return false;
    throw thrown;
  }
}

export const sessionOf = (part: Run): RunSession => new RunSession(part, 0, NO_STORE);
