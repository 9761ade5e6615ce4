import type { ClusterRule } from './facts/cluster-rule.ts';
import type { ClusterFacts, WorkloadFacts } from './facts/facts.ts';
import type { Finding } from './facts/report.ts';
import { CONFIGURATION_RULES } from './rules/configuration.ts';
import { ENDING_RULES } from './rules/endings.ts';
import { IMAGE_RULES } from './rules/images.ts';
import { LOG_RULES } from './rules/log.ts';
import { POD_RULES } from './rules/pod.ts';
import { KILLING_PROBE_RULES, PROBE_RULES } from './rules/probes.ts';
import { RESOURCE_RULES, SMALL_LIMIT_RULES } from './rules/resources.ts';
import { SCHEDULING_RULES } from './rules/scheduling.ts';
import { SERVICE_RULES } from './rules/services.ts';
import { STATE_RULES } from './rules/state.ts';
import { NODE_RULES, SURROUNDING_RULES } from './rules/surroundings.ts';
import { VOLUME_RULES } from './rules/volumes.ts';
import { COUNT_RULES, COUNT_STATE_RULES } from './rules/workload/counts.ts';
import { CREATION_RULES } from './rules/workload/creation.ts';
import { JOB_RULES, JOB_STATE_RULES } from './rules/workload/jobs.ts';

/**
 * The rules that the bot applies to the Kubernetes API and to the logs of the pod's own containers; the image beside
 * the target cannot see these. Causes come before their effects: of findings of one rank, the one of the earlier row
 * comes first.
 */
export const CAUSE_RULES: readonly ClusterRule[] = [
  ...NODE_RULES,
  ...CREATION_RULES,
  ...JOB_RULES,
  ...COUNT_RULES,
  ...VOLUME_RULES,
  ...SCHEDULING_RULES,
  ...IMAGE_RULES,
  ...SMALL_LIMIT_RULES,
  ...CONFIGURATION_RULES,
  ...KILLING_PROBE_RULES,
  ...ENDING_RULES,
  ...POD_RULES,
];

/** Behind what an image finds inside: mostly effects of it. */
export const EFFECT_RULES: readonly ClusterRule[] = [
  ...LOG_RULES,
  ...PROBE_RULES,
  ...SERVICE_RULES,
  ...SURROUNDING_RULES,
  ...STATE_RULES,
  ...JOB_STATE_RULES,
  ...COUNT_STATE_RULES,
  ...RESOURCE_RULES,
];

export const CLUSTER_RULES: readonly ClusterRule[] = [...CAUSE_RULES, ...EFFECT_RULES];

/**
 * The findings in the API's facts, by section; a section without a finding is fine, one that could not be looked at is
 * missing. Pure: the same facts give the same text.
 */
export function lookAtCluster(facts: ClusterFacts): Readonly<Record<string, readonly Finding[]>> {
  const sections: Record<string, Finding[]> = {};
  for (const { section, find } of CLUSTER_RULES) {
    const found = find?.(facts);
    if (found) sections[section] = [...(sections[section] ?? []), ...found];
  }
  return sections;
}

/** Finds what is wrong with the workload as a whole, without its pods. Pure. */
export const lookAtWorkload = (facts: WorkloadFacts): readonly Finding[] =>
  CLUSTER_RULES.flatMap(({ findInWorkload }) => findInWorkload?.(facts) ?? []);
