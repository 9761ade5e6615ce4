import type { ContainerTermination } from '../container/pod.ts';
import { cleanText, foldRewrites } from '../report/log/clean-text.ts';
import { redactText } from '../report/log/redact-text.ts';
import { shorten } from '../report/shorten.ts';
import type { Outcome, OutcomeKind } from '../run/outcome.ts';
import type { PodResult, PodState } from './batch.ts';

/** In characters. The kubelet's own limit is 4 KiB; the log has the rest. */
const LONGEST_MESSAGE = 200;
/** As long as a termination message can be. */
const LONGEST_READ = 4_096;
const LONGEST_REASON = 64;
const MOST_FINDINGS = 8;

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
  const reason = line(reasonOf(outcome) ?? termination?.reason ?? '', LONGEST_REASON);
  const said = 'message' in outcome ? outcome.message : (ended.verdict ?? termination?.message ?? ended.message ?? '');
  const message = line(said, LONGEST_MESSAGE, redact);
  const exitCode = termination?.exitCode ?? ('exitCode' in outcome ? outcome.exitCode : undefined);
  const codes = [...new Set(findings.map((code) => line(code, LONGEST_REASON)))].sort().slice(0, MOST_FINDINGS);
  return {
    outcome: outcome.kind,
    ...(exitCode !== undefined && { exitCode }),
    ...(reason !== '' && { reason }),
    ...(message !== '' && { message }),
    ...(codes.length > 0 && { findings: codes }),
    ...(logBytes !== undefined && { logBytes }),
    ...(logDoubt !== undefined && { logDoubt }),
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
  const read = text.slice(0, LONGEST_READ);
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
