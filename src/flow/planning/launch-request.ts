import { buildEphemeralContainer, containerName } from '../../core/container/build.ts';
import { buildCarrier, CARRIER_FOLDER, tracerWords } from '../../core/container/carrier.ts';
import type { Carrier, OnceMore } from '../../core/container/once-more.ts';
import type { Plan } from '../../core/container/plan.ts';
import type { Pod } from '../../core/container/pod.ts';
import { identityFor } from '../../core/planning/identity.ts';
import { aboutContainer, writeReference } from '../../core/run/reference.ts';
import type { Run } from '../../core/run/run.ts';
import { defined } from '../../lib/object.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { CopyOf, LaunchRequest } from '../ports/cluster.ts';

/** The marks of a run's container, stored with the run, so that every launch sends the identical patch. */
export interface LaunchMark {
  readonly containerName: string;
  readonly notAfterMs: number;
  readonly ref: string;
}

export function markOf(run: Run, plan: Plan, deps: FlowDeps): LaunchMark {
  const notAfterMs = run.notAfterMs ?? deps.clock.now() + plan.startDeadlineMs;
  return {
    containerName: containerName(run.id, plan.podUid),
    notAfterMs,
    ref: run.ref ?? deps.seal(writeReference(run, plan, notAfterMs), aboutContainer(run.id, plan.podUid)),
  };
}

/** The PATCH of a run, or of its dry run, derived only from the run and the plan. */
export function launchRequestOf(run: Run, plan: Plan, deps: FlowDeps): LaunchRequest {
  const actingAs = identityFor(deps.policies.current().identity, run.origin);
  const { notAfterMs, ref } = markOf(run, plan, deps);
  const approverIds = (run.approval?.votes ?? []).filter(({ kind }) => kind === 'approve').map(({ userId }) => userId);
  return {
    pod: { namespace: plan.namespace, name: plan.podName, uid: plan.podUid },
    container: buildEphemeralContainer(plan, {
      runId: run.id,
      ...defined({ batchId: run.partOf, compareKey: run.compareKey }),
      approverIds,
      notAfterMs,
      ref,
    }),
    runId: run.id,
    ...defined({ copyOf: plan.onceMore && copyOf(plan.onceMore, containerName(run.id, plan.podUid)), actingAs }),
  };
}

function copyOf({ container, withoutEnv, carrier }: OnceMore, name: string): CopyOf {
  const startedBy = carrier && {
    words: tracerWords(name, carrier),
    mount: { name: carrier.volume, mountPath: CARRIER_FOLDER },
  };
  return { containerName: container, withoutEnv, ...defined({ startedBy }) };
}

/** The PATCH of the container that brings the tracer of a second run. */
export function carrierRequestOf(run: Run, plan: Plan, carrier: Carrier, deps: FlowDeps): LaunchRequest {
  const actingAs = identityFor(deps.policies.current().identity, run.origin);
  return {
    pod: { namespace: plan.namespace, name: plan.podName, uid: plan.podUid },
    container: buildCarrier(plan, carrier, { runId: run.id, ...markOf(run, plan, deps) }),
    runId: run.id,
    ...defined({ actingAs }),
  };
}

type Held = Pod['spec']['ephemeralContainers'][number];

/** A container belongs to this run by its name, its run id, and a text that only kdebug can have sealed for it. */
export const isSealedFor = (
  { name, runId, ref }: Held,
  { id, plan: { podUid } }: Pick<Run, 'id'> & { readonly plan: Plan },
  { unseal }: Pick<FlowDeps, 'unseal'>,
): boolean =>
  name === containerName(id, podUid) &&
  runId === id &&
  ref !== undefined &&
  unseal(ref, aboutContainer(id, podUid)) !== undefined;
