import { shorten } from '../../../lib/text.ts';
import { unmetCondition } from '../../container/pod.ts';
import type { ClusterRule } from '../facts/cluster-rule.ts';
import type { ClusterFacts, LogShape, TargetLog } from '../facts/facts.ts';
import type { Finding } from '../facts/report.ts';
import { troubleIn } from '../logs/log-level.ts';
import { causeOf } from '../reading/causes.ts';
import { ago, quoted } from '../reading/phrases.ts';
import {
  isDeleting,
  isOver,
  isReady,
  isStarting,
  MINUTE_MS,
  type PodPart,
  partsOf,
  SECOND_MS,
} from '../reading/pod-containers.ts';

/** Older error lines have mostly healed. */
const NEWS_MS = 10 * MINUTE_MS;
/** Errors of a container's first minute that did not come back belong to its start. */
const START_MS = MINUTE_MS;
/** A program that has said nothing more of an error for so long got over it. */
const SILENT_MS = 2 * MINUTE_MS;
const WARNINGS = 3;
/** Errors grow in number where the newest ten came within so long, and so many times as fast as those before. */
const SURGE_MS = 5 * MINUTE_MS;
const SURGE = 3;
/** They still come, and did not come all at once. */
const COMES_MS = MINUTE_MS;
const BURST_MS = 20 * SECOND_MS;
/** So many in two minutes, and a fifth of the log, are no line of a program that works. */
const MANY = 50;
/** Less says nothing of the time before. */
const BEFORE_MS = 2 * MINUTE_MS;
const MAX_SENTENCE = 300;

/** Told with a rank, or only counted: it came once, or the program got over it. */
type Standing = 1 | 2 | 3 | 'once' | 'healed';
interface Judged {
  readonly shape: LogShape;
  readonly standing: Standing;
}

/** When the container started and the pod became ready, and now; NaN: not known. */
type Moments = Readonly<Record<'startedAtMs' | 'readyAtMs' | 'nowMs', number>>;

/**
 * Ten lines or more that still come, and for a while. They began after the pod had served, or the newest ten came faster than those
 * before; where they fill a busy log, nothing shows the time before.
 */
function isGrowing(
  { count, lastAtMs, sinceMs, tenthAtMs = Number.NaN }: LogShape,
  log: TargetLog,
  { readyAtMs, nowMs }: Moments,
): boolean {
  if (!(nowMs - lastAtMs <= COMES_MS) || lastAtMs - sinceMs < BURST_MS) return false;
  const readMs = log.firstAtMs ?? Number.NaN;
  const servedMs = Math.max(readMs, readyAtMs);
  if (tenthAtMs >= sinceMs && sinceMs - servedMs >= BEFORE_MS) return true;
  if (5 * count >= log.lines && count * BEFORE_MS >= MANY * Math.max(BEFORE_MS, nowMs - readMs)) return true;
  const [beforeMs, recentMs] = [tenthAtMs - servedMs, nowMs - tenthAtMs];
  return recentMs <= SURGE_MS && beforeMs >= BEFORE_MS && 10 * beforeMs >= SURGE * (count - 10) * recentMs;
}

/** Of its own container alone, after its start: a well-known cause, a fatal line, or one that came only since it lost its traffic. */
function mayExplain(
  shape: LogShape,
  part: PodPart | undefined,
  { pod, nowMs }: Pick<ClusterFacts, 'pod' | 'nowMs'>,
): boolean {
  if (part?.status?.ready || (part && isStarting(part, nowMs))) return false;
  const lostMs = Date.parse(unmetCondition(pod, 'Ready')?.since ?? '');
  const isNew = shape.firstAtMs >= lostMs && lostMs - Date.parse(part?.status?.running?.startedAt ?? '') > START_MS;
  return shape.isFinal === true || causeOf(shape.line) !== undefined || isNew;
}

/**
 * A line of a program that serves is no alarm by itself, whatever its level: a symptom makes it one. What a look or a probe
 * finds raises it as well (`ordered`).
 */
function standingOf(shape: LogShape, log: TargetLog, { pod, nowMs }: ClusterFacts): Standing {
  const part = partsOf(pod).find(({ name }) => name === log.containerName);
  if (!isReady(pod)) return !isDeleting(pod) && mayExplain(shape, part, { pod, nowMs }) ? 1 : 3;
  const moments = momentsOf(part, pod, nowMs);
  if (hasHealed(shape, moments)) return 'healed';
  if (hasRestarted(part, nowMs) || isGrowing(shape, log, moments)) return 2;
  return shape.isFinal || shape.count > 1 ? 3 : 'once';
}

function momentsOf(part: PodPart | undefined, pod: ClusterFacts['pod'], nowMs: number): Moments {
  const startedAtMs = Date.parse(part?.status?.running?.startedAt ?? '');
  return { startedAtMs, readyAtMs: Date.parse(pod.status.readySince ?? '') || startedAtMs, nowMs };
}

/** The program has been silent about it since it served, or for a while. */
function hasHealed({ isFinal, firstAtMs, lastAtMs }: LogShape, { startedAtMs, readyAtMs, nowMs }: Moments): boolean {
  if (isFinal) return false;
  // A pod that became ready long after its start had lost it, and what it said meanwhile is no noise of a start.
  if (lastAtMs < readyAtMs && readyAtMs - startedAtMs <= NEWS_MS) return true;
  return nowMs - lastAtMs > SILENT_MS && (lastAtMs - firstAtMs < BURST_MS || lastAtMs - startedAtMs < START_MS);
}

const hasRestarted = ({ status, ended }: Partial<PodPart> = {}, nowMs: number): boolean =>
  (status?.restartCount ?? 0) > 0 && nowMs - Date.parse(ended?.finishedAt ?? '') <= NEWS_MS;

/** Some libraries call it a warning that they cannot do their work: it counts while it comes again and again. */
const isLastingWarning = ({ line, count, lastAtMs }: LogShape, nowMs: number): boolean =>
  count >= WARNINGS && nowMs - lastAtMs <= SILENT_MS && troubleIn(line) === 'strong';

/** The news of a log. */
export const errorsIn = (log: TargetLog, facts: ClusterFacts): readonly Judged[] =>
  log.shapes
    .filter(({ isFinal, lastAtMs }) => isFinal || facts.nowMs - lastAtMs <= NEWS_MS)
    .filter((shape) => shape.level !== 'warning' || isLastingWarning(shape, facts.nowMs))
    .map((shape) => ({ shape, standing: standingOf(shape, log, facts) }));

/** Error lines that are only worth knowing, and whether the program got over all that it complained of. */
export function noiseIn(facts: ClusterFacts): { readonly lines: number; readonly isOver: boolean } {
  const judged = facts.logs?.flatMap((log) => errorsIn(log, facts)) ?? [];
  const reported = new Set(judged.filter(({ standing }) => typeof standing === 'number').map(({ shape }) => shape));
  const all = facts.logs?.flatMap(({ shapes }) => shapes) ?? [];
  // Old ones are no news, but a log that has them is not without errors.
  const odd = all.filter((shape) => shape.level !== 'warning' && !reported.has(shape));
  const lines = odd.reduce((sum, { count }) => sum + count, 0);
  return { lines, isOver: judged.every(({ standing }) => standing === 'healed') };
}

const EXCEPTION = /[a-z](?:Error|Exception)\b/;
/** An exception says more than so many plain lines about it. */
const TIMES_AN_EXCEPTION = 3;

/**
 * A line that names a well-known cause says more than any number of others, as long as it still comes; a request that was
 * answered with 500 is the effect of what the others say.
 */
function weightOf({ line, count, isAccess, isFinal, lastAtMs }: LogShape, newestAtMs: number): number {
  if (isAccess) return count - 1e9;
  if (causeOf(line) && newestAtMs - lastAtMs <= SILENT_MS) return 1e9 + count;
  if (isFinal) return 1e8 + count;
  return EXCEPTION.test(line) ? TIMES_AN_EXCEPTION * count : count;
}

const OF_PROBES = ['probe_failing', 'not_ready'];

function findingOf(log: TargetLog, facts: ClusterFacts): Finding | undefined {
  const newestAtMs = Math.max(...log.shapes.map(({ lastAtMs }) => lastAtMs));
  const [worst, ...others] = errorsIn(log, facts)
    .flatMap(({ shape, standing }) => (typeof standing === 'number' ? { shape, rank: standing } : []))
    .toSorted((a, b) => a.rank - b.rank || weightOf(b.shape, newestAtMs) - weightOf(a.shape, newestAtMs));
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
  // Of a pod that is ready, what is an alarm explains what a probe finds.
  const explains = [...(cause?.explains ?? []), ...(rank < 3 || isReady(facts.pod) ? OF_PROBES : [])];
  return {
    ...{ code: 'log_errors', containerName: log.containerName, value: shape.count, rank, text, next, explains },
  };
}

export const LOG_RULES: readonly ClusterRule[] = [
  {
    code: 'log_errors',
    seenBy: 'cluster',
    section: 'log',
    rank: 3,
    reads: 'the newest 5,000 lines of the log of each running container',
    means: 'A container of the pod writes errors into its log, again and again or while something is wrong.',
    next: 'Correct what it complains of; the lines are in the thread.',
    source:
      'Lines that say error, fatal or the like, not older than ten minutes, or a warning about a failure three times, not older than two. No alarm by themselves: failing now where its container is not ready once its start had a minute, or what its startup probe allows, and the line names a well-known cause, is fatal, or came only since; about to where the container restarted in the last ten minutes, or where they grow in number and still come: ten that began after the pod had served for two minutes, fifty in two minutes that are a fifth of the log, or the newest ten within five minutes, three times as fast as those of at least two minutes before; or as bad as what they explain. A line that is fatal, or says that something ended for good or was given up, is told as long as the log has it. Others are only counted where they came once, before the pod was ready, or in the first minute and not for two minutes',
    explains: ['init_waiting'],
    find: (facts) => (isOver(facts.pod) ? [] : facts.logs?.flatMap((log) => findingOf(log, facts) ?? [])),
  },
];
