import { afterWords, formatBytes, formatDuration } from '../../lib/duration.ts';
import { inMarks, shorten } from '../../lib/text.ts';
import { CARRIER_FOLDER } from '../container/carrier.ts';
import type { OnceMore } from '../container/once-more.ts';
import type { ContainerTermination, Pod } from '../container/pod.ts';
import { endOfDebugger, outcomeOfTermination } from '../container/status.ts';
import type { Outcome } from '../outcome.ts';
import type { Diagnosis } from './facts/report.ts';
import type { Verdict } from './facts/verdict.ts';
import { lastWordsOf } from './logs/last-words.ts';
import { runtimeMessage } from './logs/runtime-message.ts';
import {
  type FirstRun,
  firstRunOf,
  missingMountIn,
  otherwise,
  ranAtOnce,
  sameEndWords,
  whyOnlyThere,
} from './once-more-first-run.ts';
import { quoted, signalWords } from './reading/phrases.ts';
import { podMemoryLimit } from './rules/resources.ts';
import {
  deathIn,
  disturbanceIn,
  lastSeenIn,
  OVERTIME,
  ownLogOf,
  refusalOfTracer,
  startProblemIn,
} from './traced-end.ts';

export interface SecondEnd {
  readonly outcome: Outcome;
  readonly termination: ContainerTermination | undefined;
  /** The end of its log, redacted. */
  readonly logEnd: string;
  /** The time for which kdebug watched. */
  readonly timeoutMs: number;
  /** The container that it ran in. */
  readonly containerName: string | undefined;
  /** The pod after the end, with what its own container did meanwhile. Undefined: gone, or it could not be read. */
  readonly pod: Pod | undefined;
  /** The report of its tracer. */
  readonly report?: Diagnosis | undefined;
  /** The pod is being deleted, or is gone: then the kubelet ends the program, whatever it did. */
  readonly isPodGoing: boolean;
}

const QUOTED_LENGTH = 160;

/** Starts that fail for what the program is; those that fail for the image or the node are no answer about it. */
const OF_PROGRAM: ReadonlySet<string> = new Set([
  'StartError',
  'ContainerCannotRun',
  'RunContainerError',
  'CreateContainerError',
]);

/**
 * The verdict of a second run of a program: its end and the words that give the reason, or that it goes on. An end that only
 * this run met (its own container held the port, a mount that it could not have) is told as such, never as the cause.
 * Undefined where it never ran, or something else ended it: the outcome says so.
 */
export function onceMoreVerdict(onceMore: OnceMore, watched: SecondEnd): Verdict | undefined {
  const end = asOfNow(watched, onceMore);
  const who = whoOf(onceMore);
  const { outcome, pod } = end;
  const first = firstRunOf(pod, onceMore.container);
  if (end.isPodGoing && (outcome.kind === 'succeeded' || outcome.kind === 'failed')) {
    const exitCode = outcome.kind === 'failed' ? outcome.exitCode : 0;
    const text = `${who} ended with exit code ${exitCode} ${lengthOf(end)}, and its pod is being deleted`;
    return verdictWith(text, 'The end of the pod may be why: that says nothing about the program.');
  }
  switch (outcome.kind) {
    case 'succeeded':
      return verdictWith(
        `${who} ended with exit code 0 ${lengthOf(end)}${saying(wordsOf(end))}`,
        otherwise(first, 0) ??
          'Code 0 reports no error: its work is done, or it went into the background, and a container ends with its first process.',
      );
    case 'failed':
      return failure(who, outcome.exitCode, { onceMore, end, first });
    case 'oom-killed':
      return outOfMemory(who, end, onceMore.carrier && lastSeenIn(watched.logEnd));
    case 'start-failed':
      return neverStarted(who, outcome, onceMore);
    case 'timed-out':
      return overtime(who, { onceMore, end, first });
    default:
      return undefined;
  }
}

type StartFailed = Extract<Outcome, { kind: 'start-failed' }>;

function neverStarted(who: string, { reason, message }: StartFailed, { carrier }: OnceMore): Verdict | undefined {
  if (!OF_PROGRAM.has(reason)) return undefined;
  if (carrier && message.includes(CARRIER_FOLDER)) return attention(`${who} ${NO_TRACER}`, UNTRACED);
  return startTrouble(who, quoted(runtimeMessage(message), QUOTED_LENGTH) || reason);
}

const NO_TRACER = 'was not started: its tracer is no longer in the volume, or no program may run there';
const UNTRACED = 'Add --untraced to run it without the tracer: then nothing can end it.';
const NO_REPORT = 'Its tracer left no report that could be believed.';
const UNKNOWN_END = 'Its tracer ends it so when its time is over, but left no report that could be believed.';
const GOES_ON = 'kdebug cannot stop it: it goes on until it ends by itself or its pod is deleted.';

/** Only its own words tell that it has started: a program may wait for its database for hours. */
function overtime(who: string, { onceMore, end, first }: Failed): Verdict {
  const verb = end.report ? 'was' : 'is';
  return verdictWith(
    `${who} ${verb} still running after ${formatDuration(end.timeoutMs)}${saying(wordsOf(end))}`,
    joined(whyOnlyThere(first), onceMore.carrier ? endedWords(end) : GOES_ON),
  );
}

const endedWords = ({ report }: SecondEnd): string =>
  report ? report.verdict : 'Its tracer ends it at that time, but the node has not said so.';

/** `web with the image of revision 41 and without JAVA_OPTS`. */
function whoOf({ container, withoutEnv, revision }: OnceMore): string {
  const differences = [
    revision !== undefined && `with the image of revision ${revision}`,
    withoutEnv.length > 0 && `without ${withoutEnv.join(', ')}`,
  ].filter(Boolean);
  return differences.length === 0 ? container : `${container} ${differences.join(' and ')}`;
}

/** A program that was followed to the end of its time may have ended since. The log is its own, without what its tracer added. */
function asOfNow(watched: SecondEnd, { carrier }: OnceMore): SecondEnd {
  const end = carrier ? { ...watched, logEnd: ownLogOf(watched.logEnd) } : watched;
  const { outcome, pod, containerName, termination: known } = end;
  const isFollowed = outcome.kind === 'timed-out' && !known && pod && containerName !== undefined;
  const termination = isFollowed ? endOfDebugger(pod, containerName) : undefined;
  return termination ? { ...end, termination, outcome: outcomeOfTermination(end.pod, termination, undefined) } : end;
}

interface Failed {
  readonly onceMore: OnceMore;
  readonly end: SecondEnd;
  readonly first: FirstRun | undefined;
}

function failure(who: string, exitCode: number, failed: Failed): Verdict {
  const { onceMore, end, first } = failed;
  const problem = startProblem(who, failed);
  if (problem) return problem;
  const words = wordsOf(end);
  const how = `${who} ended with exit code ${exitCode}${signalWords({ exitCode })} ${lengthOf(end)}`;
  const only = words === undefined ? undefined : onlyHere(how, words, failed);
  if (only) return only;
  const { text, rest } = endText(who, how, { end, words });
  if (onceMore.carrier && !end.report)
    return attention(text, exitCode === OVERTIME ? UNKNOWN_END : joined(otherwise(first, exitCode), NO_REPORT));
  const other = otherwise(first, exitCode);
  if (other !== undefined) return attention(text, joined(rest, other));
  const same = first?.ended && sameEndWords(first.ended.exitCode, exitCode);
  return trouble(text, joined(rest, same, 'Its log below has the lines before.'));
}

function startProblem(who: string, { onceMore, end: { report, termination } }: Failed): Verdict | undefined {
  const notStarted = report && startProblemIn(report);
  if (notStarted !== undefined) return startTrouble(who, quoted(notStarted, QUOTED_LENGTH));
  const refusal = onceMore.carrier && termination && refusalOfTracer(termination);
  return refusal
    ? attention(`${who} was not started: ${quoted(refusal, QUOTED_LENGTH)}`, 'Ask for it again.')
    : undefined;
}

/** For an end that is due to something which only this run met; undefined: it is not. */
function onlyHere(how: string, words: string, { onceMore, end, first }: Failed): Verdict | undefined {
  const disturbance = onceMore.carrier && disturbanceIn(end.report, end.logEnd);
  if (disturbance) return attention(`${how}${saying(words)}`, disturbance);
  if (ranAtOnce(first, end.termination, words))
    return attention(
      `${how}, while its container ran, too${saying(words)}`,
      'That one may hold what this one asks for. Run it once more while its container is down.',
    );
  const mount = missingMountIn(words, onceMore);
  if (mount === undefined) return undefined;
  return attention(
    `${how}, without its mount ${mount} (subPath)${saying(words)}`,
    'Its container has that mount, so this is not why that one ends.',
  );
}

interface LastWords {
  readonly end: SecondEnd;
  readonly words: string | undefined;
}

/** The first line has the death that its tracer saw, where the program itself did not say why it ends. */
function endText(who: string, how: string, { end, words }: LastWords) {
  const death = end.report && deathIn(end.report);
  if (!death || (words !== undefined && !death.isSudden))
    return { text: `${how}${saying(words)}`, rest: death && `It ${death.words}.` };
  return {
    text: `${who} ${death.words}, ${lengthOf(end)}`,
    rest: words && `Its last words: ${quoted(words, QUOTED_LENGTH)}.`,
  };
}

function outOfMemory(who: string, end: SecondEnd, seen: string | undefined): Verdict {
  const killed = `${who} was killed ${lengthOf(end)}: out of memory`;
  const death = end.report && deathIn(end.report);
  const where = death ? `It ${death.words}.` : seen && `Shortly before, its log says: ${quoted(seen, QUOTED_LENGTH)}.`;
  const limit = end.pod && podMemoryLimit(end.pod);
  if (limit === undefined)
    return trouble(killed, joined(where, 'It had no limit of its own, so the pod or the node is short of memory.'));
  return trouble(
    `${killed}, at its pod’s limit of ${formatBytes(limit)}`,
    joined(where, 'Find what it loads at its start, or raise its memory limit above its real need.'),
  );
}

const startTrouble = (who: string, words: string): Verdict =>
  trouble(`${who} did not start: ${words}`, 'Check the command in its manifest and the program in its image.');

const joined = (...sentences: readonly (string | undefined)[]): string => sentences.filter(Boolean).join(' ');
const verdictWith = (text: string, next: string): Verdict => ({ line: text, findings: [{ text, next, rank: 3 }] });
const attention = (text: string, next: string): Verdict => ({ line: text, findings: [{ text, next, rank: 2 }] });
const trouble = (text: string, next: string): Verdict => ({ line: text, findings: [{ text, next, rank: 1 }] });

function lengthOf({ termination }: SecondEnd): string {
  const ms = Date.parse(termination?.finishedAt ?? '') - Date.parse(termination?.startedAt ?? '');
  return Number.isFinite(ms) ? afterWords(Math.max(0, ms)) : 'while nobody watched';
}

/** The line that says why it ended, else the last one. */
function wordsOf({ logEnd, termination, report }: SecondEnd): string | undefined {
  const words = logEnd.trim() === '' && !report ? (termination?.message ?? '') : logEnd;
  return lastWordsOf(words.split('\n'), []).line;
}

const saying = (words: string | undefined): string =>
  words === undefined ? ', without a word' : `: ${inMarks(shorten(words, QUOTED_LENGTH))}`;
