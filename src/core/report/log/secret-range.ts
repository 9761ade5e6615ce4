/** Where a secret is in a text, and its kind for `[redacted:kind]`. */
export interface SecretRange {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

/** Where to search: secrets that start in `[from, to)` of `text`. Text before `from` and after `to` is context. */
export interface Span {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** `text` begins at the start of a line. */
  readonly startsLine: boolean;
}

/** The ranges in order. Overlapping and touching ones are joined under the kind of the one that starts first. */
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

/** Escapes and character classes: their marks neither repeat nor group. The `?` after a `(` belongs to the group. */
const LITERALS = /\\.|\[(?:\\.|[^\]\\])*\]/gs;
const UNBOUNDED = /^(?:[*+]|\{\d+,\})/;

/** Whether a repeated group contains an unbounded repeat: that can take exponential time. */
function repeatsRepeats(source: string): boolean {
  const shape = source.replace(LITERALS, 'x');
  /** For every open group, whether it contains an unbounded repeat. */
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
 * expression, matches the empty text, or could hold up the bot (a repeat inside a repeat, or a back reference).
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

/**
 * A pattern as the filter runs it, with its flags `i`, `u` and `v`. The caller must have checked it with
 * `problemOfPattern`.
 */
export function compilePattern(pattern: RegExp | string): RegExp {
  if (typeof pattern === 'string') return new RegExp(pattern, 'g');
  return new RegExp(pattern.source, `g${pattern.flags.replace(/[^iuv]/g, '')}`);
}
