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
