import { BASE64_ANCHORS, findBase64Secrets } from './base64-secret.ts';
import { findNamedValues, NAMED_ANCHORS } from './named-value.ts';
import { matchesIn, mergeRanges, type SecretRange, type Span } from './secret-range.ts';
import { acceptedRule, TOKEN_PATTERN, TOKEN_RULES } from './secret-tokens.ts';
import { findUrlPasswords } from './url-password.ts';

/** One of these stands in every secret that `findSecrets` can find without patterns, or an `@` after `://` does. */
export const SECRET_ANCHORS: readonly string[] = [
  ...TOKEN_RULES.flatMap((rule) => rule.anchors),
  ...NAMED_ANCHORS,
  ...BASE64_ANCHORS,
];

const WORD_REST = /[\w-]*/y;

/** A token takes the rest of its word along: what directly follows a secret is more likely its own than not. */
function wholeWord(text: string, end: number): number {
  WORD_REST.lastIndex = end;
  return end + (WORD_REST.exec(text)?.[0].length ?? 0);
}

function* findTokens(span: Span): Generator<SecretRange> {
  for (const match of matchesIn(TOKEN_PATTERN, span)) {
    const rule = acceptedRule(match);
    if (rule === undefined) continue;
    yield { start: match.index, end: wholeWord(span.text, match.index + match[0].length), kind: rule.kind };
  }
}

function* findPatterns(span: Span, patterns: readonly RegExp[]): Generator<SecretRange> {
  for (const pattern of patterns) {
    for (const match of matchesIn(pattern, span)) {
      yield { start: match.index, end: match.index + match[0].length, kind: 'custom' };
    }
  }
}

/**
 * The secrets that start in the span, in order, without overlap. Where several finders see the same characters, their
 * union is one secret under the name of the one that starts first. Linear in the text, but for the policy's patterns.
 */
export function findSecrets(span: Span, patterns: readonly RegExp[]): readonly SecretRange[] {
  return mergeRanges([
    ...findTokens(span),
    ...findNamedValues(span),
    ...findUrlPasswords(span),
    ...findBase64Secrets(span),
    ...findPatterns(span, patterns),
  ]);
}
