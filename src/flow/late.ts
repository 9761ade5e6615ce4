import { outcomeOfTermination, stateOfContainer } from '../core/container/status.ts';
import { isGivenUp } from '../core/run/progress.ts';
import type { FlowDeps } from './deps.ts';
import { diagnose, shownLog } from './diagnose.ts';
import { Latest } from './latest.ts';
import type { LogReaders } from './log-readers.ts';
import type { PodSeen } from './ports/cluster.ts';
import type { RunSession } from './session.ts';

/** How long the true end of a given-up run is waited for; it costs one entry in a watch that is shared. */
const WAIT_MS = 30 * 60_000;

/**
 * Waits for the end of a run that was given up: a container that starts late, a node that comes back (cluster facts, "Late
 * start is real"). Resolves with whether it came, within half an hour and while `wanted`.
 */
export async function awaitLate(
  session: RunSession,
  deps: FlowDeps,
  context: { readonly readers: LogReaders; readonly wanted: () => boolean },
): Promise<boolean> {
  const { plan, containerName } = session.run;
  if (!plan || containerName === undefined) return false;
  const untilMs = deps.clock.now() + WAIT_MS;
  const latest = new Latest<PodSeen>(deps.clock);
  const pod = { namespace: plan.namespace, name: plan.podName, uid: plan.podUid };
  const subscription = deps.clusters.get(plan.cluster).watch(pod, (seen) => latest.put(seen));
  try {
    while (context.wanted() && isGivenUp(session.run)) {
      const seen = await latest.next(untilMs);
      if (seen?.kind !== 'pod') return false;
      const state = stateOfContainer(seen.pod, containerName, plan.targetContainerName);
      if (state.kind !== 'terminated') continue;
      const { termination, imageId } = state;
      await context.readers.forget(session.run.id);
      const reader = await context.readers.start(session, {
        terminated: true,
        startedAtMs: Date.parse(termination.startedAt),
      });
      const read = await reader.result;
      const outcome = outcomeOfTermination(seen.pod, termination, plan.targetContainerName);
      const left = { logEnd: read.end, terminationMessage: termination.message, outcome };
      const verdict = await diagnose(session.run, left, deps);
      await session.apply({
        kind: 'came-late',
        outcome,
        termination,
        imageId,
        log: shownLog(session.run, read.log, left, deps),
        ...(verdict && { verdict }),
        atMs: deps.clock.now(),
      });
      return true;
    }
    return false;
  } finally {
    subscription.close();
  }
}
