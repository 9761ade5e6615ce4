import { COMPARING_IMAGE, type RunRequest } from '../command/command.ts';
import { isBatchRun, isPlanned, type PlannedRun } from '../run/life-cycle.ts';
import type { Run } from '../run/run.ts';

/**
 * Whether a comparison with its siblings may explain a diagnosis: it found something wrong, in a pod that a workload
 * owns. Whether there are healthy siblings is seen at the click.
 */
export function mayCompare(run: Run): run is PlannedRun {
  if (!isPlanned(run) || isBatchRun(run) || run.plan.workload === undefined) return false;
  const isWrong = run.verdict?.findings.some(({ rank = 2 }) => rank < 3) ?? false;
  return isWrong && run.verdict?.line !== undefined;
}

/** The request to compare the pod of this request, as `compare POD` makes it: with the same container, profile and user. */
export const comparisonRequest = (request: RunRequest, podName: string): RunRequest => ({
  ...request,
  target: { kind: 'compare', name: podName },
  image: COMPARING_IMAGE,
  env: [],
  command: [],
  argumentsOnly: false,
  batch: { canary: false },
});
