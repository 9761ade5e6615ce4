import type { BatchRun } from '../../core/batch/batch-run.ts';
import { plansOf, runIdOf } from '../../core/batch/new-batch.ts';
import { containerName } from '../../core/container/build.ts';
import { fingerprintOf } from '../../core/container/fingerprint.ts';
import type { Plan } from '../../core/container/plan.ts';
import { KdebugError } from '../../core/errors.ts';
import type { Run } from '../../core/run/run.ts';
import { withoutSecret } from '../../core/run/sealed-text.ts';
import type { FlowDeps } from '../deps.ts';
import { launchRequestOf } from '../launch-request.ts';
import { isSealedFor } from '../sealed-container.ts';
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
  if (!(await holds(part, batch.rebuilt === true, deps))) return part;
  return {
    ...part,
    state: 'starting',
    containerName: name,
    notAfterMs: launchedAtMs + plan.startDeadlineMs,
    launchedAtMs,
    ...(startedAtMs !== undefined && { state: 'running', startedAtMs }),
  };
}

/** What another pod of a rebuilt batch was sent is not known to the letter any more; that it was by us is. */
async function holds(part: PartRun, isRebuilt: boolean, deps: FlowDeps): Promise<boolean> {
  const { plan } = part;
  const sent = fingerprintOf(launchRequestOf(part, plan, deps).container);
  try {
    const pod = await deps.clusters.get(plan.cluster).pod(plan.namespace, plan.podName);
    const held = pod.spec.ephemeralContainers.find((known) => isSealedFor(known, part, deps));
    return pod.metadata.uid === plan.podUid && held !== undefined && (isRebuilt || held.fingerprint === sent);
  } catch (thrown) {
    // A pod that is gone is told so by its launch.
    if (thrown instanceof KdebugError && thrown.code === 'pod_not_found') return false;
    throw thrown;
  }
}

export const sessionOf = (part: Run): RunSession => new RunSession(part, 0, NO_STORE);
