import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { random } from '../random.ts';
import { atomsOf } from './expression-atoms.ts';

/** Shows that a function of text takes time in proportion to the length of its text. */

/** A text of any length: `repeat` over and over, between `start` and `end`. */
export interface Hostile {
  readonly start?: string;
  readonly repeat: string;
  readonly end?: string;
}

interface GrowthOptions {
  /** Characters of the shortest text; each next one is twice as long. */
  readonly shortest?: number;
  /** No text is longer than so many characters. */
  readonly longest?: number;
  /** What `time(2n)/time(n)` must stay below. */
  readonly bound?: number;
  /** Milliseconds that one run takes; default: processor time of this process. */
  readonly meter?: Meter;
}

type Meter = (run: (text: string) => unknown, text: string) => number;

interface Slow {
  readonly text: Hostile;
  readonly characters: number;
  readonly ratio: number;
  readonly milliseconds: number;
}

/** A time below this says nothing: the run is too short to be measured. */
const MEASURABLE_MS = 2;
/** Longer texts are not needed to know the ratio. */
const ENOUGH_MS = 25;
const ATTEMPTS = 3;
const RUNS = 3;
/** So many examples are enough. */
const EXAMPLES = 5;

/** So many characters in all, start and end included. */
export function textOf({ start = '', repeat, end = '' }: Hostile, length: number): string {
  const room = Math.max(0, length - start.length - end.length);
  return start + repeat.repeat(Math.ceil(room / repeat.length)).slice(0, room) + end;
}

/** Processor time of this process, in milliseconds: what other processes take does not count. */
const processorTime: Meter = (run, text) => {
  const before = process.cpuUsage();
  run(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

/** The text, when doubling it takes more than `bound` times as long, however often it is measured. */
function slowOver(
  run: (text: string) => unknown,
  text: Hostile,
  { shortest = 1024, longest = 32 * 1024, bound = 3, meter = processorTime }: GrowthOptions = {},
): Slow | undefined {
  const timeOf = (length: number): number => meter(run, textOf(text, length));
  const fastest = (length: number): number => Math.min(...Array.from({ length: RUNS }, () => timeOf(length)));
  let characters = shortest;
  let shorter = timeOf(characters);
  let longer = shorter;
  while (2 * characters <= longest && longer < ENOUGH_MS) {
    characters *= 2;
    shorter = longer;
    longer = timeOf(characters);
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (longer < MEASURABLE_MS || longer < bound * shorter) return undefined;
    shorter = Math.min(shorter, fastest(characters / 2));
    longer = fastest(characters);
    // The first measure of the shorter one may have been lucky: the next attempt takes its own.
    if (longer >= bound * shorter && attempt < ATTEMPTS - 1) shorter = fastest(characters / 2);
  }
  return longer < bound * shorter
    ? undefined
    : { text, characters, ratio: longer / Math.max(shorter, 0.001), milliseconds: longer };
}

/** The first five texts for which the time grows faster than linear. An empty answer is the proof. */
export function slowTexts(
  run: (text: string) => unknown,
  texts: Iterable<Hostile | string>,
  options: GrowthOptions = {},
): readonly Slow[] {
  const slow: Slow[] = [];
  for (const text of texts) {
    const found = slowOver(run, typeof text === 'string' ? { repeat: text } : text, options);
    if (found !== undefined) slow.push(found);
    if (slow.length === EXAMPLES) break;
  }
  return slow;
}

/** Every regular expression and every string of a TypeScript file: what its expressions can be made of. */
function expressionsIn(file: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) found.push(node.text.slice(1, node.text.lastIndexOf('/')));
    else if (ts.isImportDeclaration(node)) return;
    else if (ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
  return found;
}

/** The alphabet of some source files: every character class (its edges) and every literal that their expressions name. */
export function alphabetOf(files: readonly string[]): readonly string[] {
  return [...new Set(files.flatMap(expressionsIn).flatMap(atomsOf))];
}

/**
 * Texts over an alphabet: each atom alone, each pair (a sample of `pairs` when there are more), a sample of `chains` of
 * three to five atoms, and as many texts in which one atom stands first and others are repeated behind it.
 */
export function* textsOver(
  alphabet: readonly string[],
  { pairs = 2000, chains = 500, seed = 1 }: { pairs?: number; chains?: number; seed?: number } = {},
): Generator<Hostile> {
  const draw = random(seed);
  const atom = (): string => alphabet[Math.floor(draw() * alphabet.length)] as string;
  for (const repeat of alphabet) yield { repeat };
  const share = Math.min(1, pairs / alphabet.length ** 2);
  for (const first of alphabet)
    for (const second of alphabet) if (share === 1 || draw() < share) yield { repeat: first + second };
  for (let count = 0; count < chains; count++) {
    const links = Array.from({ length: 3 + Math.floor(draw() * 3) }, atom);
    yield { repeat: links.join('') };
    yield { start: atom(), repeat: links.slice(0, 2).join(''), end: atom() };
  }
}
