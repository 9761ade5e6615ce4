import { RE2JS, RE2JSSyntaxException, RE2Set } from 're2js';

/**
 * Regular expressions that others write, in the syntax of RE2 (as in Go). Its engine reads a text once, whatever pattern
 * and text are; that of JavaScript may never end.
 */

const MAX_LENGTH = 512;
/** Of all patterns that read the same text: whoever writes a log makes each of them cost what it can, in every line. */
const MAX_STATES = 256;
/**
 * States times characters that the patterns may read again in one text, after their matches: a few milliseconds a
 * hundred thousand.
 */
const MAX_STEPS_AGAIN = 1024 * 1024;
/** Of the table that makes ordinary texts quick. A text made for it fills it up first, which takes longer than reading does. */
const TABLE_BYTES = 128 * 1024;

/** The parts that RE2 does not have, and what to write instead. */
const INSTEAD: readonly (readonly [part: RegExp, problem: string])[] = [
  [/^\(\?<?[=!]/, 'looks ahead or behind, which kdebug does not support: match the text around the secret too'],
  [/^\\(?:[1-9]|k)/, 'has a back reference, which kdebug does not support: write out what may stand there'],
  [/^\\u/, 'has \\u, which kdebug does not support: write \\x{2028} for \\u2028'],
  [/^\\[AzQ]/, 'has \\A, \\z or \\Q, which kdebug does not support: write ^ or $, and a \\ before each mark'],
  [/^\(\?\w*-/, 'takes back a flag, which kdebug does not support: write a flag around one part, (?i:part)'],
  [/^\{\d/, 'repeats more than 1,000 times: lower the bound'],
];

const problemOf = (part: string): string | undefined => INSTEAD.find(([named]) => named.test(part))?.[1];

/** Escapes, character classes, and the beginnings of groups. */
const PARTS = /\\.|\[\]?(?:\\.|[^\]\\])*\]|\(\?[\w-]*/gs;

/**
 * Describes the fault of a pattern, or returns `undefined`: it is longer than 512 characters, no pattern of RE2,
 * matches the empty text, or needs more than 256 states.
 */
export function problemOfPattern(source: string): string | undefined {
  if (source.length > MAX_LENGTH) return 'is too long for a pattern: split it';
  try {
    const pattern = compiled(source);
    if (pattern.test('')) return 'matches the empty text, so it would redact everywhere';
    if (pattern.programSize() > MAX_STATES) return `takes too long for each character: ${SMALLER}`;
    return [...source.matchAll(PARTS)].map(([part]) => problemOf(part)).find((problem) => problem !== undefined);
  } catch (thrown) {
    if (!(thrown instanceof RE2JSSyntaxException)) throw thrown;
    // The engine writes the flag before the pattern.
    const part = (thrown.getPattern() ?? '').replace('(?m)', '');
    return problemOf(part) ?? `is not a regular expression (RE2, as in Go): ${thrown.getDescription()}, ${part}`;
  }
}

const SMALLER = 'lower the bounds of its repeats, or write + for them, which costs nothing here';

/** Describes the fault of patterns that are right one by one: together they take too long. */
export function problemOfPatterns(sources: readonly string[]): string | undefined {
  const right = sources.filter((source) => problemOfPattern(source) === undefined);
  return new LinearPatterns(right).states > MAX_STATES
    ? 'take too long together for each character: lower the bounds of their repeats, write + for them, or join patterns'
    : undefined;
}

const compiled = (source: string): RE2JS => RE2JS.compile(source, RE2JS.MULTILINE);

/** A match may be longer than the pattern has states. */
const isUnbounded = (source: string): boolean => /[*+]|\{\d+,\}/.test(source.replace(PARTS, ''));

interface Size {
  readonly states: number;
  readonly isUnbounded: boolean;
}

interface Compiled extends Size {
  readonly pattern: RE2JS;
}

/** The highest cost of the next match: a bounded pattern reads no further than it is long. */
const stepsFrom = (charactersLeft: number, { states, isUnbounded }: Size): number =>
  states * (isUnbounded ? charactersLeft : Math.min(charactersLeft, states));

/** Patterns over lines; see `problemOfPattern` and `problemOfPatterns` for which are safe. */
export class LinearPatterns {
  /** The size of all. A character takes up to a quarter of a microsecond for each, in a text made for it. */
  readonly states: number;
  readonly #patterns: readonly Compiled[];
  readonly #set = new RE2Set(RE2Set.UNANCHORED, RE2JS.MULTILINE, TABLE_BYTES);

  /** @throws Error if a source is not a pattern */
  constructor(sources: readonly string[]) {
    this.#patterns = sources.map((source) => {
      const pattern = compiled(source);
      return { pattern, states: pattern.programSize(), isUnbounded: isUnbounded(source) };
    });
    this.states = this.#patterns.reduce((sum, { states }) => sum + states, 0);
    for (const source of sources) this.#set.add(source);
  }

  search(): PatternSearch {
    return new PatternSearch(this.states, this.#patterns, this.#set);
  }
}

/** The range in which matches start. */
interface Part {
  readonly from: number;
  readonly to: number;
}

export interface PatternMatch {
  readonly start: number;
  readonly end: number;
}

/** Looks for patterns, and counts what that takes. */
export class PatternSearch {
  /** Of all patterns; 0: there are none. */
  readonly states: number;
  /** States times characters read so far, at most. */
  steps = 0;
  readonly #patterns: readonly Compiled[];
  readonly #set: RE2Set;

  constructor(states: number, patterns: readonly Compiled[], set: RE2Set) {
    this.states = states;
    this.#patterns = patterns;
    this.#set = set;
  }

  /** One of them matches somewhere. A match in a line is also one in every text that holds the line. */
  isIn(text: string): boolean {
    return this.#matching(text).length > 0;
  }

  /**
   * The matches of each that start in `[from, to)`, without the empty ones. Those that read far beyond each of many matches get a
   * million steps; then the rest of the text is one match.
   */
  *matchesIn(text: string, { from, to }: Part): Generator<PatternMatch> {
    let stepsAgain = 0;
    for (const { pattern, ...size } of this.#matching(text)) {
      const matcher = pattern.matcher(text);
      for (let at = from; at < to && matcher.find(at) && matcher.start() < to; ) {
        const [start, end] = [matcher.start(), matcher.end()];
        if (end > start) yield { start, end };
        at = Math.max(end, start + 1);
        const steps = stepsFrom(text.length - at, size);
        this.steps += steps;
        stepsAgain += steps;
        if (stepsAgain <= MAX_STEPS_AGAIN) continue;
        yield { start: at, end: text.length };
        return;
      }
    }
  }

  #matching(text: string): readonly Compiled[] {
    if (this.#patterns.length === 0) return [];
    this.steps += this.states * text.length;
    return this.#set.match(text).flatMap((index) => this.#patterns[index] ?? []);
  }
}
