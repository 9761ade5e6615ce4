import { inMarks } from '../../lib/text.ts';
import { isJobOf } from '../batch/select-pods.ts';
import { byAge, controllerOf, type Pod, workloadOf } from '../container/pod.ts';
import type { ObjectEvent } from '../diagnosis/facts/facts.ts';
import { foreignLine } from '../redact/clean-text.ts';

const MAX_WORDS = 200;

const withoutLast = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf('-')));

/**
 * Describes a pod that does not exist in one sentence without a full stop: by the newest pod that its workload has in
 * its place, or by the last event about it or its Job. Controllers name pods after themselves, so its name tells whose
 * it was. Undefined: nothing is known, so the name may be wrong.
 */
export function goneText(name: string, pods: readonly Pod[], warnings: readonly ObjectEvent[]): string | undefined {
  const maker = withoutLast(name);
  if (maker === '') return undefined;
  const heir = heirOf(name, pods);
  const workload = heir && workloadOf(heir);
  if (heir && workload) return `${name} is gone; ${workload.kind}/${workload.name} has ${heir.metadata.name} now`;
  const ofPod = warnings.find(({ involved }) => involved.kind === 'Pod' && involved.name === name);
  const ofJob = warnings.find(({ involved }) => involved.kind === 'Job' && involved.name === maker);
  if (ofJob) return `${name} is gone; of its Job, job/${maker}, Kubernetes says: ${quoted(ofJob)}`;
  return ofPod && `${name} is gone; Kubernetes said last: ${quoted(ofPod)}`;
}

/** The newest pod that the workload of a pod that is gone has in its place. Undefined: there is none, or nothing tells whose it was. */
export function heirOf(name: string, pods: readonly Pod[]): Pod | undefined {
  const maker = withoutLast(name);
  if (maker === '') return undefined;
  return pods
    .filter((pod) => isOfMaker(pod, maker))
    .toSorted(byAge)
    .at(-1);
}

/** Its own ReplicaSet, DaemonSet or Job, or the Deployment or CronJob that has made another since. */
function isOfMaker(pod: Pod, maker: string): boolean {
  const owner = controllerOf(pod);
  const workload = workloadOf(pod);
  if (owner?.name === maker) return true;
  if (workload?.kind === 'deployment') return workload.name === withoutLast(maker);
  return workload?.kind === 'job' && isJobOf(maker, withoutLast(maker)) && isJobOf(workload.name, withoutLast(maker));
}

const quoted = ({ reason, message }: ObjectEvent): string => inMarks(foreignLine(`${reason}: ${message}`, MAX_WORDS));
