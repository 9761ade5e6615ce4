import { RE2JS, RE2JSSyntaxException } from 're2js';

/**
 * Regular expressions that others write, in the syntax of RE2 (as in Go). Its engine reads a text once, whatever pattern
 * and text are; that of JavaScript may never end.
 */

const MAX_LENGTH = 512;
/** What a character costs at most grows with it: 35 ns a state. */
const MAX_STATES = 500;
/** Of all patterns that read the same text: whoever writes a log makes each of them cost what it can, in every line. */
const MAX_STATES_OF_ALL = 1_000;
/** States times characters that a pattern may search again in one text, after its matches. */
const MAX_STEPS = 16 * 1024 * 1024;

/** What RE2 does not have, by the part that it names, and what to write instead. */
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
 * What is wrong with a pattern, in words, or `undefined`: longer than 512 characters, no pattern of RE2, matches the
 * empty text, or needs more than 500 states.
 */
export function problemOfPattern(source: string): string | undefined {
  if (source.length > MAX_LENGTH) return 'is too long for a pattern: split it';
  try {
    const pattern = new LinearPattern(source);
    if (pattern.isIn('')) return 'matches the empty text, so it would redact everywhere';
    if (pattern.states > MAX_STATES) return 'takes too long for each character: lower the bounds of its repeats';
    return [...source.matchAll(PARTS)].map(([part]) => problemOf(part)).find((problem) => problem !== undefined);
  } catch (thrown) {
    if (!(thrown instanceof RE2JSSyntaxException)) throw thrown;
    // The engine writes the flag before the pattern.
    const part = (thrown.getPattern() ?? '').replace('(?m)', '');
    return problemOf(part) ?? `is not a regular expression (RE2, as in Go): ${thrown.getDescription()}, ${part}`;
  }
}

/** What is wrong with patterns that are right one by one: together they take too long. */
export function problemOfPatterns(sources: readonly string[]): string | undefined {
  const right = sources.filter((source) => problemOfPattern(source) === undefined);
  const states = right.reduce((sum, source) => sum + new LinearPattern(source).states, 0);
  return states > MAX_STATES_OF_ALL
    ? 'take too long together for each character: lower the bounds of their repeats, or join patterns'
    : undefined;
}

export interface PatternMatch {
  readonly start: number;
  readonly end: number;
}

/** A pattern over lines; see `problemOfPattern` for which are safe. */
export class LinearPattern {
  /** Its size. */
  readonly states: number;
  readonly #pattern: RE2JS;

  /** @throws Error if the source is not a pattern */
  constructor(source: string) {
    this.#pattern = RE2JS.compile(source, RE2JS.MULTILINE);
    this.states = this.#pattern.programSize();
  }

  /** Whether it matches somewhere. What matches in a line also matches in lines that hold it. */
  isIn(text: string): boolean {
    return this.#pattern.test(text);
  }

  /**
   * Its matches from `from` on, in order, without the empty ones. A pattern that reads far beyond each of many matches
   * gets 16 million steps; then the rest of the text is one match. In 1,000 characters there are never so many.
   */
  *matchesIn(text: string, from: number): Generator<PatternMatch> {
    if (!this.isIn(text)) return;
    const matcher = this.#pattern.matcher(text);
    let steps = 0;
    for (let at = from; at <= text.length && matcher.find(at); ) {
      const [start, end] = [matcher.start(), matcher.end()];
      if (end > start) yield { start, end };
      at = Math.max(end, start + 1);
      steps += this.states * (text.length - at);
      if (steps > MAX_STEPS) {
        yield { start: at, end: text.length };
        return;
      }
    }
  }
}
