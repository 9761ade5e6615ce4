import { carrierName, isTracerKey } from '../../core/container/carrier.ts';
import type { Carrier } from '../../core/container/once-more.ts';
import type { Plan } from '../../core/container/plan.ts';
import { type ContainerState, stateOfContainer } from '../../core/container/status.ts';
import { KdebugError } from '../../core/errors.ts';
import { type Outcome, TRACER_MISSING } from '../../core/outcome.ts';
import type { Run } from '../../core/run/run.ts';
import { elapsedAt } from '../../lib/clock.ts';
import { LatestValue } from '../../lib/latest-value.ts';
import { sentence } from '../../lib/text.ts';
import { record } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun } from '../context/held-run.ts';
import { launchOutcome } from '../context/launch-words.ts';
import { currentPod, isIn } from '../context/pod-room.ts';
import { carrierRequestOf } from '../planning/launch-request.ts';
import type { PodSeen } from '../ports/cluster.ts';

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
  await record(deps, run, 'patch', {
    cluster: plan.cluster,
    pod: `${plan.namespace}/${plan.podName}`,
    podUid: plan.podUid,
    container: carrierName(run.id, plan.podUid),
    image: carrier.image,
    planHash: run.planHash,
    carries: run.containerName,
  });
  return launchOutcome(await deps.clusters.get(plan.cluster).launch(carrierRequestOf(run, plan, carrier, deps)));
}

/** Waits for its end. Undefined: the tracer is in its place. */
async function problemOfCarrier(held: HeldRun, plan: Plan, deps: FlowDeps): Promise<Outcome | undefined> {
  const { clock, clusters } = deps;
  const { id, notAfterMs = 0 } = held.run;
  // By the wall clock: another replica may have begun this launch.
  const untilMs = elapsedAt(clock, notAfterMs);
  const latest = new LatestValue<PodSeen>(clock);
  const pod = { namespace: plan.namespace, name: plan.podName, uid: plan.podUid };
  const subscription = clusters.get(plan.cluster).watch(pod, (seen) => latest.put(seen));
  const ignore = held.onChange(() => latest.nudge());
  try {
    for (;;) {
      const seen = await latest.next(untilMs);
      if (held.isOver) throw new KdebugError('lease_lost');
      const end = seen && endIn(seen, carrierName(id, plan.podUid));
      if (end) return end.problem;
      if (clock.elapsed() >= untilMs) return failed('The container that brings the tracer did not end in time');
    }
  } finally {
    ignore();
    subscription.close();
  }
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
