/** A secret's place in a text, and what to call it in `[redacted:kind]`. */
export interface SecretRange {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

/** Where to look: secrets that start in `[from, to)` of `text`. Text before `from` and after `to` is context. */
export interface Span {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** `text` begins where a line begins. */
  readonly startsLine: boolean;
}

/** The ranges in order, overlapping and touching ones joined under the name of the one that starts first. */
export function mergeRanges(ranges: readonly SecretRange[]): readonly SecretRange[] {
  const merged: SecretRange[] = [];
  for (const range of [...ranges].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (last === undefined || range.start > last.end) merged.push(range);
    else if (range.end > last.end) merged[merged.length - 1] = { ...last, end: range.end };
  }
  return merged;
}

/** All matches of a global expression that start in the span. */
export function* matchesIn(pattern: RegExp, span: Span): Generator<RegExpExecArray> {
  pattern.lastIndex = span.from;
  for (let match = pattern.exec(span.text); match !== null && match.index < span.to; match = pattern.exec(span.text)) {
    if (match[0] === '') pattern.lastIndex++;
    else yield match;
  }
}

/** The policy's own patterns. They see one line at a time, after cleaning. */

const MAX_PATTERN_LENGTH = 512;

export type PatternProblem = 'too_long' | 'not_a_pattern' | 'matches_nothing' | 'may_never_end';

/** Escapes and character classes, whose marks repeat and group nothing; a `?` after a `(` belongs to the group. */
const LITERALS = /\\.|\[(?:\\.|[^\]\\])*\]/gs;
const UNBOUNDED = /^(?:[*+]|\{\d+,\})/;

/** Whether an unbounded repeat stands inside a repeated group: the shape that takes exponential time. */
function repeatsRepeats(source: string): boolean {
  const shape = source.replace(LITERALS, 'x');
  /** Of every open group: whether it holds an unbounded repeat. */
  const groups: boolean[] = [false];
  for (let at = 0; at < shape.length; at++) {
    let repeats = UNBOUNDED.test(shape.slice(at, at + 16));
    if (shape[at] === '(') groups.push(false);
    if (shape[at] === ')') {
      repeats = groups.pop() ?? false;
      if (repeats && UNBOUNDED.test(shape.slice(at + 1, at + 17))) return true;
    }
    if (repeats) groups[groups.length - 1] = true;
  }
  return false;
}

/**
 * What is wrong with a pattern of `output.redact`, or `undefined`: longer than 512 characters, not a JavaScript regular
 * expression, one that matches the empty text, or one with a repeat inside a repeat or a back reference, which could hold up the bot.
 */
export function problemOfPattern(source: string): PatternProblem | undefined {
  if (source.length > MAX_PATTERN_LENGTH) return 'too_long';
  try {
    if (new RegExp(source).test('')) return 'matches_nothing';
  } catch {
    return 'not_a_pattern';
  }
  return repeatsRepeats(source) || /\\(?:[1-9]|k<)/.test(source) ? 'may_never_end' : undefined;
}

/** A pattern as the filter runs it; the flags `i` and `u` are kept. Patterns with a problem are an error of the caller. */
export function compilePattern(pattern: RegExp | string): RegExp {
  if (typeof pattern === 'string') return new RegExp(pattern, 'g');
  return new RegExp(pattern.source, `g${pattern.flags.replace(/[^iuv]/g, '')}`);
}
