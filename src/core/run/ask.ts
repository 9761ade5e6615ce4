import { isTrouble } from '../diagnosis/facts/verdict.ts';
import { COMPARING_IMAGE, type RunRequest } from '../request/command.ts';
import { isBatchRun, isPlanned, type PlannedRun } from './life-cycle.ts';
import type { Run } from './run.ts';

/**
 * A comparison with its siblings may explain a diagnosis that found something wrong in a pod of a workload, if the pod
 * has siblings as far as kdebug knows. Without a container in the sick pod they must be known, and the pod must be one
 * that can take a container. The click decides if they can be compared.
 */
export function mayCompare(run: Run): run is PlannedRun {
  if (!isPlanned(run) || isBatchRun(run) || run.plan.workload === undefined || run.plan.onceMore) return false;
  const { verdict, outcome } = run;
  if (verdict?.line === undefined || verdict.groups !== undefined || verdict.siblings === 0) return false;
  if (outcome?.kind === 'answered' && (outcome.because !== undefined || verdict.siblings === undefined)) return false;
  return verdict.findings.some(isTrouble);
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
