import { LinearPatterns, type PatternSearch } from '../../lib/patterns/linear-pattern.ts';

/** The place of a secret in a text, and its kind for `[redacted:kind]`. */
export interface SecretRange {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

/** The part to search: secrets that start in `[from, to)` of `text`. Text before `from` and after `to` is context. */
export interface Span {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** `text` begins at the start of a line. */
  readonly startsLine: boolean;
}

/** The ranges in order. Overlapping and touching ones are joined under the kind of the one that starts first. */
export function mergeRanges(ranges: readonly SecretRange[]): readonly SecretRange[] {
  if (ranges.length < 2) return ranges;
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

const COMPILED = new WeakMap<readonly string[], LinearPatterns>();

/**
 * A search for the policy's own patterns (`output.redact`), which are compiled once. They see one line at a time, after
 * cleaning. They must have passed `problemOfPatterns`.
 */
export function searchFor(sources: readonly string[]): PatternSearch {
  const compiled = COMPILED.get(sources) ?? new LinearPatterns(sources);
  COMPILED.set(sources, compiled);
  return compiled.search();
}
