import { controllerOf, workloadOf } from '../../container/pod.ts';
import type { ClusterFacts } from '../facts/facts.ts';
import { ago } from './phrases.ts';
import { isDeleting, isOver, manifestOf, partsOf } from './pod-containers.ts';

/** Pods of the same controller that are younger; its words: `; the Deployment web has started web-2 since`. */
export function replacedWords({ pod, versionedPods }: ClusterFacts): string {
  const owner = controllerOf(pod);
  const workload = workloadOf(pod);
  const [newer] = versionedPods.filter(
    (each) =>
      owner !== undefined &&
      each.metadata.uid !== pod.metadata.uid &&
      !isDeleting(each) &&
      !isOver(each) &&
      each.metadata.creationTimestamp > pod.metadata.creationTimestamp &&
      (workload ? workloadOf(each)?.name === workload.name : controllerOf(each)?.name === owner.name),
  );
  return newer ? `; ${manifestOf(pod)} has started ${newer.metadata.name} since` : '';
}

/** The time since the pod's last container ended. */
export function endedAgo({ pod, nowMs }: ClusterFacts): string {
  const ends = partsOf(pod).map(({ ended }) => Date.parse(ended?.finishedAt ?? ''));
  const last = Math.max(...ends.filter(Number.isFinite));
  return Number.isFinite(last) ? ` ${ago(nowMs - last)}` : '';
}

/** Reasons of a failed pod that the kubelet or a controller gives, in words. */
export const POD_FAILURES: Readonly<Record<string, { readonly says: string; readonly next: string }>> = {
  DeadlineExceeded: {
    says: 'it ran for longer than its activeDeadlineSeconds',
    next: 'Raise activeDeadlineSeconds in its manifest, or find out why it takes so long.',
  },
  NodeLost: { says: 'its node does not answer', next: 'Whoever runs the node must bring it back or remove it.' },
  NodeShutdown: {
    says: 'its node was shut down',
    next: 'Its workload starts another pod elsewhere; a bare pod must be made again.',
  },
  Terminated: {
    says: 'its node was shut down',
    next: 'Its workload starts another pod elsewhere; a bare pod must be made again.',
  },
  NodeAffinity: {
    says: 'its node no longer matches its node selector or affinity',
    next: 'Correct the labels of the node, or the pod’s node selector.',
  },
  UnexpectedAdmissionError: {
    says: 'its node refused it',
    next: 'Its workload starts another pod; look at the node if that fails too.',
  },
  OutOfcpu: {
    says: 'its node had no CPU left for it',
    next: 'Its workload starts another pod; lower its requests or add a node if that fails too.',
  },
  OutOfmemory: {
    says: 'its node had no memory left for it',
    next: 'Its workload starts another pod; lower its requests or add a node if that fails too.',
  },
  OutOfpods: {
    says: 'its node held as many pods as it may',
    next: 'Its workload starts another pod; add a node if that fails too.',
  },
};
