import { findNamedValues, NAMED_ANCHORS } from './named-value.ts';
import { BASE64_ANCHORS, findBase64Secrets, findPhrases, findUrlPasswords, PHRASE_ANCHORS } from './secret-forms.ts';
import { matchesIn, mergeRanges, type SecretRange, type Span } from './secret-range.ts';
import { acceptedRule, TOKEN_PATTERN, TOKEN_RULES } from './secret-tokens.ts';

/** Every secret that `findSecrets` finds without the policy's patterns contains one of these, or an `@` after `://`. */
export const SECRET_ANCHORS: readonly string[] = [
  ...TOKEN_RULES.flatMap((rule) => rule.anchors),
  ...NAMED_ANCHORS,
  ...BASE64_ANCHORS,
  ...PHRASE_ANCHORS,
];

const WORD_REST = /[\w-]*/y;

/** A secret extends to the end of its word: characters that directly follow a token probably belong to it. */
function wholeWord(text: string, end: number): number {
  WORD_REST.lastIndex = end;
  return end + (WORD_REST.exec(text)?.[0].length ?? 0);
}

function* findTokens(span: Span): Generator<SecretRange> {
  /** The end of the last word examined: one word may hold many tokens. */
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
 * The secrets that start in the span, in order, without overlap. Where several finders match the same characters, their
 * union is one secret with the kind of the one that starts first. Letters that look Latin are also read as Latin.
 * Linear in the text, except for the policy's patterns.
 */
export function findSecrets(span: Span, patterns: readonly RegExp[]): readonly SecretRange[] {
  const folded = foldLookAlikes(span.text);
  return mergeRanges([
    ...findAll(span, patterns),
    ...(folded === undefined ? [] : findAll({ ...span, text: folded }, patterns)),
  ]);
}

/** Letters of other alphabets that look Latin, in the order of `LATIN`. */
const FOREIGN = 'асԁеһіјкӏморԛѕтуѵԝхАВСЕНІЈКМОРЅТУХαερικνουγωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ';
const LATIN = 'acdehijklmopqstuvwxABCEHIJKMOPSTYXaepikvouywABEZHIKMNOPTYX';

const LATIN_OF: ReadonlyMap<string, string> = new Map(
  [...FOREIGN].map((letter, index) => [letter, LATIN[index] ?? letter]),
);
const LOOK_ALIKE = /[\uff01-\uff5e\u3000\u0370-\u03ff\u0400-\u052f]/;
const LOOK_ALIKES = new RegExp(LOOK_ALIKE, 'g');
const FULL_WIDTH = 0xfee0;

function latinOf(letter: string): string {
  const code = letter.charCodeAt(0);
  if (code === 0x3000) return ' ';
  return code >= 0xff01 ? String.fromCharCode(code - FULL_WIDTH) : (LATIN_OF.get(letter) ?? letter);
}

/**
 * The text with full-width, Cyrillic and Greek letters replaced by the Latin letters that they look like; undefined if
 * there are none. The length stays the same, so offsets hold for both texts.
 */
export const foldLookAlikes = (text: string): string | undefined =>
  LOOK_ALIKE.test(text) ? text.replace(LOOK_ALIKES, latinOf) : undefined;
