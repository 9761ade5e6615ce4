import type { Outcome } from '../../core/outcome.ts';
import type { LaunchResult } from '../ports/cluster.ts';

/** The cluster's objection to a container, as a sentence for people. Undefined: the container is in the pod. */
export function launchProblem(answer: LaunchResult): string | undefined {
  switch (answer.kind) {
    case 'launched':
      return undefined;
    case 'refused':
      return answer.message;
    case 'pod-gone':
      return 'The pod is gone.';
    case 'pod-replaced':
      return 'Another pod has that name now.';
    case 'unsupported':
      return 'This API server has no ephemeralcontainers subresource (Kubernetes 1.25 and newer have it).';
  }
}

/** The end of a run whose container, or one that it needs, is not in its pod. Undefined: it is there. */
export function launchOutcome(answer: LaunchResult): Outcome | undefined {
  if (answer.kind === 'pod-gone' || answer.kind === 'pod-replaced') return { kind: answer.kind };
  const message = launchProblem(answer);
  if (message === undefined) return undefined;
  return { kind: 'refused', by: answer.kind === 'refused' ? answer.by : 'validation', message };
}
