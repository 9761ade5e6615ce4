import { BASE64_ANCHORS, findBase64Secrets } from './base64-secret.ts';
import { findPhrases, PHRASE_ANCHORS } from './credential-phrase.ts';
import { foldLookAlikes } from './look-alikes.ts';
import { findNamedValues, NAMED_ANCHORS } from './named-value.ts';
import { matchesIn, mergeRanges, type SecretRange, type Span } from './secret-range.ts';
import { acceptedRule, TOKEN_PATTERN, TOKEN_RULES } from './secret-tokens.ts';
import { findUrlPasswords } from './url-password.ts';

/** One of these stands in every secret that `findSecrets` can find without patterns, or an `@` after `://` does. */
export const SECRET_ANCHORS: readonly string[] = [
  ...TOKEN_RULES.flatMap((rule) => rule.anchors),
  ...NAMED_ANCHORS,
  ...BASE64_ANCHORS,
  ...PHRASE_ANCHORS,
];

const WORD_REST = /[\w-]*/y;

/** A token takes the rest of its word along: what directly follows a secret is more likely its own than not. */
function wholeWord(text: string, end: number): number {
  WORD_REST.lastIndex = end;
  return end + (WORD_REST.exec(text)?.[0].length ?? 0);
}

function* findTokens(span: Span): Generator<SecretRange> {
  /** Of the word that was looked at last: many tokens may stand in one. */
  let wordEnd = 0;
  for (const match of matchesIn(TOKEN_PATTERN, span)) {
    const rule = acceptedRule(match);
    if (rule === undefined) continue;
    const end = match.index + match[0].length;
    if (end > wordEnd) wordEnd = wholeWord(span.text, end);
    yield { start: match.index, end: wordEnd, kind: rule.kind };
  }
}

function* findPatterns(span: Span, patterns: readonly RegExp[]): Generator<SecretRange> {
  for (const pattern of patterns) {
    for (const match of matchesIn(pattern, span)) {
      yield { start: match.index, end: match.index + match[0].length, kind: 'custom' };
    }
  }
}

function* findAll(span: Span, patterns: readonly RegExp[]): Generator<SecretRange> {
  yield* findTokens(span);
  yield* findNamedValues(span);
  yield* findPhrases(span);
  yield* findUrlPasswords(span);
  yield* findBase64Secrets(span);
  yield* findPatterns(span, patterns);
}

/**
 * The secrets that start in the span, in order, without overlap. Where several finders see the same characters, their
 * union is one secret under the name of the one that starts first. Letters that only look Latin are read as Latin ones, too.
 * Linear in the text, but for the policy's patterns.
 */
export function findSecrets(span: Span, patterns: readonly RegExp[]): readonly SecretRange[] {
  const folded = foldLookAlikes(span.text);
  return mergeRanges([
    ...findAll(span, patterns),
    ...(folded === undefined ? [] : findAll({ ...span, text: folded }, patterns)),
  ]);
}
