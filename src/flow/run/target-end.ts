import { KILLED, mayEndWithTarget, outcomeOfTermination } from '../../core/container/status.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { EndedRun } from '../../core/run/life-cycle.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun } from '../context/held-run.ts';
import type { PodSeen } from '../ports/cluster.ts';
import { awaitState } from './await-state.ts';

/** A node may report a target's end so much later than that of the container which it took along. */
const MAX_WAIT_MS = 3_000;

/**
 * The outcome of a container that has ended: `target-ended` also if the pod shows the target's end a few seconds later. Does not
 * wait in a batch, whose many runs would wait one after another, or where somebody's stop explains the end.
 * @throws KdebugError lease_lost
 */
export async function orTargetEnded(
  held: HeldRun,
  { outcome, termination }: Pick<EndedRun, 'outcome' | 'termination'>,
  deps: FlowDeps,
): Promise<Outcome> {
  const { plan, partOf, stop } = held.run;
  if (outcome.kind !== 'failed' || outcome.exitCode !== KILLED || !plan || !termination) return outcome;
  const isBrief = partOf !== undefined || stop?.container !== undefined;
  const untilMs = deps.clock.elapsed() + (isBrief ? 0 : MAX_WAIT_MS);
  const target = plan.targetContainerName;
  const find = (seen: PodSeen): Outcome | undefined => {
    if (seen.kind !== 'pod') return outcome;
    return mayEndWithTarget(seen.pod, termination, target)
      ? undefined
      : outcomeOfTermination(seen.pod, termination, target);
  };
  return (await awaitState(held, plan, { untilMs, find }, deps)) ?? outcome;
}
