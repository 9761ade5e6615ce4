import { formatCount } from '../../lib/duration.ts';
import { defined } from '../../lib/object.ts';
import { shorten } from '../../lib/text.ts';
import { countSiblings } from '../compare/siblings.ts';
import type { Evidence, Verdict } from '../run/run.ts';
import type { ClusterFacts, WorkloadFacts } from './facts.ts';
import { MAX_FINDINGS, MAX_LINE_LENGTH, ordered, rankOf, shown } from './findings.ts';
import { lookAtCluster, lookAtWorkload } from './look-at-cluster.ts';
import { cleanWords, spanOf } from './reading/phrases.ts';
import { ageOf, isDeleting, isOver, isReady, partsOf } from './reading/pod-containers.ts';
import type { Finding } from './report.ts';
import { unseenOf } from './unseen.ts';

const MAX_EVIDENCE = 3;
const MAX_UNSEEN = 5;
const MAX_EVIDENCE_LINES = 6;

/** What the answer to a question about a workload has besides its verdict. */
export interface WorkloadAnswer {
  readonly verdict: Verdict;
  /** Its pods by their worst finding, the worst group first. */
  readonly groups: readonly PodGroup[];
}

export interface PodGroup {
  /** `2 of 3 pods: web exited with code 1, …`. */
  readonly text: string;
  /** Of its finding; absent: nothing is wrong. */
  readonly rank?: 1 | 2 | 3;
  readonly podNames: readonly string[];
}

const findingsIn = (facts: ClusterFacts): readonly Finding[] => ordered(Object.values(lookAtCluster(facts)).flat());

const isWrong = (finding: Finding): boolean => rankOf(finding) < 3;

/** Whether all that a green tick needs is known: ready, its warnings and each running container's log read. */
function isProvenWell({ pod, events, warnings, logs = [] }: ClusterFacts): boolean {
  const running = partsOf(pod).filter(({ status }) => status?.running);
  const isRead = running.every(({ name }) => logs.some((log) => log.containerName === name && log.lines > 0));
  return isReady(pod) && (events ?? warnings) !== undefined && running.length > 0 && isRead;
}

/** The last words of each container that ended wrongly, and the error lines of those that run. */
function evidenceOf(facts: ClusterFacts, findings: readonly Finding[]): readonly Evidence[] {
  const named = new Set(findings.filter(isWrong).flatMap(({ containerName }) => containerName ?? []));
  const isOfWhole = findings.some((finding) => isWrong(finding) && finding.containerName === undefined);
  const words = (facts.lastWords ?? [])
    .filter(({ containerName }) => named.has(containerName) || isOfWhole)
    .map(({ containerName, line, more }) => ({
      title: `Last words of ${containerName}`,
      lines: [...new Set([...(line === undefined ? [] : [line]), ...more])],
    }));
  const errors = (facts.logs ?? [])
    .filter(({ containerName }) => named.has(containerName))
    .map(({ containerName, shapes }) => ({
      title: `Errors in the log of ${containerName}`,
      lines: shapes.map(({ line, count }) => (count > 1 ? `${count.toLocaleString('en-US')} × ${line}` : line)),
    }));
  return [...words, ...errors]
    .filter(({ lines }) => lines.length > 0)
    .slice(0, MAX_EVIDENCE)
    .map(({ title, lines }) => ({
      title,
      lines: lines.slice(0, MAX_EVIDENCE_LINES).map((line) => cleanWords(line, MAX_LINE_LENGTH)),
    }));
}

/** What a pod that is not ready yet waits for, while that is no trouble. */
const WAITED_FOR: ReadonlySet<string> = new Set(['init_waiting', 'probe_failing']);

/** The headline of a pod in which nothing is wrong, as far as it could be seen. */
function quietLine(facts: ClusterFacts, findings: readonly Finding[], isHealthy: boolean): string {
  const { pod } = facts;
  if (!isReady(pod)) {
    const waited = findings.find(({ code }) => WAITED_FOR.has(code));
    return `The pod is starting, for ${spanOf(ageOf(facts))} now${waited ? `: ${waited.text}` : ''}`;
  }
  const restarts = partsOf(pod).reduce(
    (sum, { role, status }) => sum + (role === 'init' ? 0 : (status?.restartCount ?? 0)),
    0,
  );
  const often = restarts === 0 ? 'never restarted' : `restarted ${formatCount(restarts, 'time')} in all`;
  return isHealthy ? `Healthy: ready, ${often}, and its log is calm` : `Nothing found so far: ready, ${often}`;
}

/** A finding that is no trouble, and all that there is to say of a pod that is over or going. */
const STATES: ReadonlySet<string> = new Set(['finished', 'being_deleted']);

function lineOf(facts: ClusterFacts, findings: readonly Finding[], isHealthy: boolean): string {
  const [worst] = findings;
  const state = findings.find(({ code }) => STATES.has(code));
  const named = worst && isWrong(worst) ? worst : state;
  if (named) return shorten(named.text, MAX_LINE_LENGTH);
  if (isOver(facts.pod) || isDeleting(facts.pod)) return 'Nothing of the pod runs any more';
  return shorten(quietLine(facts, findings, isHealthy), MAX_LINE_LENGTH);
}

/**
 * What the API, the last words and the log say of a pod, without a container in it: the worst finding's cause is the
 * headline, with the object's own names. `healthy` only where the pod is ready, its warnings and each running
 * container's log were read, and nothing is wrong. Foreign words are clean, bounded, redacted and quoted. Pure: equal
 * facts give equal text.
 */
export function firstAnswer(facts: ClusterFacts): Verdict {
  const findings = findingsIn(facts);
  const isHealthy = isProvenWell(facts) && !findings.some(isWrong);
  const unseen = unseenOf(facts);
  const evidence = evidenceOf(facts, findings);
  return {
    line: lineOf(facts, findings, isHealthy),
    findings: findings.slice(0, MAX_FINDINGS).map(shown),
    readAtMs: facts.nowMs,
    ...defined({
      healthy: isHealthy || undefined,
      more: findings.length > MAX_FINDINGS ? findings.length - MAX_FINDINGS : undefined,
      evidence: evidence.length > 0 ? evidence : undefined,
      unseen: unseen.length > 0 ? unseen.slice(0, MAX_UNSEEN) : undefined,
      siblings: countSiblings(facts.pod, facts.versionedPods),
    }),
  };
}

interface Grouped {
  readonly worst: Finding | undefined;
  readonly pods: readonly ClusterFacts[];
}

/** Pods whose worst findings are the same but for numbers, names and times. */
function groupsOf(pods: readonly ClusterFacts[]): readonly Grouped[] {
  const groups = new Map<string, { worst: Finding | undefined; pods: ClusterFacts[] }>();
  for (const facts of pods) {
    const found = findingsIn(facts);
    const worst = found.find(isWrong) ?? found.find(({ code }) => STATES.has(code));
    const key = worst ? `${rankOf(worst)} ${worst.code} ${worst.containerName ?? ''}` : `${isReady(facts.pod)}`;
    const group = groups.get(key) ?? { worst, pods: [] };
    group.pods.push(facts);
    groups.set(key, group);
  }
  const weight = ({ worst }: Grouped): number => (worst ? rankOf(worst) : 4);
  return [...groups.values()].toSorted((a, b) => weight(a) - weight(b) || b.pods.length - a.pods.length);
}

function textOfGroup({ worst, pods }: Grouped, all: number): string {
  const [first] = pods;
  const what = worst?.text ?? (first && isReady(first.pod) ? 'ready, nothing found' : 'starting, nothing found so far');
  if (all === 1) return what;
  const many = pods.length < all ? `${pods.length} of ${all} pods` : all === 2 ? 'both pods' : `all ${all} pods`;
  return shorten(`${many}: ${what}`, MAX_LINE_LENGTH);
}

/** `2 of 3 pods ready`; empty for Jobs, which want no ready pods. */
function countWords({ workload, pods }: WorkloadFacts): string {
  if (workload?.kind === 'job' || workload?.kind === 'cronjob') return '';
  const ready = workload?.ready ?? pods.filter(({ pod }) => isReady(pod)).length;
  const wanted = workload?.wanted ?? pods.length;
  return ready > wanted
    ? `${formatCount(ready, 'pod')} ready, ${wanted} wanted`
    : `${ready} of ${formatCount(wanted, 'pod')} ready`;
}

/**
 * The same of a workload, or of the pods of a selector: what stands in its way first, then its pods, grouped by their
 * worst finding. `healthy` only where each of its pods is, and all that it wants are ready. Pure.
 */
export function firstWorkloadAnswer(facts: WorkloadFacts): WorkloadAnswer {
  const { pods } = facts;
  const groups = groupsOf(pods);
  const own = lookAtWorkload(facts);
  const hasCause = groups.some(({ worst }) => worst && isWrong(worst));
  // What its pods fail with says why too few are ready.
  const whole = hasCause ? own.filter(({ code }) => code !== 'too_few_ready') : own;
  const ofPods = groups.flatMap((group) =>
    group.worst ? [{ ...group.worst, text: textOfGroup(group, pods.length) }] : [],
  );
  const findings = ordered([...whole, ...ofPods]);
  const isHealthy = isSettled(facts, findings) && !findings.some(isWrong) && pods.every(isProvenWell);
  const unseen = unseenOfWorkload(facts);
  const evidence = groups.flatMap(({ pods: [first] }) => (first ? evidenceOf(first, findingsIn(first)) : []));
  const verdict: Verdict = {
    line: workloadLine(facts, findings, isHealthy),
    findings: findings.slice(0, MAX_FINDINGS).map(shown),
    readAtMs: facts.nowMs,
    ...defined({
      healthy: isHealthy || undefined,
      more: findings.length > MAX_FINDINGS ? findings.length - MAX_FINDINGS : undefined,
      evidence: evidence.length > 0 ? evidence.slice(0, MAX_EVIDENCE) : undefined,
      unseen: unseen.length > 0 ? unseen.slice(0, MAX_UNSEEN) : undefined,
    }),
  };
  return {
    verdict,
    groups: groups.map((group) => ({
      text: textOfGroup(group, pods.length),
      ...defined({ rank: group.worst && rankOf(group.worst) }),
      podNames: group.pods.map(({ pod }) => pod.metadata.name),
    })),
  };
}

/** They say the count themselves. */
const COUNTED: ReadonlySet<string> = new Set(['too_few_ready', 'none_wanted', 'suspended', 'no_pods']);

/** It has as many pods as it wants, and no controller is at work. */
function isSettled({ workload, kind, pods }: WorkloadFacts, findings: readonly Finding[]): boolean {
  if (pods.length === 0 || findings.some(({ code }) => code === 'rollout_going_on')) return false;
  return workload === undefined
    ? kind === 'selector'
    : workload.wanted === pods.length && workload.ready === pods.length;
}

/** The state in a few words, then the cause: `0 of 3 pods ready: the ReplicaSet web-5d9 cannot create pods: …`. */
function workloadLine(facts: WorkloadFacts, findings: readonly Finding[], isHealthy: boolean): string {
  const [worst] = findings;
  const count = countWords(facts);
  if (!worst || !isWrong(worst)) return shorten(calmLine(count, findings, isHealthy), MAX_LINE_LENGTH);
  if (worst.code === 'job_failed') {
    const cause = findings.find(({ containerName }) => containerName !== undefined);
    return shorten(cause ? `${worst.text}: ${cause.text}` : worst.text, MAX_LINE_LENGTH);
  }
  if (count === '' || COUNTED.has(worst.code)) return shorten(worst.text, MAX_LINE_LENGTH);
  const { workload } = facts;
  const isServed = workload?.wanted !== undefined && workload.ready >= workload.wanted;
  return shorten(`${count}${isServed ? ', but ' : ': '}${worst.text}`, MAX_LINE_LENGTH);
}

function calmLine(count: string, findings: readonly Finding[], isHealthy: boolean): string {
  const state =
    findings.find(({ code }) => code === 'job_done' || code === 'rollout_going_on') ??
    findings.find(({ code }) => STATES.has(code));
  if (state) return state.text;
  return isHealthy
    ? `Healthy: ${count}, and their logs are calm`
    : ['Nothing found so far', count].filter(Boolean).join(': ');
}

function unseenOfWorkload(facts: WorkloadFacts): readonly string[] {
  const { pods, notRead, warnings } = facts;
  const own = unseenOf({ notRead, hasWarnings: warnings !== undefined });
  const unread = pods.filter(
    ({ pod, logs = [] }) => logs.length === 0 && partsOf(pod).some(({ status }) => status?.running),
  );
  const ofLogs =
    unread.length > 0 && pods.length > 1 && unread.length < pods.length
      ? [`the logs of ${unread.length} of ${formatCount(pods.length, 'pod')}`]
      : [];
  return [...new Set([...own, ...pods.flatMap((each) => unseenOf(each)), ...ofLogs])];
}
