import { carrierName, isTracerKey } from '../../core/container/carrier.ts';
import type { Carrier } from '../../core/container/once-more.ts';
import type { Plan } from '../../core/container/plan.ts';
import { type ContainerState, stateOfContainer } from '../../core/container/status.ts';
import { type Outcome, TRACER_MISSING } from '../../core/outcome.ts';
import type { Run } from '../../core/run/run.ts';
import { elapsedAt } from '../../lib/clock.ts';
import { sentence } from '../../lib/text.ts';
import { patchFacts, record } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun } from '../context/held-run.ts';
import { launchOutcome } from '../context/launch-words.ts';
import { currentPod, isIn } from '../context/pod-room.ts';
import { carrierRequestOf } from '../planning/launch-request.ts';
import type { PodSeen } from '../ports/cluster.ts';
import { awaitState } from './await-state.ts';

/**
 * Brings the tracer into the pod, before the container of the second run is added. Any replica may do it again: its
 * container derives from the run, and one that has ended has done its work. Undefined: it is there, or none is wanted.
 * @throws KdebugError lease_lost, and what `Cluster.launch` throws
 */
export async function carryTracer(held: HeldRun, plan: Plan, deps: FlowDeps): Promise<Outcome | undefined> {
  const { run } = held;
  const carrier = plan.onceMore?.carrier;
  const pod = carrier && (await currentPod(plan, deps));
  if (!carrier || (pod && isIn(pod, run.containerName ?? ''))) return undefined;
  return (await sendCarrier(run, plan, { carrier, deps })) ?? problemOfCarrier(held, plan, deps);
}

interface Sending {
  readonly carrier: Carrier;
  readonly deps: FlowDeps;
}

/** Why its container is not in the pod. */
async function sendCarrier(run: Run, plan: Plan, { carrier, deps }: Sending): Promise<Outcome | undefined> {
  const container = { name: carrierName(run.id, plan.podUid), image: carrier.image };
  await record(deps, run, 'patch', {
    ...patchFacts(plan, container),
    planHash: run.planHash,
    carries: run.containerName,
  });
  return launchOutcome(await deps.clusters.get(plan.cluster).launch(carrierRequestOf(run, plan, carrier, deps)));
}

/** Waits for its end. Undefined: the tracer is in its place. */
async function problemOfCarrier(held: HeldRun, plan: Plan, deps: FlowDeps): Promise<Outcome | undefined> {
  const { id, notAfterMs = 0 } = held.run;
  const name = carrierName(id, plan.podUid);
  // By the wall clock: another replica may have begun this launch.
  const untilMs = elapsedAt(deps.clock, notAfterMs);
  const end = await awaitState(held, plan, { untilMs, find: (seen) => endIn(seen, name) }, deps);
  return end ? end.problem : failed('The container that brings the tracer did not end in time');
}

interface CarrierEnd {
  /** Undefined: it has done its work. */
  readonly problem: Outcome | undefined;
}

/** Undefined: it has not ended. */
function endIn(seen: PodSeen, name: string): CarrierEnd | undefined {
  if (seen.kind === 'gone') return { problem: { kind: 'pod-gone' } };
  if (seen.kind === 'replaced') return { problem: { kind: 'pod-replaced' } };
  return endOf(stateOfContainer(seen.pod, name));
}

function endOf(state: ContainerState): CarrierEnd | undefined {
  if (state.kind === 'start-failed')
    return { problem: failed(`The container that brings the tracer did not start: ${state.reason}: ${state.message}`) };
  if (state.kind !== 'terminated') return undefined;
  const { exitCode, message } = state.termination;
  if (exitCode === 0 && isTracerKey(message)) return { problem: undefined };
  return {
    problem: failed(`The tracer could not be brought: ${message.trim() || `exit code ${exitCode}, without a key`}`),
  };
}

const failed = (why: string): Outcome => ({
  kind: 'start-failed',
  reason: TRACER_MISSING,
  message: `${sentence(why)} The program was not started.`,
});
