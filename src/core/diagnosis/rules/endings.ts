import { formatCount } from '../../../lib/duration.ts';
import { shorten } from '../../../lib/text.ts';
import type { ContainerStatus, ContainerTermination, Pod } from '../../container/pod.ts';
import type { ClusterRule } from '../facts/cluster-rule.ts';
import type { ClusterFacts } from '../facts/facts.ts';
import type { Finding } from '../facts/report.ts';
import { causeOf } from '../reading/causes.ts';
import { ago, exitWords, quoted, spanOf } from '../reading/phrases.ts';
import {
  DAY_MS,
  HOUR_MS,
  isDeleting,
  isOver,
  lastWordsOf,
  MINUTE_MS,
  manifestOf,
  type PodPart,
  partsOf,
} from '../reading/pod-containers.ts';
import { POD_FAILURES } from '../reading/pod-ends.ts';
import { failedStartOf } from './configuration.ts';

/**
 * The last end of a container, for a list of containers; undefined if it never ended: `exited with code 1, 12 s ago`.
 */
export function endingOf(
  { terminated, lastTermination, restartCount }: ContainerStatus,
  nowMs: number,
): string | undefined {
  const ended = terminated ?? lastTermination;
  if (!ended) return undefined;
  const how = ended.reason === 'OOMKilled' ? 'was killed for lack of memory (OOMKilled)' : exitWords(ended);
  const often = restartCount > 0 ? `, restarted ${formatCount(restartCount, 'time')}` : '';
  return `${how}, ${ago(nowMs - Date.parse(ended.finishedAt))}${often}`;
}

/** The kubelet waits five minutes at most before it starts a container again. */
const LOOP_MS = 6 * MINUTE_MS;
const MAX_SENTENCE = 300;

/** An end of a container that is news, and how it is told. */
interface Ending {
  readonly part: PodPart;
  readonly ended: ContainerTermination;
  readonly ageMs: number;
  readonly restarts: number;
}

/** The last end of each container that did not end as it should. */
const endingsOf = ({ pod, nowMs }: ClusterFacts): readonly Ending[] =>
  partsOf(pod).flatMap((part) => {
    const { ended, status } = part;
    if (!ended || !isWrongEnd(part, pod)) return [];
    return [{ part, ended, ageMs: nowMs - Date.parse(ended.finishedAt), restarts: status?.restartCount ?? 0 }];
  });

function isWrongEnd(part: PodPart, pod: Pod): boolean {
  const { ended, status, role } = part;
  // Deleting a pod ends its containers, and the kubelet ends the sidecars of one that has finished.
  if (pod.status.phase === 'Succeeded' || (role === 'sidecar' && isOver(pod))) return false;
  if (isKilledWithPod(part, pod)) return false;
  if (failedStartOf(part) !== undefined || (isDeleting(pod) && status?.terminated)) return false;
  if (role === 'init' && status?.terminated?.exitCode === 0) return false;
  const hasRestarted = (status?.restartCount ?? 0) > 0 && role !== 'init' && !isOver(pod);
  return ended?.exitCode !== 0 || hasRestarted;
}

const KILLED: ReadonlySet<number | undefined> = new Set([0, 137, 143]);

/** The end of the whole pod killed its containers. */
const isKilledWithPod = ({ ended }: PodPart, { status }: Pod): boolean =>
  status.phase === 'Failed' && POD_FAILURES[status.reason ?? ''] !== undefined && KILLED.has(ended?.exitCode);

const isOom = ({ ended }: Ending): boolean => ended.reason === 'OOMKilled';

/** It is down, or has come up again so often and so lately that it will not stay. */
const isLooping = ({ part, ageMs, restarts }: Ending): boolean =>
  part.status?.waiting?.reason === 'CrashLoopBackOff' || (restarts >= 2 && ageMs <= LOOP_MS);

/** The kubelet answers so, with status 200, when the runtime has removed the container. */
const NO_LOG = /^(?:unable )?to retrieve container logs for /;

/** The words of a container that ended: of its log, else those that it left for Kubernetes. */
export const wordsOfEnd = (facts: ClusterFacts, name: string, ended: ContainerTermination): string =>
  lastLineOf(facts, name) || messageOf(facts, ended);

function lastLineOf(facts: ClusterFacts, name: string): string {
  const { line = '' } = lastWordsOf(facts, name) ?? {};
  return NO_LOG.test(line) ? '' : line;
}

/** It may be the end of the log (terminationMessagePolicy), so whoever may not read the log reads none of it. */
function messageOf({ logRight = 'none' }: ClusterFacts, { message }: ContainerTermination): string {
  const last = logRight === 'none' ? '' : (message.split('\n').findLast((line) => line.trim() !== '') ?? '');
  // A report of a diagnostic image is no sentence.
  return last.startsWith('{') ? '' : last;
}

/** The containers whose termination message stands in the answer, because their log has no words or was not read. */
export const containersQuoted = (facts: ClusterFacts): readonly string[] =>
  endingsOf(facts).flatMap(({ part: { name }, ended }) =>
    lastLineOf(facts, name) === '' && messageOf(facts, ended) !== '' ? name : [],
  );

/** `12 s ago, restarted 14 times`. */
function when({ ageMs, restarts }: Ending): string {
  return `${ago(ageMs)}${restarts > 0 ? `, restarted ${formatCount(restarts, 'time')}` : ''}`;
}

function sentenceOf(ending: Ending, facts: ClusterFacts): Pick<Finding, 'text' | 'next'> {
  const { part, ended } = ending;
  const words = wordsOfEnd(facts, part.name, ended);
  const cause = causeOf(words);
  const read = lastWordsOf(facts, part.name);
  const quotation = words !== '' ? `: ${quoted(words)}` : read && read.line === undefined ? '; it wrote nothing' : '';
  // The last words may know better than the shell's meaning of the code.
  const wrong = cause && ended.exitCode < 128 ? `exited with code ${ended.exitCode}` : exitWords(ended);
  const how = `${part.title} ${ended.exitCode === 0 ? 'ends by itself with code 0' : wrong}`;
  const head = cause ? `${cause.says}: ` : '';
  const text = shorten(`${head}${how}, ${when(ending)}${quotation}`, MAX_SENTENCE);
  return { text, next: cause?.next ?? nextOf(ending, words, facts) };
}

function nextOf({ part, ended }: Ending, words: string, { pod }: ClusterFacts): string {
  const manifest = manifestOf(pod);
  if (ended.exitCode === 0)
    return `Give ${part.name} a command that goes on running, in the manifest of ${manifest}, or make it a Job.`;
  if (ended.exitCode === 127 || ended.exitCode === 126)
    return `Correct the command of ${part.name} in the manifest of ${manifest}, or its image.`;
  if (words !== '')
    return `Correct what it complains of. It is in what ${part.name} needs, in its settings in the manifest of ${manifest}, or in its program.`;
  if (ended.exitCode === 137)
    return 'Something killed it from outside: its node, a probe, or the kernel for lack of memory on the node.';
  return `Look at how ${part.name} starts: its command and settings in the manifest of ${manifest}.`;
}

function loopFindings(facts: ClusterFacts): readonly Finding[] {
  return endingsOf(facts)
    .filter((ending) => !isOom(ending) && isLooping(ending))
    .map((ending) => ({
      code: 'crash_loop',
      containerName: ending.part.name,
      value: ending.restarts,
      ...sentenceOf(ending, facts),
    }));
}

function restartFindings(facts: ClusterFacts): readonly Finding[] {
  return endingsOf(facts)
    .filter((ending) => !isOom(ending) && !isLooping(ending))
    .filter(
      ({ ageMs, part }) => ageMs < HOUR_MS || (!part.status?.running && part.role !== 'init') || isOver(facts.pod),
    )
    .map((ending) => ({
      code: 'restarts',
      containerName: ending.part.name,
      value: ending.restarts,
      rank: ending.part.status?.running ? 2 : 1,
      ...sentenceOf(ending, facts),
    }));
}

function oomFindings(facts: ClusterFacts): readonly Finding[] {
  return endingsOf(facts)
    .filter((ending) => isOom(ending) && ending.ageMs < DAY_MS)
    .map((ending): Finding => {
      const { part, ageMs, restarts } = ending;
      const limit = part.spec?.memoryLimit;
      const why =
        limit === undefined ? 'its node had no memory left' : `it needs more than its memory limit of ${limit}`;
      const text = `${part.title} was killed for lack of memory (OOMKilled), ${when(ending)}: ${why}`;
      const next =
        limit === undefined
          ? `Give ${part.name} a memory request and limit in the manifest of ${manifestOf(facts.pod)}, or find what grows.`
          : `Find what grows in ${part.name}, or raise its memory limit in the manifest of ${manifestOf(facts.pod)} above its real need.`;
      const isNews = ageMs < HOUR_MS || !part.status?.running;
      return { code: 'last_oom_killed', containerName: part.name, value: restarts, text, next, rank: isNews ? 1 : 2 };
    });
}

/** An init container that still runs: the pod's own containers wait for it, and after a minute people do too. */
function initFindings(facts: ClusterFacts): readonly Finding[] {
  const { pod, nowMs, logs = [] } = facts;
  const part = partsOf(pod).find(({ role, status }) => role === 'init' && status?.running);
  const sinceMs = nowMs - Date.parse(part?.status?.running?.startedAt ?? '');
  if (!part || !(sinceMs > 0) || pod.status.phase !== 'Pending' || isDeleting(pod)) return [];
  const log = logs.find(({ containerName }) => containerName === part.name);
  const words = quoted(log?.shapes[0]?.line ?? log?.newest ?? lastWordsOf(facts, part.name)?.line ?? '');
  const text = `${part.title} has been running for ${spanOf(sinceMs)}, and the pod’s own containers wait for it${words && `: ${words}`}`;
  const next = `Check what ${part.name} waits for: a server, a migration, a file; it must end before the pod starts.`;
  return [{ code: 'init_waiting', containerName: part.name, text, next, rank: sinceMs > MINUTE_MS ? 2 : 3 }];
}

const LIFECYCLE = 'Kubernetes, "Pod Lifecycle", container restarts: the kubelet backs off from 10 s to 5 min';
const ROW = { seenBy: 'cluster', section: 'restarts' } as const;

export const ENDING_RULES: readonly ClusterRule[] = [
  {
    ...ROW,
    code: 'last_oom_killed',
    rank: 1,
    reads: 'the last end of each container, its memory limit',
    means: 'The kernel killed the container within the last day, for using more memory than its limit allows.',
    next: 'Find what grew, or raise the memory limit above its real need.',
    nextImage: 'blackbox',
    source:
      'Kubernetes, "Resource Management for Pods and Containers": a container over its memory limit is killed; a day is chosen, because the API keeps only the last kill, and after an hour it is less urgent',
    explains: ['log_errors'],
    replaces: ['not_ready', 'probe_failing', 'oom_kill', 'pod_failed'],
    find: oomFindings,
  },
  {
    ...ROW,
    code: 'crash_loop',
    rank: 1,
    reads: 'the last end of each container, its last words',
    means: 'A container exits again and again, and Kubernetes waits longer each time before it restarts it.',
    next: 'Correct what its last words complain of.',
    nextImage: 'blackbox',
    source: `${LIFECYCLE}; two restarts with an end in the last six minutes count as well, for then it runs only between two ends`,
    explains: ['log_errors'],
    replaces: ['not_ready', 'probe_failing', 'pod_failed'],
    find: loopFindings,
  },
  {
    ...ROW,
    code: 'restarts',
    rank: 2,
    reads: 'the last end of each container, its last words',
    means: 'A container exited and is down, or exited within the last hour and was restarted.',
    next: 'Correct what its last words complain of.',
    nextImage: 'blackbox',
    source: `${LIFECYCLE}; an hour is chosen, because events live that long`,
    replaces: ['not_ready', 'pod_failed'],
    find: restartFindings,
  },
  {
    ...ROW,
    code: 'init_waiting',
    rank: 2,
    reads: 'the state of each init container, its log',
    means: 'An init container has been running for more than a minute, and the pod’s own containers wait for it.',
    next: 'Check what it waits for; it must end before the pod starts.',
    source:
      'Kubernetes, "Init Containers": each must end before the next starts; a minute is chosen, because a start needs some',
    replaces: ['not_ready'],
    find: initFindings,
  },
];
