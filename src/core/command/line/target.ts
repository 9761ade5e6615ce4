import type { Target } from '../command.ts';
import type { Word } from '../tokenize.ts';
import { nearest } from '../values/nearest.ts';
import { readObjectName, readSelector, type Typed } from '../values/read.ts';
import { type Line, type Place, type Report, shown, wholeOf } from './line.ts';

type Kind = 'pod' | Extract<Target, { kind: 'workload' }>['workload'];

/** The kinds before a `/`, with kubectl's plural and short names. */
const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['pod', 'pod'],
  ['pods', 'pod'],
  ['po', 'pod'],
  ['deployment', 'deployment'],
  ['deployments', 'deployment'],
  ['deploy', 'deployment'],
  ['statefulset', 'statefulset'],
  ['statefulsets', 'statefulset'],
  ['sts', 'statefulset'],
  ['daemonset', 'daemonset'],
  ['daemonsets', 'daemonset'],
  ['ds', 'daemonset'],
  ['job', 'job'],
  ['jobs', 'job'],
]);

export const typed = (word: Word): Typed => ({ value: word.text, start: word.start, end: word.end });

/** What the line aims at: `words` holds the plain words after the verb. Exactly one of a name, a selector and `--all` is needed. */
export function readTarget(line: Line, words: readonly Word[], report: Report): Target | undefined {
  const [word, extra] = words;
  const [selector] = line.flags.get('selector') ?? [];
  const [all] = line.flags.get('all') ?? [];
  if (extra) return report(unexpectedWord(line, extra));
  const [one, other] = [word, selector && wholeOf(selector), all].filter((place) => place !== undefined);
  if (one && other) return report(tooManyTargets(one.start > other.start ? one : other));
  if (all) return { kind: 'all' };
  if (selector) return readSelected(selector, report);
  if (word) return readNamed(word, report);
  const hint = 'Name a pod, a workload such as deployment/web, or use -l or --all.';
  return report({ code: 'target_missing', message: 'No pod is named.', hint, ...line.end });
}

function readSelected(given: Typed, report: Report): Target | undefined {
  const selector = readSelector(given, report);
  return selector === undefined ? undefined : { kind: 'selector', selector };
}

/** `NAME` or `KIND/NAME`; the kind, as kubectl has it, in upper or lower case, the name as it is. */
export function readNamed(word: Word, report: Report): Target | undefined {
  const slash = word.text.indexOf('/');
  const kindText = slash < 0 ? 'pod' : word.text.slice(0, slash);
  const kind = KINDS.get(kindText.toLowerCase());
  if (!kind && /^[A-Za-z]+$/.test(kindText)) return report(unknownKind(kindText, word));
  if (!kind) return report(noName(word));
  const offset = Math.min(word.start + slash + 1, word.end);
  const name = readObjectName(kind)({ value: word.text.slice(slash + 1), start: offset, end: word.end }, report);
  if (name === undefined) return undefined;
  return kind === 'pod' ? { kind: 'pod', name } : { kind: 'workload', workload: kind, name };
}

/** What stands before the `/` cannot be a kind, so the whole word was meant as a name, and no name has a `/`. */
const noName = (word: Word) =>
  ({
    code: 'name_invalid',
    message: `${shown(word.text)} cannot be the name of a pod.`,
    hint: 'A name has no /; only a kind goes before one, as in deployment/web.',
    start: word.start,
    end: word.end,
  }) as const;

function unknownKind(kind: string, word: Word) {
  const guess = nearest(kind, [...new Set(KINDS.values())]);
  return {
    code: 'target_kind_unknown',
    message: `kdebug cannot aim at ${shown(kind)}.`,
    hint: guess
      ? `Did you mean ${guess}/?`
      : 'Use pod/, deployment/, statefulset/, daemonset/ or job/; a namespace goes after -n.',
    start: word.start,
    end: Math.min(word.start + Math.max(kind.length, 1), word.end),
  } as const;
}

const tooManyTargets = (place: Place) =>
  ({
    code: 'flag_contradiction',
    message: 'A name, -l and --all exclude each other.',
    hint: 'Keep one of them.',
    start: place.start,
    end: place.end,
  }) as const;

/** One word more than the command can use. */
export function unexpectedWord(line: Line, word: Word) {
  const hint =
    line.flags.has('selector') && /^(?:not)?in$/.test(word.text)
      ? "Put the whole selector in quotes: -l 'tier in (a,b)'."
      : 'What the container runs goes after --; a value that has spaces needs quotes.';
  const message = `The word ${shown(word.text)} is one too many.`;
  return { code: 'word_unexpected', message, hint, start: word.start, end: word.end } as const;
}
