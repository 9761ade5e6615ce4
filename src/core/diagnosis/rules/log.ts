import { shorten } from '../../../lib/text.ts';
import type { ClusterRule } from '../facts/cluster-rule.ts';
import type { ClusterFacts, LogShape, TargetLog } from '../facts/facts.ts';
import type { Finding } from '../facts/report.ts';
import { troubleIn } from '../logs/log-level.ts';
import { causeOf } from '../reading/causes.ts';
import { ago, quoted } from '../reading/phrases.ts';
import { isOver, isReady, MINUTE_MS, partsOf } from '../reading/pod-containers.ts';

/** Older error lines have mostly healed. */
const NEWS_MS = 10 * MINUTE_MS;
/** Errors of a container's first minute that did not come back belong to its start. */
const START_MS = MINUTE_MS;
/** A single error of a ready pod is news for this long. */
const ONCE_MS = 2 * MINUTE_MS;
const WARNINGS = 3;
const MAX_SENTENCE = 300;

interface Judged {
  readonly shape: LogShape;
  readonly rank: 1 | 2 | 3;
}

/** The pod works, and the program has been silent about it since: it got over it. */
function hasHealed(shape: LogShape, { containerName }: TargetLog, { pod, nowMs }: ClusterFacts): boolean {
  const startedAtMs = Date.parse(
    partsOf(pod).find(({ name }) => name === containerName)?.status?.running?.startedAt ?? '',
  );
  const ageMs = nowMs - shape.lastAtMs;
  const isOfStart = shape.lastAtMs - startedAtMs < START_MS && ageMs > ONCE_MS;
  return isReady(pod) && (isOfStart || (shape.count === 1 && ageMs > ONCE_MS));
}

/** Some libraries call it a warning that they cannot do their work: it counts while it comes again and again. */
const isLastingWarning = ({ line, count, lastAtMs }: LogShape, { nowMs }: ClusterFacts): boolean =>
  count >= WARNINGS && nowMs - lastAtMs <= ONCE_MS && troubleIn(line) === 'strong';

function judgedOf(log: TargetLog, facts: ClusterFacts): readonly Judged[] {
  const newestAtMs = Math.max(...log.shapes.map(({ lastAtMs }) => lastAtMs));
  return log.shapes
    .filter((shape) => facts.nowMs - shape.lastAtMs <= NEWS_MS)
    .flatMap((shape): Judged | readonly Judged[] => {
      if (shape.level === 'warning') return isLastingWarning(shape, facts) ? { shape, rank: 2 } : [];
      if (hasHealed(shape, log, facts)) return { shape, rank: 3 };
      return { shape, rank: shape.level === 'fatal' || !isReady(facts.pod) ? 1 : 2 };
    })
    .toSorted((a, b) => a.rank - b.rank || weightOf(b.shape, newestAtMs) - weightOf(a.shape, newestAtMs));
}

const EXCEPTION = /[a-z](?:Error|Exception)\b/;
/** An exception says more than so many plain lines about it. */
const TIMES_AN_EXCEPTION = 3;

/**
 * A line that names a well-known cause says more than any number of others, as long as it still comes; a request that was
 * answered with 500 is the effect of what the others say.
 */
function weightOf({ line, count, isAccess, lastAtMs }: LogShape, newestAtMs: number): number {
  if (isAccess) return count - 1e9;
  if (causeOf(line) && newestAtMs - lastAtMs <= ONCE_MS) return 1e9 + count;
  return EXCEPTION.test(line) ? TIMES_AN_EXCEPTION * count : count;
}

function findingOf(log: TargetLog, facts: ClusterFacts): Finding | undefined {
  const [worst, ...others] = judgedOf(log, facts);
  if (!worst) return undefined;
  const { shape, rank } = worst;
  const part = partsOf(facts.pod).find(({ name }) => name === log.containerName);
  const cause = causeOf(shape.line);
  const often = shape.count > 1 ? `${shape.count.toLocaleString('en-US')} × ` : '';
  const more = others.length > 0 ? `, and ${others.length} other kind${others.length > 1 ? 's' : ''} of error` : '';
  const name = part?.title ?? log.containerName;
  const head = cause ? `${cause.says}: ${name} logs ` : `${name} logs `;
  const text = shorten(
    `${head}${often}${quoted(shape.line)}, last ${ago(facts.nowMs - shape.lastAtMs)}${more}`,
    MAX_SENTENCE,
  );
  const next = cause?.next ?? `Correct what ${log.containerName} complains of; the lines are in the thread.`;
  return { code: 'log_errors', containerName: log.containerName, value: shape.count, rank, text, next };
}

export const LOG_RULES: readonly ClusterRule[] = [
  {
    code: 'log_errors',
    seenBy: 'cluster',
    section: 'log',
    rank: 2,
    reads: 'the newest 5,000 lines of the log of each running container',
    means: 'A container of the pod writes errors into its log.',
    next: 'Correct what it complains of; the lines are in the thread.',
    source:
      'Lines that say error, fatal or the like, not older than ten minutes, or a warning about a failure three times, not older than two; failing now where one is fatal or the pod is not ready; worth knowing where they belong to the first minute, or came once, and the pod is ready',
    explains: ['probe_failing', 'init_waiting', 'not_ready'],
    find: (facts) => (isOver(facts.pod) ? [] : facts.logs?.flatMap((log) => findingOf(log, facts) ?? [])),
  },
];
