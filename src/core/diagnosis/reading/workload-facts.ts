import type { WorkloadFacts } from '../facts/facts.ts';
import { cleanWords } from './phrases.ts';
import { isDeleting, isOver, KIND_NAMES } from './pod-containers.ts';

/** `the Deployment web`, `the pods of app=web`. */
export function workloadTitle({ name, kind }: Pick<WorkloadFacts, 'name' | 'kind'>): string {
  if (kind === 'selector') return `the pods of ${cleanWords(name, 100)}`;
  return `the ${KIND_NAMES[kind]} ${cleanWords(name.replace(/^\w+\//, ''), 100)}`;
}

/** A condition of the workload with this status. */
export const conditionOf = ({ workload }: WorkloadFacts, type: string, status: string) =>
  workload?.conditions.find((condition) => condition.type === type && condition.status === status);

/** Its pods that have not ended and are not going. */
export const livePods = ({ pods }: WorkloadFacts): number =>
  pods.filter(({ pod }) => !isOver(pod) && !isDeleting(pod)).length;

/** Fewer are ready than it wants, as far as that was read. */
export const isShort = (facts: WorkloadFacts): boolean =>
  facts.workload?.wanted === undefined || facts.workload.ready < facts.workload.wanted;
