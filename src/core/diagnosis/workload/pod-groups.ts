import { shorten } from '../../../lib/text.ts';
import { VERDICT_LINE_LENGTH } from '../../line-lengths.ts';
import type { ClusterFacts } from '../facts/facts.ts';
import type { Finding } from '../facts/report.ts';
import { isWrong, rankOf } from '../findings.ts';
import { findingsIn, isProvenWell, STATES } from '../first-answer.ts';
import { isDeleting, isOver, isReady, partsOf } from '../reading/pod-containers.ts';
import { unseenOf } from '../reading/unseen.ts';
import { noiseIn } from '../rules/log.ts';

/** Pods whose worst findings are the same but for numbers, names and times. */
export interface PodGroup {
  /** Of the example; undefined: nothing is wrong. */
  readonly worst: Finding | undefined;
  /** One of the pods: the first of those whose logs say most, and the newest of those that are over. */
  readonly example: ClusterFacts;
  /** All of the example's findings. */
  readonly findings: readonly Finding[];
  /** The oldest first. */
  readonly pods: readonly ClusterFacts[];
}

/** The groups of many pods. */
export interface GroupedPods {
  /** The worst first, then the largest. */
  readonly groups: readonly PodGroup[];
  readonly all: number;
  readonly ready: number;
  /** Neither over nor being deleted. */
  readonly live: number;
  /** Those of them in which a container runs. */
  readonly running: number;
  /** Proven to be well: what a green tick needs. */
  readonly proven: number;
  /** In which a container runs whose log was not read. */
  readonly unread: number;
  /** In which a container runs whose log is empty. */
  readonly empty: number;
  /** Error lines in their logs that are only worth knowing. */
  readonly noise: number;
  /** The reasons why facts of single pods are missing. */
  readonly unseen: readonly string[];
}

interface OpenGroup extends PodGroup {
  readonly pods: ClusterFacts[];
}

/**
 * Groups pods one at a time, so that whoever has thousands of them may yield in between: each costs all rules of a pod.
 * Add the oldest first.
 */
export class PodGrouper {
  readonly #groups = new Map<string, OpenGroup>();
  readonly #counts = { all: 0, ready: 0, live: 0, running: 0, proven: 0, unread: 0, empty: 0, noise: 0 };
  readonly #unseen = new Set<string>();

  add(facts: ClusterFacts): void {
    const findings = findingsIn(facts);
    const worst = findings.find(isWrong) ?? findings.find(({ code }) => STATES.has(code) || code === 'log_errors');
    const key = worst ? `${rankOf(worst)} ${worst.code} ${worst.containerName ?? ''}` : `${isReady(facts.pod)}`;
    const known = this.#groups.get(key);
    const pods = known?.pods ?? [];
    pods.push(facts);
    const isExample = !known || saysMore(facts, known.example);
    this.#groups.set(key, isExample ? { worst, example: facts, findings, pods } : known);
    this.#count(facts, findings);
  }

  result(): GroupedPods {
    const weight = ({ worst }: PodGroup): number => (worst ? rankOf(worst) : 4);
    const groups = [...this.#groups.values()].toSorted(
      (a, b) => weight(a) - weight(b) || b.pods.length - a.pods.length,
    );
    return { groups, ...this.#counts, unseen: [...this.#unseen] };
  }

  #count(facts: ClusterFacts, findings: readonly Finding[]): void {
    const { pod, logs = [], notRead = [] } = facts;
    const counts = this.#counts;
    const running = partsOf(pod).filter(({ status }) => status?.running);
    const isLive = !isOver(pod) && !isDeleting(pod);
    const linesOf = (name: string) => logs.find(({ containerName }) => containerName === name)?.lines;
    counts.all += 1;
    counts.ready += Number(isReady(pod));
    counts.live += Number(isLive);
    counts.running += Number(isLive && running.length > 0);
    counts.proven += Number(isProvenWell(facts, findings));
    counts.unread += Number(running.some(({ name }) => linesOf(name) === undefined));
    counts.empty += Number(running.some(({ name }) => linesOf(name) === 0));
    counts.noise += noiseIn(facts).lines;
    if (notRead.length > 0) for (const line of unseenOf({ notRead, hasWarnings: true })) this.#unseen.add(line);
  }
}

export function groupsOf(pods: readonly ClusterFacts[]): GroupedPods {
  const grouper = new PodGrouper();
  for (const facts of pods) grouper.add(facts);
  return grouper.result();
}

const wordsIn = ({ lastWords = [], logs = [] }: ClusterFacts): number =>
  lastWords.some(({ line }) => line !== undefined) ? 2 : Number(logs.length > 0);

const saysMore = (facts: ClusterFacts, than: ClusterFacts): boolean =>
  wordsIn(facts) > wordsIn(than) || (wordsIn(facts) === wordsIn(than) && isOver(facts.pod));

/** `2 of 3 pods`, `both pods`; empty for the only pod. */
export function shareOf({ pods }: PodGroup, all: number): string {
  if (all === 1) return '';
  if (pods.length < all) return `${number(pods.length)} of ${number(all)} pods`;
  return all === 2 ? 'both pods' : `all ${number(all)} pods`;
}

const number = (count: number): string => count.toLocaleString('en-US');

/** `2 of 3 pods: web exited with code 1, …`. */
export function textOfGroup(group: PodGroup, all: number): string {
  const share = shareOf(group, all);
  const what = group.worst ? stateOf(group, group.worst) : calmOf(group);
  return share === '' ? what : shorten(`${share}: ${what}`, VERDICT_LINE_LENGTH);
}

/** Of several pods that are over, the newest is told about. */
const stateOf = ({ pods }: PodGroup, { code, text }: Finding): string =>
  code === 'finished' && pods.length > 1 ? text.replace(/^the pod /, 'the newest ') : text;

/** One pod's log says nothing about another pod. */
function calmOf({ example, pods }: PodGroup): string {
  if (!isReady(example.pod)) return 'starting, nothing found so far';
  const read = pods.filter(({ logs = [] }) => logs.length > 0).length;
  const isWhole = read === pods.length;
  const logs = isWhole ? '' : read === 0 ? '; no log read' : ` (log of ${number(read)} of ${number(pods.length)} read)`;
  return `ready, nothing ${noiseIn(example).lines > 0 ? 'wrong' : 'found'}${logs}`;
}
