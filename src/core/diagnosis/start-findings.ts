import type { Plan } from '../container/plan.ts';
import type { Pod } from '../container/pod.ts';
import { quantityOf } from '../container/quantity.ts';
import { formatBytes } from '../report/duration.ts';
import type { Outcome } from '../run/outcome.ts';
import type { Finding } from './report.ts';

/** The runtime made the container and could not start it; the second is its later word for the same. */
const NOT_RUN: ReadonlySet<string> = new Set(['RunContainerError', 'StartError']);

/**
 * What a failed start says of the pod. Pure. The own command of an image of the policy should run; where the runtime cannot start it and the
 * pod's memory is limited, it very likely is used up: runc's first process is killed in the pod's cgroup (seen with 2 of 100 MiB left).
 */
export function startFindings(pod: Pod, { command }: Plan, outcome: Outcome): readonly Finding[] {
  if (outcome.kind !== 'start-failed' || !NOT_RUN.has(outcome.reason) || command.length > 0) return [];
  const limit = memoryLimitOf(pod);
  if (limit === undefined) return [];
  const text = `the pod very likely has no memory left to start in: its containers may use ${formatBytes(limit)} in all`;
  return [{ code: 'no_room_to_start', text }];
}

/** Of the pod as a whole: it has none when one of its containers has none. */
function memoryLimitOf({ spec }: Pod): number | undefined {
  const limits = spec.containers.map(({ memoryLimit = '' }) => quantityOf(memoryLimit));
  return limits.reduce((sum, limit) => (sum === undefined || limit === undefined ? undefined : sum + limit), 0);
}
