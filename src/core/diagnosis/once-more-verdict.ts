import { afterWords, formatDuration } from '../../lib/duration.ts';
import { shorten } from '../../lib/text.ts';
import type { OnceMore } from '../container/once-more.ts';
import type { ContainerTermination } from '../container/pod.ts';
import type { Outcome } from '../outcome.ts';
import type { Verdict } from './facts/verdict.ts';
import { lastWordsOf } from './logs/last-words.ts';

export interface SecondEnd {
  readonly outcome: Outcome;
  readonly termination: ContainerTermination | undefined;
  /** The end of its log, redacted. */
  readonly logEnd: string;
  /** How long kdebug watched. */
  readonly timeoutMs: number;
  /** The pod is being deleted, or is gone: then the kubelet ends the program, whatever it did. */
  readonly isPodGoing: boolean;
}

const QUOTED_LENGTH = 160;

/**
 * What a second run of a program says: how it ended and its last words, or that it goes on. Undefined where it never ran,
 * or something else ended it: the outcome says so.
 */
export function onceMoreVerdict(onceMore: OnceMore, end: SecondEnd): Verdict | undefined {
  const who = whoOf(onceMore);
  const withImage = onceMore.revision === undefined ? '' : 'with that image ';
  const { outcome, timeoutMs } = end;
  if (end.isPodGoing && (outcome.kind === 'succeeded' || outcome.kind === 'failed')) {
    const exitCode = outcome.kind === 'failed' ? outcome.exitCode : 0;
    const text = `${who} ended with exit code ${exitCode} ${lengthOf(end)}, and its pod is being deleted`;
    return verdictWith(text, 'The end of the pod may be why: that says nothing about the program.');
  }
  switch (outcome.kind) {
    case 'succeeded':
      return verdictWith(
        `${who} ended with exit code 0 ${lengthOf(end)}${quoted(end)}`,
        'Its work was done, or it found none.',
      );
    case 'failed':
      return trouble(
        `${who} ended with exit code ${outcome.exitCode} ${lengthOf(end)}${quoted(end)}`,
        'Its log below has the lines before.',
      );
    case 'oom-killed':
      return trouble(
        `${who} was killed ${lengthOf(end)}: out of memory`,
        'It had no limit of its own, so the pod or the node is short of memory.',
      );
    case 'timed-out':
      return verdictWith(
        `${who} is still running after ${formatDuration(timeoutMs)}: it starts ${withImage}here`,
        'kdebug cannot stop it: it goes on until it ends by itself or its pod is deleted.',
      );
    default:
      return undefined;
  }
}

/** `web with the image of revision 41 and without JAVA_OPTS`. */
function whoOf({ container, withoutEnv, revision }: OnceMore): string {
  const differences = [
    revision !== undefined && `with the image of revision ${revision}`,
    withoutEnv.length > 0 && `without ${withoutEnv.join(', ')}`,
  ].filter(Boolean);
  return differences.length === 0 ? container : `${container} ${differences.join(' and ')}`;
}

const verdictWith = (text: string, next: string): Verdict => ({ line: text, findings: [{ text, next, rank: 3 }] });
const trouble = (text: string, next: string): Verdict => ({ line: text, findings: [{ text, next, rank: 1 }] });

function lengthOf({ termination }: SecondEnd): string {
  const ms = Date.parse(termination?.finishedAt ?? '') - Date.parse(termination?.startedAt ?? '');
  return Number.isFinite(ms) ? afterWords(Math.max(0, ms)) : 'while nobody watched';
}

/** The line that says why it ended, else the last one. */
function quoted({ logEnd, termination }: SecondEnd): string {
  const words = logEnd.trim() === '' ? (termination?.message ?? '') : logEnd;
  const { line } = lastWordsOf(words.split('\n'), []);
  return line === undefined ? ', without a word' : `: “${shorten(line, QUOTED_LENGTH)}”`;
}
