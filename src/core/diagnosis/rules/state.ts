import { formatCount, formatDuration } from '../../../lib/duration.ts';
import { defined } from '../../../lib/object.ts';
import { controllerOf, type PodCondition, type PodEvent, unmetCondition } from '../../container/pod.ts';
import type { ClusterRule } from '../facts/cluster-rule.ts';
import type { ClusterFacts } from '../facts/facts.ts';
import type { Finding } from '../facts/report.ts';
import { ago, cleanWords, listed, quoted } from '../reading/phrases.ts';
import {
  isBeingSetUp,
  isDeleting,
  isStarting,
  MINUTE_MS,
  manifestOf,
  newestLineOf,
  partsOf,
  warningsOfPod,
} from '../reading/pod-containers.ts';
import { endedAgo, replacedWords } from '../reading/pod-ends.ts';
import { deletionFindings } from './pod.ts';

const WARNING_MS = 10 * MINUTE_MS;
/** They have their own findings, or repeat what another says. */
const WITH_OWN_FINDING: ReadonlySet<string> = new Set([
  'Unhealthy',
  'BackOff',
  'FailedScheduling',
  'Failed',
  'FailedMount',
  'FailedAttachVolume',
  'InspectFailed',
  'ErrImageNeverPull',
  'Evicted',
  'FailedToRetrieveImagePullSecret',
  'FailedCreatePodSandBox',
]);

function finished(facts: ClusterFacts): readonly Finding[] {
  if (facts.pod.status.phase !== 'Succeeded') return [];
  const text = `the pod finished${endedAgo(facts)}: all its containers exited with code 0, which is no error${replacedWords(facts)}`;
  return [{ code: 'finished', text }];
}

/** Containers that have done their work, and others that keep the pod from its end. */
function helperRunsOn({ pod, nowMs }: ClusterFacts): readonly Finding[] {
  const owner = controllerOf(pod)?.kind;
  // All others start such a container again.
  if (owner !== undefined && owner !== 'Job') return [];
  const mains = partsOf(pod).filter(({ role }) => role === 'main');
  const running = mains.filter(({ status }) => status?.running);
  const done = mains.filter(({ status }) => status?.terminated?.exitCode === 0);
  if (pod.status.phase !== 'Running' || isDeleting(pod) || running.length === 0 || done.length === 0) return [];
  if (running.length + done.length < mains.length) return [];
  const sinceMs = nowMs - Math.max(...done.map(({ status }) => Date.parse(status?.terminated?.finishedAt ?? '')));
  const [names, others] = [done, running].map((parts) => listed(parts.slice(0, 3).map(({ title }) => title)));
  const text = `${names} finished with code 0 ${ago(sinceMs)}, and ${others} still run${running.length > 1 ? '' : 's'}, so the pod does not end`;
  const next = `If ${others} only helps ${names}, make it an init container with restartPolicy: Always in the manifest of ${manifestOf(pod)}; as a sidecar it ends with the pod’s work.`;
  return [{ code: 'helper_runs_on', text, next, rank: sinceMs > MINUTE_MS ? 2 : 3 }];
}

function notReady(facts: ClusterFacts): readonly Finding[] {
  const { pod, nowMs } = facts;
  const condition = unmetCondition(pod, 'Ready');
  const isRising = pod.status.phase === 'Pending' && pod.spec.nodeName !== undefined;
  if (!condition || !(isRising || pod.status.phase === 'Running') || isDeleting(pod)) return [];
  const sinceMs = nowMs - Date.parse(condition.since);
  const awaited = partsOf(pod).filter(({ status }) => status?.running && !status.ready);
  const areStarting = !isRising && awaited.length > 0 && awaited.every((part) => isStarting(part, nowMs));
  if (!(sinceMs > MINUTE_MS) || areStarting) return [];
  const what = isRising ? 'the pod has been starting for' : 'the pod has not been ready for';
  const gate = /readiness gate "(?<gate>[^"]{1,200})"/.exec(condition.message)?.groups?.gate;
  const named = gate && cleanWords(gate, 100);
  const why = named ? `its readiness gate ${named} is not met` : whyNotReady(facts, condition);
  const next = named && `Check the controller that sets ${named}, such as the one of a load balancer.`;
  return [{ code: 'not_ready', text: `${what} ${formatDuration(sinceMs)}: ${why}`, ...defined({ next }) }];
}

/** The containers that the condition names, where one of them runs and says what it does. */
function sayingOf(facts: ClusterFacts): string | undefined {
  const part = partsOf(facts.pod).find(({ status }) => status?.running && status.ready === false);
  const newest = part && newestLineOf(facts, part.name);
  return part && newest && `${part.title} is not ready, and says ${quoted(newest)}`;
}

function whyNotReady(facts: ClusterFacts, { message, reason }: PodCondition): string {
  const saying = sayingOf(facts);
  if (saying !== undefined) return saying;
  const [warning] = isBeingSetUp(facts.pod) ? (warningsOfPod(facts) ?? []) : [];
  return quoted(warning?.message ?? (message || reason)) || 'no reason given';
}

const newWarnings = (events: readonly PodEvent[], nowMs: number): readonly PodEvent[] =>
  events.filter((event) => event.type === 'Warning' && nowMs - event.atMs <= WARNING_MS);

function warningFindings(facts: ClusterFacts): readonly Finding[] | undefined {
  const all = warningsOfPod(facts);
  if (!all) return undefined;
  const warnings = newWarnings(all, facts.nowMs).filter(({ reason }) => !WITH_OWN_FINDING.has(reason));
  const [newest] = warnings;
  if (!newest) return [];
  const value = warnings.reduce((sum, { count = 1 }) => sum + count, 0);
  const text = `${formatCount(value, 'warning')}, last ${ago(facts.nowMs - newest.atMs)}: ${cleanWords(newest.reason, 40)} ${quoted(newest.message)}`;
  return [{ code: 'warning_events', value, text }];
}

const ROW = { seenBy: 'cluster', section: 'restarts' } as const;

/** Behind the causes. */
export const STATE_RULES: readonly ClusterRule[] = [
  {
    ...ROW,
    code: 'not_ready',
    rank: 2,
    reads: 'condition Ready of the pod, its newest warning while it is being set up',
    means:
      'The pod has not been ready for more than a minute, or what its startup probe allows, so it gets no traffic.',
    next: 'Find out what its readiness waits for: its probe, its volumes, or a readiness gate.',
    nextImage: 'stacks',
    source:
      'Kubernetes, "Pod Lifecycle", condition Ready; a minute is chosen, because a start needs some, and is counted from the start of its containers',
    find: notReady,
  },
  {
    ...ROW,
    code: 'helper_runs_on',
    rank: 2,
    reads: 'the states of the containers',
    means: 'A container of the pod has done its work, and another one that runs on keeps the pod from its end.',
    next: 'Make the helper a sidecar, or let it end when the work is done.',
    source:
      'Kubernetes, "Sidecar Containers", Jobs with sidecars; a minute is chosen, because a helper may need some to end',
    replaces: ['not_ready'],
    find: helperRunsOn,
  },
  {
    ...ROW,
    code: 'finished',
    rank: 3,
    reads: 'phase of the pod, the ends of its containers',
    means: 'The pod has done its work: all its containers exited with code 0.',
    next: 'Nothing: a finished pod is no error. Ask for a pod that runs, or for its workload.',
    source: 'Kubernetes, "Pod Lifecycle", pod phase: Succeeded',
    find: finished,
  },
  {
    ...ROW,
    code: 'being_deleted',
    rank: 3,
    reads: 'deletionTimestamp of the pod',
    means: 'Somebody or its controller deleted the pod, and its grace period is not over.',
    next: 'Ask for the pod that replaces it, or for its workload.',
    source: 'Kubernetes, "Termination of Pods"',
    find: (facts) => deletionFindings(facts).filter(({ code }) => code === 'being_deleted'),
  },
  {
    ...ROW,
    code: 'warning_events',
    section: 'events',
    rank: 3,
    reads: 'warnings about the pod',
    means: 'Kubernetes warned about the pod within the last ten minutes.',
    next: 'It may have healed: ask again in a few minutes.',
    source: 'Kubernetes, core/v1 Event of type Warning; ten minutes are chosen, older ones have mostly healed',
    find: warningFindings,
  },
];
