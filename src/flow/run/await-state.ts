import type { Plan } from '../../core/container/plan.ts';
import { KdebugError } from '../../core/errors.ts';
import { LatestValue } from '../../lib/latest-value.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun } from '../context/held-run.ts';
import type { PodSeen } from '../ports/cluster.ts';

interface Wait<Found> {
  /** Of `clock.elapsed`. One state is looked at in any case. */
  readonly untilMs: number;
  /** Undefined: the next state may have it. */
  readonly find: (seen: PodSeen) => Found | undefined;
}

/**
 * Waits, for the holder of a run, until a state of its pod has what is looked for. Undefined: none had it in time.
 * @throws KdebugError lease_lost
 */
export async function awaitState<Found>(
  held: HeldRun,
  { cluster, namespace, podName, podUid }: Pick<Plan, 'cluster' | 'namespace' | 'podName' | 'podUid'>,
  { untilMs, find }: Wait<Found>,
  { clock, clusters }: FlowDeps,
): Promise<Found | undefined> {
  const latest = new LatestValue<PodSeen>(clock);
  const pod = { namespace, name: podName, uid: podUid };
  const subscription = clusters.get(cluster).watch(pod, (seen) => latest.put(seen));
  const ignore = held.onChange(() => latest.nudge());
  try {
    for (;;) {
      // An abandonment before this wait has woken nobody.
      const seen = held.isOver ? undefined : await latest.next(untilMs);
      if (held.isOver) throw new KdebugError('lease_lost');
      const found = seen && find(seen);
      if (found !== undefined || clock.elapsed() >= untilMs) return found;
    }
  } finally {
    ignore();
    subscription.close();
  }
}
