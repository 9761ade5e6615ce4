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
