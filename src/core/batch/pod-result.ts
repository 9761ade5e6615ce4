import { defined } from '../../lib/defined.ts';
import { shorten } from '../../lib/text.ts';
import type { ContainerTermination } from '../container/pod.ts';
import { cleanText, foldRewrites } from '../report/log/clean-text.ts';
import { redactText } from '../report/log/redact-text.ts';
import type { Outcome, OutcomeKind } from '../run/outcome.ts';
import type { Batch, BatchPod, PodResult, PodState } from './batch.ts';
import { type Counts, endedOf, stateOf } from './pod-state.ts';

/** In characters. The kubelet's own limit is 4 KiB; the log has the rest. */
const MAX_MESSAGE_LENGTH = 200;
/** As long as a termination message can be. */
const MAX_READ_LENGTH = 4_096;
const MAX_REASON_LENGTH = 64;
const MAX_FINDINGS = 8;

/** The state of a pod whose only container came to this. A container that was never let in is one that did not start. */
const STATE_OF_OUTCOME: Readonly<Record<OutcomeKind, PodState>> = {
  succeeded: 'succeeded',
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

export interface Ended {
  readonly outcome: Outcome;
  readonly termination?: ContainerTermination;
  readonly findings?: readonly string[];
  /** A report's own word, in place of the termination message that holds it. */
  readonly verdict?: string;
  readonly logBytes?: number;
  readonly logDoubt?: string | undefined;
  /** What to say, where neither the outcome nor the termination does. */
  readonly message?: string;
  /** The policy's own patterns (`output.redact`). */
  readonly redact?: readonly string[];
}

/** What is kept of a container that has ended: one line of each text, cleaned of what acts on a terminal or hides, redacted, and short. */
export function podResult(ended: Ended): PodResult {
  const { outcome, termination, findings = [], logBytes, logDoubt, redact = [] } = ended;
  const reason = line(reasonOf(outcome) ?? termination?.reason ?? '', MAX_REASON_LENGTH);
  const said = 'message' in outcome ? outcome.message : (ended.verdict ?? termination?.message ?? ended.message ?? '');
  const message = line(said, MAX_MESSAGE_LENGTH, redact);
  const exitCode = termination?.exitCode ?? ('exitCode' in outcome ? outcome.exitCode : undefined);
  const codes = [...new Set(findings.map((code) => line(code, MAX_REASON_LENGTH)))].sort().slice(0, MAX_FINDINGS);
  return {
    outcome: outcome.kind,
    ...defined({ exitCode }),
    ...(reason !== '' && { reason }),
    ...(message !== '' && { message }),
    ...(codes.length > 0 && { findings: codes }),
    ...defined({ logBytes, logDoubt }),
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
  // Cut first: a hostile megabyte costs nothing, and what is folded away does not bring more in.
  const read = text.slice(0, MAX_READ_LENGTH);
  const safe = foldRewrites(redact ? redactText(read, redact) : cleanText(read));
  return shorten(safe.replace(/\s+/g, ' ').trim(), length);
}

/** The worst first: a pod fails if any of its containers does, and has succeeded when all have. */
const WORST_FIRST: readonly PodState[] = ['failed', 'start-failed', 'timed-out', 'lost', 'cancelled', 'succeeded'];

/** The state of a pod whose containers have all ended; undefined while one has not. */
export function stateOfResults(results: readonly (PodResult | null)[]): PodState | undefined {
  const states = results.map((result) => result && STATE_OF_OUTCOME[result.outcome]);
  return states.includes(null) ? undefined : WORST_FIRST.find((state) => states.includes(state));
}

/** The result that speaks for a pod: that of its worst container, the first of equals. */
export function resultOfPod(results: readonly (PodResult | null)[] | undefined): PodResult | undefined {
  const known = (results ?? []).filter((result) => result !== null);
  const rank = (result: PodResult): number => WORST_FIRST.indexOf(STATE_OF_OUTCOME[result.outcome]);
  return known.reduce<PodResult | undefined>(
    (worst, result) => (worst === undefined || rank(result) < rank(worst) ? result : worst),
    undefined,
  );
}

/** Pods that came to the same: equal state, exit code, reason and findings. */
export interface ResultGroup {
  readonly state: PodState;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly findings: readonly string[];
  readonly count: number;
  /** The first of them, in the order of the snapshot. */
  readonly examples: readonly Example[];
}

export interface Example {
  readonly name: string;
  /** What its report says, where that found something: equal codes have numbers of their own. */
  readonly verdict?: string;
}

/** Pods that a group names. */
const EXAMPLES = 5;

/** Groups the pods that have ended, the largest first, then in the order in which they first came. In proportion to the batch. */
export function groupResults(batch: Batch): readonly ResultGroup[] {
  const groups = new Map<string, { first: BatchPod; count: number; examples: Example[] }>();
  for (const pod of batch.pods) {
    if (pod.endedAtMs === undefined) continue;
    const key = keyOf(pod);
    const group = groups.get(key) ?? { first: pod, count: 0, examples: [] };
    group.count += 1;
    if (group.examples.length < EXAMPLES) group.examples.push(exampleOf(pod));
    groups.set(key, group);
  }
  return [...groups.values()]
    .sort((a, b) => b.count - a.count)
    .map(({ first, count, examples }) => {
      const result = resultOfPod(first.results);
      return {
        state: stateOf(batch, first),
        ...(result?.exitCode !== undefined && { exitCode: result.exitCode }),
        ...(result?.reason !== undefined && { reason: result.reason }),
        findings: findingsOf(first),
        count,
        examples,
      };
    });
}

function exampleOf(pod: BatchPod): Example {
  const { findings, message } = resultOfPod(pod.results) ?? {};
  return { name: pod.name, ...(findings && message !== undefined && { verdict: message }) };
}

/** Of all its containers, each once, sorted. */
const findingsOf = ({ results = [] }: BatchPod): readonly string[] =>
  [...new Set(results.flatMap((result) => result?.findings ?? []))].sort();

function keyOf(pod: BatchPod): string {
  const { exitCode, reason } = resultOfPod(pod.results) ?? {};
  return JSON.stringify([pod.state, exitCode, reason, findingsOf(pod)]);
}

/** Pods that a rerun takes up again: what ended and did not succeed, and what never had its turn. */
export function podsToRerun(batch: Batch): readonly BatchPod[] {
  return batch.pods.filter((pod) => RERUN.has(stateOf(batch, pod)));
}

const RERUN: ReadonlySet<PodState> = new Set(['failed', 'start-failed', 'timed-out', 'lost', 'cancelled']);

/** How fast it goes, from what has ended so far. */
export interface Pace {
  /** Pods a minute. */
  readonly perMinute: number;
  /** Until the last one ends, if it goes on like this; undefined while nobody can know. */
  readonly leftMs?: number;
}

/** Time in which nothing could be launched does not count. Undefined before the first pod has ended. */
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
    ...(isMoving && { leftMs: (left * workedMs) / ended }),
  };
}
