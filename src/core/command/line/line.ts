import { nearest, shorten } from '../../../lib/text.ts';
import type { CommandError } from '../../request/command.ts';
import { COMMAND } from '../../shown-names.ts';
import {
  FLAGS,
  type FlagName,
  flagNamed,
  flagOfLetter,
  IGNORED,
  type KnownFlag,
  KUBECTL_ONLY,
  WHY_IGNORED,
} from './flags.ts';
import type { Word } from './tokenize.ts';

/** A `CommandError` without the line it points at. */
export type Problem = Omit<CommandError, 'text'>;

/** Records a problem; the person sees the leftmost one. Returns `undefined`, so that readers can `return report(…)`. */
export type Report = (problem: Problem) => undefined;

export interface ColumnRange {
  readonly start: number;
  readonly end: number;
}

/** A flag as typed; the range is its value's, or the whole word for a switch. */
export interface GivenFlag extends ColumnRange {
  readonly flag: KnownFlag;
  readonly value: string;
  /** First column of the flag itself. */
  readonly from: number;
}

/** The range of flag and value together. */
export const wholeOf = (given: GivenFlag): ColumnRange => ({ start: given.from, end: given.end });

/** A line with its words sorted by kind; only the flags' names are validated yet. */
export interface Line {
  readonly words: readonly Word[];
  readonly flags: ReadonlyMap<FlagName, readonly GivenFlag[]>;
  /** The words after `--`, verbatim; `undefined` without a `--`. */
  readonly command?: readonly Word[];
  /** The range of `--`. */
  readonly separator?: ColumnRange;
  /** `--help` or `-h` occurs before `--`. */
  readonly help: boolean;
  /** The place of something missing. */
  readonly end: ColumnRange;
}

/** A flag before validation of its value. */
interface FlagWord {
  readonly flag: KnownFlag;
  readonly inline?: { readonly value: string } & ColumnRange;
}

/** A word in quotes for a message: on one line, at most 40 characters. */
export function shown(word: string): string {
  return `"${shorten(word, 40).replace(/\s/g, ' ')}"`;
}

/**
 * Sorts words into flags, plain words and the command after `--`, or returns the problem of the first wrong flag.
 * Linear in the number of words.
 */
export function readLine(words: readonly Word[], end: number): Line | Problem {
  const dashes = words.findIndex((word) => word.text === '--' && !word.quoted);
  const separator = words[dashes];
  const before = separator ? words.slice(0, dashes) : words;
  const plain: Word[] = [];
  const flags = new Map<FlagName, GivenFlag[]>();
  for (let index = 0; index < before.length; index += 1) {
    const word = before[index];
    if (!word || isHelp(word) || isIgnored(word)) continue;
    const consumed = isFlagLike(word) ? readFlag(word, words[index + 1], flags) : plain.push(word) && 0;
    if (typeof consumed === 'object') return consumed;
    index += consumed;
  }
  const line = { words: plain, flags, help: before.some(isHelp), end: { start: end, end } };
  return separator ? { ...line, separator, command: words.slice(dashes + 1) } : line;
}

export const isHelp = (word: Word): boolean => word.text === '--help' || word.text === '-h';

/** `-it`, `--tty=false`: a flag that kdebug ignores. */
const isIgnored = ({ text, quoted }: Word): boolean =>
  !quoted && IGNORED.has(/^--?([a-z]+)(?:=.*)?$/s.exec(text)?.[1] ?? '');

/** Tells the person which flags kdebug ignored. */
export function notesOn(words: readonly Word[]): readonly string[] {
  const dashes = words.findIndex((word) => word.text === '--' && !word.quoted);
  const ignored = words.slice(0, dashes < 0 ? undefined : dashes).filter(isIgnored);
  const names = [...new Set(ignored.map(({ text }) => text.slice(0, 20)))];
  return names.length === 0
    ? []
    : [`${names.join(' and ')} ${names.length === 1 ? 'was' : 'were'} left out: ${WHY_IGNORED}.`];
}

const isFlagLike = (word: Word): boolean => word.text.length > 1 && word.text.startsWith('-');

/** Adds the flag to `flags`; returns how many further words its value took. */
function readFlag(word: Word, next: Word | undefined, flags: Map<FlagName, GivenFlag[]>): number | Problem {
  const found = readFlagWord(word);
  if ('code' in found) return found;
  const { flag, inline } = found;
  const isSwitch = flag.value === 'switch';
  const usesNext = !isSwitch && !inline && next !== undefined && (next.quoted || !next.text.startsWith('-'));
  const source = usesNext ? next : undefined;
  const earlier = flags.get(flag.name);
  const problem = isSwitch ? switchProblem(found, word) : valueProblem(found, word, source);
  if (problem) return problem;
  if (earlier && !flag.repeatable) return repeated(flag, word);
  const given = { flag, from: word.start, ...readValue(word, source, inline) };
  if (earlier) earlier.push(given);
  else flags.set(flag.name, [given]);
  return usesNext ? 1 : 0;
}

function readValue(word: Word, next: Word | undefined, inline: FlagWord['inline']): { value: string } & ColumnRange {
  if (inline) return inline;
  const source = next ?? word;
  return { value: next?.text ?? '', start: source.start, end: source.end };
}

function readFlagWord(word: Word): FlagWord | Problem {
  const isLong = word.text.startsWith('--');
  const equals = word.text.indexOf('=');
  const name = word.text.slice(isLong ? 2 : 1, equals < 0 ? undefined : equals);
  const flag = isLong ? flagNamed(name) : letterOf(word.text, name);
  if (!flag) return unknownFlag(name, word);
  if (isLong) return equals < 0 ? { flag } : { flag, inline: inlineFrom(word, equals + 1) };
  if (word.text.length === 2) return { flag };
  return { flag, inline: inlineFrom(word, word.text.charAt(2) === '=' ? 3 : 2) };
}

/**
 * `-n`, `-n=shop` and `-nshop`. But `-namespace` is a long flag without its second hyphen, not the namespace
 * `amespace`.
 */
function letterOf(text: string, name: string): KnownFlag | undefined {
  if (name.length > 1 && (flagNamed(name) || KUBECTL_ONLY.has(name))) return undefined;
  return flagOfLetter(text.charAt(1));
}

/** The columns are exact if nothing before the value was quoted, as people usually write. */
const inlineFrom = (word: Word, offset: number): { value: string } & ColumnRange => ({
  value: word.text.slice(offset),
  start: Math.min(word.start + offset, word.end),
  end: word.end,
});

const at = (range: ColumnRange): ColumnRange => ({ start: range.start, end: range.end });

const repeated = (flag: KnownFlag, word: Word): Problem => ({
  code: 'flag_repeated',
  message: `--${flag.name} is given twice.`,
  hint: 'Keep one of the two.',
  ...at(word),
});

function switchProblem({ flag, inline }: FlagWord, word: Word): Problem | undefined {
  if (!inline) return undefined;
  const message = `--${flag.name} takes no value.`;
  return { code: 'flag_value_unexpected', message, hint: `Write --${flag.name} alone, or leave it out.`, ...at(word) };
}

function valueProblem({ flag, inline }: FlagWord, word: Word, next: Word | undefined): Problem | undefined {
  const value = inline?.value ?? next?.text;
  if (value !== undefined && value !== '') return undefined;
  return {
    code: 'flag_value_missing',
    message: `--${flag.name} needs a value.`,
    hint: `For example: ${flag.example}`,
    ...at(next ?? word),
  };
}

function unknownFlag(name: string, word: Word): Problem {
  const reason = KUBECTL_ONLY.get(name);
  const flag = word.text.startsWith('--') ? `--${name}` : `-${name}`;
  if (reason !== undefined) {
    return {
      code: 'flag_unsupported',
      message: `${shown(flag)} has no meaning here.`,
      hint: reason,
      ...at(word),
    };
  }
  const guess = nearest(
    name,
    FLAGS.map((known) => known.name),
  );
  const hint = guess
    ? `Did you mean --${guess}?`
    : `Type ${COMMAND} help flags for all of them; what the container runs goes after --.`;
  return { code: 'flag_unknown', message: `There is no flag ${shown(flag)}.`, hint, ...at(word) };
}
