import type { Pod } from '../container/pod.ts';
import { formatCount } from '../report/duration.ts';
import type { Finding } from './report.ts';

/** Set by the Deployment controller on its ReplicaSets and their pods. */
export const TEMPLATE_HASH = 'pod-template-hash';

/**
 * Whether pods of another version of the same Deployment run beside the pod. A ReplicaSet is named after its Deployment and its
 * template's hash, so the owner is known without asking for it.
 */
export function rolloutFindings(pod: Pod, siblings: readonly Pod[]): readonly Finding[] {
  const deployment = deploymentOf(pod);
  if (deployment === undefined) return [];
  const same = siblings.filter((each) => deploymentOf(each) === deployment && !isOver(each));
  const others = same.filter((each) => hashOf(each) !== hashOf(pod));
  if (others.length === 0) return [];
  const newest =
    others
      .map(({ metadata }) => metadata.creationTimestamp)
      .toSorted()
      .at(-1) ?? '';
  const which = newest > pod.metadata.creationTimestamp ? 'newer' : 'older';
  const text = `a rollout of ${deployment} is in progress: ${formatCount(others.length, 'pod')} of ${same.length} of the ${which} version`;
  return [{ code: 'rollout_under_way', value: others.length, text }];
}

const hashOf = ({ metadata }: Pod): string | undefined => metadata.labels[TEMPLATE_HASH];

function deploymentOf(pod: Pod): string | undefined {
  const hash = hashOf(pod);
  const owner = pod.metadata.ownerReferences.find(({ controller }) => controller);
  if (hash === undefined || owner?.kind !== 'ReplicaSet' || !owner.name.endsWith(`-${hash}`)) return undefined;
  return owner.name.slice(0, -(hash.length + 1));
}

const isOver = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined || status.phase === 'Succeeded' || status.phase === 'Failed';
