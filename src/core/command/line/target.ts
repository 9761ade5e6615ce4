import { nearest } from '../../../lib/text.ts';
import { isDnsLabel } from '../../container/names.ts';
import type { Target, WorkloadKind } from '../../request/command.ts';
import { type ColumnRange, type Line, type Report, shown, wholeOf } from './line.ts';
import type { Word } from './tokenize.ts';
import { readObjectName, readSelector, type Typed } from './values.ts';

type Kind = 'pod' | WorkloadKind;

/** The shortest kind to check for typos; a mistyped short kind could as well be a namespace (`prod` and `pod`). */
const LONG_KIND = 7;
const LONG_KINDS = ['deployment', 'replicaset', 'statefulset', 'daemonset', 'cronjob'] as const;

/** The kinds allowed before a `/`, with kubectl's plural and short names. */
const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['pod', 'pod'],
  ['pods', 'pod'],
  ['po', 'pod'],
  ['deployment', 'deployment'],
  ['deployments', 'deployment'],
  ['deploy', 'deployment'],
  ['replicaset', 'replicaset'],
  ['replicasets', 'replicaset'],
  ['rs', 'replicaset'],
  ['statefulset', 'statefulset'],
  ['statefulsets', 'statefulset'],
  ['sts', 'statefulset'],
  ['daemonset', 'daemonset'],
  ['daemonsets', 'daemonset'],
  ['ds', 'daemonset'],
  ['job', 'job'],
  ['jobs', 'job'],
  ['cronjob', 'cronjob'],
  ['cronjobs', 'cronjob'],
  ['cj', 'cronjob'],
]);

/** Kinds of kubectl that kdebug cannot aim at; any other word before a `/` is a namespace. */
const OTHER_KINDS: ReadonlySet<string> = new Set(
  'namespace namespaces ns node nodes no service services svc replicationcontroller rc'.split(' '),
);

export const typed = (word: Word): Typed => ({ value: word.text, start: word.start, end: word.end });

export interface Named {
  readonly target: Target;
  /** From `NS/POD`. */
  readonly namespace?: Typed;
}

/**
 * The target of a line; `words` holds its plain words after the verb. Needs exactly one of a name, a selector and
 * `--all`.
 */
export function readTarget(line: Line, words: readonly Word[], report: Report): Named | undefined {
  const [word, extra] = words;
  const [selector] = line.flags.get('selector') ?? [];
  const [all] = line.flags.get('all') ?? [];
  if (extra) return report(unexpectedWord(line, extra));
  const [one, other] = [word, selector && wholeOf(selector), all].filter((range) => range !== undefined);
  if (one && other) return report(tooManyTargets(one.start > other.start ? one : other));
  if (all) return { target: { kind: 'all' } };
  if (selector) return readSelected(selector, report);
  if (word) return readNamed(word, report);
  const hint = 'Name a pod, a workload such as deployment/web, or use -l or --all.';
  return report({ code: 'target_missing', message: 'No pod is named.', hint, ...line.end });
}

function readSelected(given: Typed, report: Report): Named | undefined {
  const selector = readSelector(given, report);
  return selector === undefined ? undefined : { target: { kind: 'selector', selector } };
}

/** `NAME`, `KIND/NAME` or `NS/POD`. Kinds are kubectl's, in upper or lower case; names keep their case. */
export function readNamed(word: Word, report: Report): Named | undefined {
  const slash = word.text.indexOf('/');
  const before = slash < 0 ? 'pod' : word.text.slice(0, slash);
  const kind = KINDS.get(before.toLowerCase());
  if (!kind && isKindLike(before)) return report(unknownKind(before, word));
  const offset = Math.min(word.start + slash + 1, word.end);
  const name = { value: word.text.slice(slash + 1), start: offset, end: word.end };
  if (!kind) return isDnsLabel(before) ? readInNamespace(before, name, { word, report }) : report(noName(word));
  const read = readObjectName(kind)(name, report);
  if (read === undefined) return undefined;
  return { target: kind === 'pod' ? { kind: 'pod', name: read } : { kind: 'workload', workload: kind, name: read } };
}

function readInNamespace(
  namespace: string,
  name: Typed,
  { word, report }: { readonly word: Word; readonly report: Report },
): Named | undefined {
  const read = readObjectName('pod')(name, report);
  const end = Math.min(word.start + namespace.length, word.end);
  return read === undefined
    ? undefined
    : { target: { kind: 'pod', name: read }, namespace: { value: namespace, start: word.start, end } };
}

/** A kind that kdebug does not know, a mistyped long one, or one with a capital letter, which no namespace has. */
function isKindLike(before: string): boolean {
  if (!/^[A-Za-z]+$/.test(before)) return false;
  const lower = before.toLowerCase();
  const isMistyped = before.length >= LONG_KIND && nearest(before, LONG_KINDS) !== undefined;
  return before !== lower || OTHER_KINDS.has(lower) || isMistyped;
}

/** The text before the `/` cannot be a namespace, so the whole word was meant as a name; but no name has a `/`. */
const noName = (word: Word) =>
  ({
    code: 'name_invalid',
    message: `${shown(word.text)} cannot be the name of a pod.`,
    hint: 'Only a kind or a namespace goes before a /, as in deployment/web or shop/web-1.',
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
      : 'Use pod/, deployment/, replicaset/, statefulset/, daemonset/, job/ or cronjob/; a namespace goes after -n.',
    start: word.start,
    end: Math.min(word.start + Math.max(kind.length, 1), word.end),
  } as const;
}

const tooManyTargets = (range: ColumnRange) =>
  ({
    code: 'flag_contradiction',
    message: 'A name, -l and --all exclude each other.',
    hint: 'Keep one of them.',
    start: range.start,
    end: range.end,
  }) as const;

export function unexpectedWord(line: Line, word: Word) {
  const hint =
    line.flags.has('selector') && /^(?:not)?in$/.test(word.text)
      ? "Put the whole selector in quotes: -l 'tier in (a,b)'."
      : 'The command for the container goes after --. Put quotes around a value with spaces.';
  const message = `The word ${shown(word.text)} is unexpected.`;
  return { code: 'word_unexpected', message, hint, start: word.start, end: word.end } as const;
}
