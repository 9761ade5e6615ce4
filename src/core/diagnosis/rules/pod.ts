import { unmetCondition } from '../../container/pod.ts';
import type { ClusterRule } from '../facts/cluster-rule.ts';
import type { ClusterFacts } from '../facts/facts.ts';
import type { Finding } from '../facts/report.ts';
import { ago, cleanWords, exitWords, listed, quoted, spanOf } from '../reading/phrases.ts';
import {
  isBeingSetUp,
  isDeleting,
  isOver,
  MINUTE_MS,
  manifestOf,
  newestLineOf,
  partsOf,
  SECOND_MS,
  warningsOfPod,
} from '../reading/pod-containers.ts';
import { endedAgo, POD_FAILURES, replacedWords } from '../reading/pod-ends.ts';
import { wordsOfEnd } from './endings.ts';

const WARNING_MS = 10 * MINUTE_MS;
function evicted(facts: ClusterFacts): readonly Finding[] {
  const { pod } = facts;
  const disruption = unmetCondition(pod, 'DisruptionTarget');
  const isEvicted = pod.status.phase === 'Failed' && pod.status.reason === 'Evicted';
  const isPreempted = disruption?.reason === 'PreemptionByScheduler' || pod.status.reason === 'Preempting';
  if (!isEvicted && !isPreempted) return [];
  const message = pod.status.message || disruption?.message || '';
  const resource = /low on resource: (?<name>[\w.-]{1,60})/.exec(message)?.groups?.name?.replace(/\.+$/, '');
  const local = /(?:ephemeral local storage|emptyDir).{0,80}(?:exceeds|limit)/i.test(message);
  const why =
    resource !== undefined
      ? `its node ran low on ${resource}: ${quoted(message)}`
      : quoted(message) || 'no reason given';
  const what = isEvicted ? 'the pod was evicted' : 'the pod makes room for one of a higher priority';
  const next = local
    ? `Write less to the container’s own disk, or raise its ephemeral-storage limit in the manifest of ${manifestOf(pod)}.`
    : isEvicted
      ? `Request as much of it as it uses in the manifest of ${manifestOf(pod)}: pods above their requests are evicted first. Whoever runs the node should find what fills it.`
      : 'Give it a PriorityClass as high, or add a node.';
  return [{ code: 'evicted', text: `${what}: ${why}${replacedWords(facts)}`, next }];
}

function failed(facts: ClusterFacts): readonly Finding[] {
  const { pod } = facts;
  const { phase, reason, message = '' } = pod.status;
  // Deleting a pod ends its containers, which is no failure of theirs.
  if (phase !== 'Failed' || reason === 'Evicted' || isDeleting(pod)) return [];
  if (reason !== undefined && reason !== '') {
    const known = POD_FAILURES[reason];
    const why = known ? known.says : quoted(`${reason} ${message}`);
    const next = known?.next ?? 'Correct what the answer quotes; only a new pod runs again.';
    return [{ code: 'pod_failed', text: `the pod failed${endedAgo(facts)}: ${why}${replacedWords(facts)}`, next }];
  }
  const part = partsOf(pod).find(({ ended }) => ended !== undefined && ended.exitCode !== 0);
  const words = part?.ended ? wordsOfEnd(facts, part.name, part.ended) : '';
  const how = part?.ended ? `: ${part.title} ${exitWords(part.ended)}${words === '' ? '' : `: ${quoted(words)}`}` : '';
  return [{ code: 'pod_failed', text: `the pod failed${endedAgo(facts)}${how}${replacedWords(facts)}` }];
}

/** Of a pod that is being deleted: that it is, or why it is still there. */
export function deletionFindings(facts: ClusterFacts): readonly Finding[] {
  const { pod, nowMs } = facts;
  const { deletionTimestamp, finalizers = [] } = pod.metadata;
  if (deletionTimestamp === undefined) return [];
  // The timestamp is the end of the grace period.
  const overdueMs = nowMs - Date.parse(deletionTimestamp);
  // Once its containers have ended, only a finalizer can still hold it.
  const isHeld = finalizers.length > 0 && isOver(pod) && overdueMs > 0;
  if (overdueMs > MINUTE_MS || isHeld)
    return [stuck(facts, `the pod was deleted and should have been gone ${ago(overdueMs)}`)];
  return [
    { code: 'being_deleted', text: `the pod is being deleted${endingWords(facts, -overdueMs)}${replacedWords(facts)}` },
  ];
}

/** More than the usual grace of a pod is news: a hook or a program that does not end uses it. */
const USUAL_GRACE_MS = 30 * SECOND_MS;

function endingWords(facts: ClusterFacts, leftMs: number): string {
  const running = partsOf(facts.pod).filter(({ status }) => status?.running);
  const [first] = running;
  if (!first || leftMs <= USUAL_GRACE_MS) return '';
  const newest = newestLineOf(facts, first.name);
  const saying = newest === undefined ? '' : `; it says ${quoted(newest, 110)}`;
  return `: ${listed(running.slice(0, 3).map(({ title }) => title))} may take ${spanOf(leftMs)} more to end${saying}`;
}

function stuck({ pod, node }: ClusterFacts, since: string): Finding {
  const { finalizers = [] } = pod.metadata;
  const of = { code: 'stuck_deleting' };
  if (node?.conditions.some(({ type, status }) => type === 'Ready' && status !== 'True')) {
    const next = 'Whoever runs the node must bring it back, or remove the node: then the pod is removed too.';
    return { ...of, text: `${since}: its node ${cleanWords(node.name, 100)} does not answer`, next };
  }
  const [first, ...others] = finalizers.map((name) => cleanWords(name, 100));
  if (first === undefined) return { ...of, text: `${since}, and its containers have not ended` };
  const names =
    others.length === 0
      ? `the finalizer ${first} still holds it`
      : `the finalizers ${listed([first, ...others.slice(0, 2)])} still hold it`;
  const next = `Check the controller that owns the finalizer ${first}: it must do its work and remove it. If that controller is gone, whoever runs the cluster may remove the finalizer.`;
  return { ...of, text: `${since}: ${names}`, next };
}

/** Without a sandbox nothing of the pod starts: network, runtime class, or too little memory for it. */
function sandboxFailing(facts: ClusterFacts): readonly Finding[] | undefined {
  const warnings = warningsOfPod(facts);
  if (!warnings || !isBeingSetUp(facts.pod)) return warnings && [];
  const event = warnings.find(
    ({ reason, atMs }) => reason === 'FailedCreatePodSandBox' && facts.nowMs - atMs <= WARNING_MS,
  );
  if (!event || /OOM-killed|memory limit too low/i.test(event.message)) return [];
  const words = event.message
    .replace(/^Failed to create pod sandbox: (?:rpc error: code = \w+ desc = )?/, '')
    .replace(/^failed to (?:setup network for|get sandbox runtime:|create) (?:sandbox )?(?:"[^"]*": )?/, '');
  return [{ code: 'sandbox_failing', text: `the node cannot set the pod up: ${quoted(words)}` }];
}

const ROW = { seenBy: 'cluster', section: 'restarts' } as const;

export const POD_RULES: readonly ClusterRule[] = [
  {
    ...ROW,
    code: 'evicted',
    rank: 1,
    reads: 'phase, reason and message of the pod, condition DisruptionTarget',
    means: 'The kubelet or the scheduler ended the pod to free its node, and it does not start again.',
    next: 'Request as much as the pod uses, and find what fills the node.',
    source: 'Kubernetes, "Node-pressure Eviction" and "Pod Priority and Preemption"',
    replaces: ['restarts', 'crash_loop', 'pod_failed', 'not_ready'],
    find: evicted,
  },
  {
    ...ROW,
    code: 'pod_failed',
    rank: 1,
    reads: 'phase, reason and message of the pod, the ends of its containers, their last words',
    means: 'The pod failed, and none of its containers starts again.',
    next: 'Correct what ended it; only a new pod runs again.',
    source: 'Kubernetes, "Pod Lifecycle", pod phase: Failed',
    find: failed,
  },
  {
    ...ROW,
    code: 'sandbox_failing',
    section: 'start',
    rank: 1,
    reads: 'event FailedCreatePodSandBox while the pod is being set up',
    means: 'The node cannot set up the pod’s network or sandbox, so nothing of it starts.',
    next: 'Whoever runs the node should look at its network plugin or at the runtime class that the pod asks for.',
    source: 'The kubelet, syncPod; ten minutes are chosen, older warnings have healed',
    replaces: ['not_ready', 'warning_events'],
    find: sandboxFailing,
  },
  {
    ...ROW,
    code: 'stuck_deleting',
    rank: 2,
    reads: 'deletionTimestamp and finalizers of the pod, its node',
    means: 'The pod was deleted, its grace period is over, and it is still there.',
    next: 'Whoever runs its node should check that the node answers and that the containers end.',
    source: 'Kubernetes, "Termination of Pods"; a minute is chosen for the kubelet and the controllers',
    replaces: ['not_ready', 'restarts'],
    find: (facts) => deletionFindings(facts).filter(({ code }) => code === 'stuck_deleting'),
  },
];
