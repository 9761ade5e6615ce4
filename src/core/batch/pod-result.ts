import { defined } from '../../lib/object.ts';
import { shorten } from '../../lib/text.ts';
import type { PodFacts } from '../compare/facts.ts';
import type { ContainerTermination } from '../container/pod.ts';
import type { Outcome, OutcomeKind } from '../outcome.ts';
import { cleanText, foldRewrites } from '../redact/clean-text.ts';
import { redactText } from '../redact/redact-text.ts';
import type { Batch, BatchPod, PodResult, PodState } from './batch.ts';
import { type Counts, endedOf, stateOf } from './pod-state.ts';

/** In characters. The kubelet's own limit is 4 KiB; the log has the rest. */
const MAX_MESSAGE_LENGTH = 200;
/** The longest termination message. */
const MAX_READ_LENGTH = 4_096;
const MAX_REASON_LENGTH = 64;
const MAX_FINDINGS = 8;

/** The state of a pod whose only container had this outcome. A refused container counts as one that did not start. */
const STATE_OF_OUTCOME: Readonly<Record<OutcomeKind, PodState>> = {
  succeeded: 'succeeded',
  answered: 'succeeded',
  failed: 'failed',
  'oom-killed': 'failed',
  'target-ended': 'failed',
  internal: 'failed',
  'start-failed': 'start-failed',
  'no-status': 'start-failed',
  refused: 'start-failed',
  denied: 'start-failed',
  'timed-out': 'timed-out',
  'pod-gone': 'lost',
  'pod-replaced': 'lost',
  'node-lost': 'lost',
  stopped: 'cancelled',
  rejected: 'cancelled',
  expired: 'cancelled',
  cancelled: 'cancelled',
};

export interface EndedContainer {
  readonly outcome: Outcome;
  readonly termination?: ContainerTermination;
  readonly findings?: readonly string[];
  /** A report's own sentence, instead of the termination message that holds it. */
  readonly verdict?: string;
  readonly facts?: PodFacts;
  readonly logBytes?: number;
  readonly logDoubt?: string | undefined;
  readonly files?: number;
  readonly filesMissing?: number;
  /** Used if neither the outcome nor the termination has a message. */
  readonly message?: string;
  /** The policy's own patterns (`output.redact`). */
  readonly redact?: readonly string[];
}

/**
 * The stored result of an ended container: every text on one line, cleaned of terminal controls and invisible
 * characters, redacted, and short.
 */
export function podResult(ended: EndedContainer): PodResult {
  const { outcome, termination, findings = [], facts, logBytes, logDoubt, redact = [] } = ended;
  const { files, filesMissing } = ended;
  const reason = line(reasonOf(outcome) ?? termination?.reason ?? '', MAX_REASON_LENGTH);
  const text = 'message' in outcome ? outcome.message : (ended.verdict ?? termination?.message ?? ended.message ?? '');
  const message = line(text, MAX_MESSAGE_LENGTH, redact);
  const exitCode = termination?.exitCode ?? ('exitCode' in outcome ? outcome.exitCode : undefined);
  const codes = [...new Set(findings.map((code) => line(code, MAX_REASON_LENGTH)))].sort().slice(0, MAX_FINDINGS);
  return {
    outcome: outcome.kind,
    ...defined({
      exitCode,
      reason: reason || undefined,
      message: message || undefined,
      looked: ended.verdict === undefined ? undefined : (true as const),
      findings: codes.length > 0 ? codes : undefined,
      facts,
      logBytes,
      logDoubt,
      files: files === 0 ? undefined : files,
      filesMissing: filesMissing === 0 ? undefined : filesMissing,
    }),
  };
}

function reasonOf(outcome: Outcome): string | undefined {
  switch (outcome.kind) {
    case 'failed':
    case 'start-failed':
      return outcome.reason;
    case 'refused':
      return outcome.by;
    case 'denied':
    case 'internal':
      return outcome.code;
    case 'no-status':
      return 'no-status';
    default:
      return undefined;
  }
}

function line(text: string, length: number, redact?: readonly string[]): string {
  // Cut first, so that a hostile megabyte costs nothing, and folded text does not pull in more.
  const read = text.slice(0, MAX_READ_LENGTH);
  const safe = foldRewrites(redact ? redactText(read, redact) : cleanText(read));
  return shorten(safe.replace(/\s+/g, ' ').trim(), length);
}

/** Worst first: a pod fails if one of its containers fails, and succeeds if all succeed. */
const WORST_FIRST: readonly PodState[] = ['failed', 'start-failed', 'timed-out', 'lost', 'cancelled', 'succeeded'];

/** The state of a pod whose containers have all ended; undefined before that. */
export function stateOfResults(results: readonly (PodResult | null)[]): PodState | undefined {
  const states = results.map((result) => result && STATE_OF_OUTCOME[result.outcome]);
  return states.includes(null) ? undefined : WORST_FIRST.find((state) => states.includes(state));
}

/** The result that stands for a pod: that of its worst container, the first among equals. */
export function resultOfPod(results: readonly (PodResult | null)[] | undefined): PodResult | undefined {
  const known = (results ?? []).filter((result) => result !== null);
  const rank = (result: PodResult): number => WORST_FIRST.indexOf(STATE_OF_OUTCOME[result.outcome]);
  return known.reduce<PodResult | undefined>(
    (worst, result) => (worst === undefined || rank(result) < rank(worst) ? result : worst),
    undefined,
  );
}

/** The batch as people see it who may not see what its containers wrote: no finding and no message of theirs. */
export const withoutOutput = (batch: Batch): Batch => ({
  ...batch,
  ...defined({ comparison: batch.comparison && { ...batch.comparison, facts: {}, notes: [] } }),
  pods: batch.pods.map((pod) =>
    pod.results ? { ...pod, results: pod.results.map((result) => result && ofCluster(result)) } : pod,
  ),
});

function ofCluster({ looked: _, findings: __, message: ___, facts: ____, ...result }: PodResult): PodResult {
  return result;
}

/** Pods with equal state, exit code, reason and findings. */
export interface ResultGroup {
  readonly state: PodState;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly findings: readonly string[];
  readonly count: number;
  /** The first pods, in the order of the snapshot. */
  readonly examples: readonly Example[];
}

export interface Example {
  readonly name: string;
  /** The report's sentence if it found something: equal codes come with different numbers. */
  readonly verdict?: string;
}

const MAX_EXAMPLES = 5;

/** Groups the ended pods, the largest group first, then in the order of their first pods. O(pods). */
export function groupResults(batch: Batch): readonly ResultGroup[] {
  const groups = new Map<string, { first: BatchPod; count: number; examples: Example[] }>();
  for (const pod of batch.pods) {
    if (pod.endedAtMs === undefined) continue;
    const key = keyOf(pod);
    const group = groups.get(key) ?? { first: pod, count: 0, examples: [] };
    group.count += 1;
    if (group.examples.length < MAX_EXAMPLES) group.examples.push(exampleOf(pod));
    groups.set(key, group);
  }
  return [...groups.values()]
    .sort((a, b) => b.count - a.count)
    .map(({ first, count, examples }) => ({ ...groupOfPod(batch, first), count, examples }));
}

/** The group of which this ended pod is the only member. */
export function groupOfPod(batch: Batch, pod: BatchPod): ResultGroup {
  const result = resultOfPod(pod.results);
  return {
    state: stateOf(batch, pod),
    ...defined({ exitCode: result?.exitCode, reason: result?.reason }),
    findings: findingsOf(pod),
    count: 1,
    examples: [exampleOf(pod)],
  };
}

/** The ended pods outside the largest group, group by group, and that group. O(pods). */
export function outliersOf(batch: Batch): { readonly pods: readonly BatchPod[]; readonly most?: ResultGroup } {
  const [most, ...others] = groupResults(batch);
  if (most === undefined) return { pods: [] };
  const order = new Map(others.map((group, index) => [keyOfGroup(group), index]));
  const orderOf = (pod: BatchPod): number | undefined => order.get(keyOfGroup(groupOfPod(batch, pod)));
  const pods = batch.pods.filter((pod) => pod.endedAtMs !== undefined && orderOf(pod) !== undefined);
  return { pods: pods.toSorted((a, b) => (orderOf(a) ?? 0) - (orderOf(b) ?? 0)), most };
}

const keyOfGroup = ({ state, exitCode, reason, findings }: ResultGroup): string =>
  JSON.stringify([state, exitCode, reason, findings]);

function exampleOf(pod: BatchPod): Example {
  const { findings, message } = resultOfPod(pod.results) ?? {};
  return { name: pod.name, ...defined({ verdict: findings && message }) };
}

/** Findings of all its containers, each once, sorted. */
const findingsOf = ({ results = [] }: BatchPod): readonly string[] =>
  [...new Set(results.flatMap((result) => result?.findings ?? []))].sort();

function keyOf(pod: BatchPod): string {
  const { exitCode, reason } = resultOfPod(pod.results) ?? {};
  return JSON.stringify([pod.state, exitCode, reason, findingsOf(pod)]);
}

/** The pods that a rerun includes: those that ended without success, and those that were never launched. */
export function podsToRerun(batch: Batch): readonly BatchPod[] {
  return batch.pods.filter((pod) => RERUN.has(stateOf(batch, pod)));
}

const RERUN: ReadonlySet<PodState> = new Set(['failed', 'start-failed', 'timed-out', 'lost', 'cancelled']);

export interface Pace {
  readonly perMinute: number;
  /** The estimated time until the last pod ends; undefined if nothing moves. */
  readonly leftMs?: number;
}

/** Excludes time in which nothing could be launched. Undefined before the first pod has ended. */
export function paceOf(batch: Batch, counts: Counts, nowMs: number): Pace | undefined {
  const { firstLaunchAtMs, idleMs, idleSinceMs, endedAtMs } = batch;
  const ended = endedOf(counts);
  if (firstLaunchAtMs === undefined || ended === 0) return undefined;
  const untilMs = endedAtMs ?? idleSinceMs ?? nowMs;
  const workedMs = Math.max(1, untilMs - firstLaunchAtMs - idleMs);
  const left = counts.queued + counts.starting + counts.running;
  const isMoving = endedAtMs === undefined && idleSinceMs === undefined && left > 0;
  return {
    perMinute: (ended * 60_000) / workedMs,
    ...defined({ leftMs: isMoving ? (left * workedMs) / ended : undefined }),
  };
}
