import { formatCount } from '../../lib/duration.ts';
import { defined } from '../../lib/object.ts';
import { capitalized, shorten } from '../../lib/text.ts';
import { countSiblings } from '../compare/siblings.ts';
import { VERDICT_LINE_LENGTH } from '../line-lengths.ts';
import type { ClusterFacts } from './facts/facts.ts';
import type { Finding } from './facts/report.ts';
import type { Evidence, Verdict } from './facts/verdict.ts';
import { isWrong, MAX_FINDINGS, ordered, shown } from './findings.ts';
import { tailEvidence } from './logs/last-words.ts';
import { lookAtCluster } from './look-at-cluster.ts';
import { changeWords } from './reading/last-change.ts';
import { cleanWords, spanOf } from './reading/phrases.ts';
import { ageOf, isDeleting, isOver, isReady, partsOf } from './reading/pod-containers.ts';
import { MAX_UNSEEN, unseenOf } from './reading/unseen.ts';
import { errorsIn, noiseIn } from './rules/log.ts';

export const MAX_EVIDENCE = 3;
const MAX_EVIDENCE_LINES = 6;

/** Of one pod, in the order in which people should read them. Pure. */
export const findingsIn = (facts: ClusterFacts): readonly Finding[] =>
  ordered(Object.values(lookAtCluster(facts)).flat());

/** Findings that a starting pod waits for; none of them is trouble yet. */
const WAITED_FOR: ReadonlySet<string> = new Set(['init_waiting', 'probe_failing']);

/**
 * A green tick needs all of these: ready, nothing wrong or waited for, all its warnings and each running container's log read, no
 * error in it that may go on.
 */
export function isProvenWell(facts: ClusterFacts, findings: readonly Finding[]): boolean {
  const { pod, events, warnings, logs = [], notRead = [] } = facts;
  if (findings.some((finding) => isWrong(finding) || WAITED_FOR.has(finding.code))) return false;
  const running = partsOf(pod).filter(({ status }) => status?.running);
  const isRead = running.every(({ name }) => logs.some((log) => log.containerName === name && log.lines > 0));
  const isCalm = isRead && noiseIn(facts).isOver;
  const hasWarnings = (events ?? warnings) !== undefined && !notRead.some(({ what }) => what === 'events');
  return isReady(pod) && hasWarnings && running.length > 0 && isCalm;
}

/** The last words of each container that ended wrongly, and the error lines of those that run. */
export function evidenceOf(facts: ClusterFacts, findings: readonly Finding[]): readonly Evidence[] {
  const named = new Set(findings.filter(isWrong).flatMap(({ containerName }) => containerName ?? []));
  const isOfWhole = findings.some((finding) => isWrong(finding) && finding.containerName === undefined);
  const words = (facts.lastWords ?? [])
    .filter(({ containerName }) => named.has(containerName) || isOfWhole)
    .map(({ containerName, line, more }) => ({
      title: `Last words of ${containerName}`,
      lines: [...new Set([...(line === undefined ? [] : [line]), ...more])],
    }));
  const errors = (facts.logs ?? [])
    .filter((log) => named.has(log.containerName) || errorsIn(log, facts).length > 0)
    .map(({ containerName, shapes }) => ({
      title: `Errors in the log of ${containerName}`,
      lines: shapes.map(({ line, count }) => (count > 1 ? `${count.toLocaleString('en-US')} × ${line}` : line)),
    }));
  return [...words, ...errors, ...tailEvidence(facts.logs)]
    .filter(({ lines }) => lines.length > 0)
    .slice(0, MAX_EVIDENCE)
    .map(({ title, lines }) => ({
      title,
      lines: lines.slice(0, MAX_EVIDENCE_LINES).map((line) => cleanWords(line, VERDICT_LINE_LENGTH)),
    }));
}

/** The headline of a pod in which nothing is wrong, as far as it could be seen. */
function quietLine(facts: ClusterFacts, findings: readonly Finding[], isHealthy: boolean): string {
  const repeated = repeatedIn(findings);
  const waited = (isReady(facts.pod) ? undefined : repeated) ?? findings.find(({ code }) => WAITED_FOR.has(code));
  if (!isReady(facts.pod) || waited)
    return `Starting, for ${spanOf(ageOf(facts))} now${waited ? `: ${waited.text}` : ''}`;
  const noise = noiseIn(facts).lines;
  return quietSentence({ well: wellWords(facts, { repeated, isHealthy }), repeated, noise, isHealthy });
}

const repeatedIn = (findings: readonly Finding[]): Finding | undefined =>
  findings.find(({ code }) => code === 'log_errors');

/** `ready, never restarted, no errors in its log`; beside an error that goes on, the less the better. */
function wellWords(facts: ClusterFacts, { repeated, isHealthy }: Pick<Quiet, 'repeated' | 'isHealthy'>): string {
  if (repeated) return 'ready';
  const restarts = partsOf(facts.pod).reduce(
    (sum, { role, status }) => sum + (role === 'init' ? 0 : (status?.restartCount ?? 0)),
    0,
  );
  const often = restarts === 0 ? 'never restarted' : `restarted ${formatCount(restarts, 'time')} in all`;
  return `ready, ${often}${logWords(noiseIn(facts).lines, isHealthy)}`;
}

export const logWords = (noise: number, isCalm: boolean, log = 'its log'): string =>
  noise > 0 ? `, ${formatCount(noise, 'error line')} in ${log}` : isCalm ? `, no errors in ${log}` : '';

interface Quiet {
  readonly well: string;
  /** An error that comes again and again. */
  readonly repeated: Finding | undefined;
  /** Error lines that are only counted. */
  readonly noise: number;
  readonly isHealthy: boolean;
}

/** What is well, then what is worth knowing or what nobody looked at. */
export function quietSentence({ well, repeated, noise, isHealthy }: Quiet): string {
  if (repeated) return capitalized([well, `worth knowing: ${repeated.text}`].filter(Boolean).join('; '));
  if (isHealthy) return `Healthy: ${well}; no look inside yet`;
  return noise > 0 ? capitalized(well) : ['Nothing found so far', well].filter(Boolean).join(': ');
}

/** A finding that is no trouble, and all that there is to say of a pod that is over or going. */
export const STATES: ReadonlySet<string> = new Set(['finished', 'being_deleted', 'helper_runs_on']);

function lineOf(facts: ClusterFacts, findings: readonly Finding[], isHealthy: boolean): string {
  const [worst] = findings;
  const state = findings.find(({ code }) => STATES.has(code));
  const named = worst && isWrong(worst) ? worst : state;
  if (named) return shorten(named.text, VERDICT_LINE_LENGTH);
  if (isOver(facts.pod) || isDeleting(facts.pod)) return 'Nothing of the pod runs any more';
  return shorten(quietLine(facts, findings, isHealthy), VERDICT_LINE_LENGTH);
}

/**
 * Answers for a pod from the API, its last words and its logs, without a container in it. The worst finding's cause is
 * the headline, with the object's own names. `healthy` only where the pod is ready, its warnings and each running
 * container's log were read, and nothing is wrong. Foreign words are clean, bounded, redacted and quoted. Pure: equal
 * facts give equal text.
 */
export function firstAnswer(facts: ClusterFacts): Verdict {
  const findings = findingsIn(facts);
  const isHealthy = isProvenWell(facts, findings);
  const unseen = unseenOf(facts);
  const evidence = evidenceOf(facts, findings);
  return {
    line: lineOf(facts, findings, isHealthy),
    findings: findings.slice(0, MAX_FINDINGS).map(shown),
    readAtMs: facts.nowMs,
    ...defined({
      well:
        isReady(facts.pod) && !findings.some(isWrong)
          ? wellWords(facts, { repeated: repeatedIn(findings), isHealthy })
          : undefined,
      healthy: isHealthy || undefined,
      more: findings.length > MAX_FINDINGS ? findings.length - MAX_FINDINGS : undefined,
      changed: changeWords(facts.workload, [facts.pod], { nowMs: facts.nowMs, isAnyWrong: findings.some(isWrong) }),
      evidence: evidence.length > 0 ? evidence : undefined,
      unseen: unseen.length > 0 ? unseen.slice(0, MAX_UNSEEN) : undefined,
      siblings: countSiblings(facts.pod, facts.versionedPods),
    }),
  };
}
