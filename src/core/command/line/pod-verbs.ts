import { defined } from '../../../lib/object.ts';
import { COMPARING_IMAGE, type Command, type Target } from '../../request/command.ts';
import type { Line, Report } from './line.ts';
import { flagReader, readNamespaceFlags, readRequest } from './request.ts';
import { type Named, readNamed, unexpectedWord } from './target.ts';
import type { Word } from './tokenize.ts';
import { readEnvName, readRevision } from './values.ts';

/** The words after a verb, with the flags of the line. */
export interface NamedReading {
  readonly line: Line;
  readonly words: readonly Word[];
  readonly report: Report;
}

/** Allows at most `count` words; reports the first one too many. */
export function noMore({ line, words, report }: NamedReading, count: number): boolean {
  const extra = words[count];
  if (extra) report({ ...unexpectedWord(line, extra), hint: 'Leave it out.' });
  return extra === undefined;
}

/** `describe POD`; also `describe pod POD`, as in kubectl. */
export function readDescribe(reading: NamedReading): Command | undefined {
  const words = withoutKind(reading.words);
  const named = readPod('describe', { ...reading, words });
  const location = readNamespaceFlags(reading.line, reading.report, named);
  return named && { kind: 'describe', pod: named.target.name, ...location };
}

/** `compare POD`; also `compare pod POD`. A run of the diagnosis over the pod and its siblings. */
export function readCompare(reading: NamedReading): Command | undefined {
  const words = withoutKind(reading.words);
  const named = readPod('compare', { ...reading, words });
  const request = named && readRequest(reading.line, words, reading.report);
  if (!request) return undefined;
  const target = { kind: 'compare', name: named.target.name } as const;
  return { kind: 'run', request: { ...request, target, image: COMPARING_IMAGE } };
}

/** `once-more POD`; also `once-more pod POD`. */
export function readOnceMore(reading: NamedReading): Command | undefined {
  const words = withoutKind(reading.words);
  const named = readPod('once-more', { ...reading, words });
  const request = named && readRequest(reading.line, words, reading.report);
  const names = (reading.line.flags.get('without-env') ?? []).map((given) => readEnvName(given, reading.report));
  const imageOf = flagReader(reading.line, reading.report)('image-of', readRevision);
  const untraced = reading.line.flags.has('untraced') || undefined;
  if (!request) return undefined;
  const withoutEnv = [...new Set(names.filter((name) => name !== undefined))];
  return {
    kind: 'run',
    request: { ...request, target: named.target, onceMore: { withoutEnv, ...defined({ imageOf, untraced }) } },
  };
}

export const withoutKind = (words: readonly Word[]): readonly Word[] =>
  words.length > 1 && /^pods?$/i.test(words[0]?.text ?? '') ? words.slice(1) : words;

type NamedPod = Named & { readonly target: Extract<Target, { kind: 'pod' }> };

export function readPod(verb: string, reading: NamedReading): NamedPod | undefined {
  const { line, report, words } = reading;
  const [word] = words;
  const hint = `Name a pod: ${verb} POD`;
  if (!word) return report({ code: 'target_missing', message: 'No pod is named.', hint, ...line.end });
  const named = readNamed(word, report);
  if (!noMore(reading, 1) || !named) return undefined;
  const { target } = named;
  if (target.kind === 'pod') return { ...named, target };
  const message = `${verb} takes a pod.`;
  const one = target.kind === 'workload' ? `Name one of its pods: ${verb} POD` : hint;
  return report({ code: 'target_kind_unknown', message, hint: one, start: word.start, end: word.end });
}
