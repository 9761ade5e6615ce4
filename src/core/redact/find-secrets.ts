import type { PatternSearch } from '../../lib/patterns/linear-pattern.ts';
import { createAnchorScan, NO_BYTES } from './byte-scan.ts';
import { isClean } from './clean-text.ts';
import { findNamedValues, NAMED_ANCHORS } from './named-value.ts';
import { BASE64_ANCHORS, findBase64Secrets, findPhrases, findUrlPasswords, PHRASE_ANCHORS } from './secret-forms.ts';
import { matchesIn, mergeRanges, type SecretRange, type Span } from './secret-range.ts';
import { acceptedRule, TOKEN_PATTERN, TOKEN_RULES } from './secret-tokens.ts';

const AT_SIGN = 0x40;
const TOKEN_ANCHORS = TOKEN_RULES.flatMap((rule) => rule.anchors);
/** Every secret that `findSecrets` finds without the policy's patterns contains one of these, or an `@` after `://`. */
export const SECRET_ANCHORS: readonly string[] = [
  ...TOKEN_ANCHORS,
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

function* findPatterns(span: Span, patterns: PatternSearch): Generator<SecretRange> {
  for (const { start, end } of patterns.matchesIn(span.text, span)) yield { start, end, kind: 'custom' };
}

type Holds = (bytes: Buffer) => boolean;

function holdsAny(anchors: readonly string[]): Holds {
  const scan = createAnchorScan(anchors);
  return (bytes) => scan(bytes, 0, bytes.length) < bytes.length;
}

/** Each with what a text must hold for it to find anything. */
const FINDERS: readonly (readonly [holds: Holds, find: (span: Span) => Generator<SecretRange>])[] = [
  [holdsAny(TOKEN_ANCHORS), findTokens],
  [holdsAny(NAMED_ANCHORS), findNamedValues],
  [holdsAny(PHRASE_ANCHORS), findPhrases],
  [(bytes) => bytes.includes(AT_SIGN), findUrlPasswords],
  [holdsAny(BASE64_ANCHORS), findBase64Secrets],
];
const scanAnchors = createAnchorScan(SECRET_ANCHORS);
const holdsAnchor: Holds = (bytes) => scanAnchors(bytes, 0, bytes.length) < bytes.length;

/** Most texts hold no anchor, and few more than one kind: that is much quicker to see than to find nothing. */
function* findAll(span: Span, patterns: PatternSearch): Generator<SecretRange> {
  const bytes = Buffer.from(span.text);
  if (holdsAnchor(bytes) || bytes.includes(AT_SIGN))
    for (const [holds, find] of FINDERS) if (holds(bytes)) yield* find(span);
  yield* findPatterns(span, patterns);
}

/**
 * The secrets that start in the span, in order, without overlap. Where several finders match the same characters, their
 * union is one secret with the kind of the one that starts first. Letters that look Latin are also read as Latin.
 * Linear in the text.
 */
export function findSecrets(span: Span, patterns: PatternSearch): readonly SecretRange[] {
  const found = [...findAll(span, patterns)];
  const folded = foldLookAlikes(span.text);
  if (folded !== undefined) found.push(...findAll({ ...span, text: folded }, patterns));
  return mergeRanges(found);
}

/** Letters of other alphabets that look Latin, in the order of `LATIN`. */
const FOREIGN = 'асԁеһіјкӏморԛѕтуѵԝхАВСЕНІЈКМОРЅТУХαερικνουγωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ';
const LATIN = 'acdehijklmopqstuvwxABCEHIJKMOPSTYXaepikvouywABEZHIKMNOPTYX';

const LOOK_ALIKE = /[\uff01-\uff5e\u3000\u0370-\u03ff\u0400-\u052f]/;
const FULL_WIDTH = 0xfee0;

/** For every UTF-16 unit, the one to read instead. */
const READ_AS: Uint16Array = (() => {
  const readAs = Uint16Array.from({ length: 0x10000 }, (_, unit) => unit);
  for (const [index, letter] of [...FOREIGN].entries()) readAs[letter.charCodeAt(0)] = LATIN.charCodeAt(index);
  for (let unit = 0xff01; unit <= 0xff5e; unit++) readAs[unit] = unit - FULL_WIDTH;
  readAs[0x3000] = 0x20;
  return readAs;
})();

/**
 * The text with full-width, Cyrillic and Greek letters replaced by the Latin letters that they look like; undefined if
 * there are none. The length stays the same, so offsets hold for both texts.
 */
function foldLookAlikes(text: string): string | undefined {
  if (!LOOK_ALIKE.test(text)) return undefined;
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) units[at] = READ_AS[text.charCodeAt(at)] ?? 0;
  return Buffer.from(units.buffer).toString('utf16le');
}

const NEWLINE = 0x0a;

/**
 * Finds the lines of a block that hold an anchor in letters that only look Latin: reads the block once, not line by line.
 * Ask with growing offsets.
 */
export class LookAlikes {
  /** Only then does `next` see everything: the block needs no cleaning. */
  readonly isClean: boolean;
  readonly #length: number;
  /** From the line of `#at` on: one unit of the text each, 0 for what no anchor names. */
  readonly #folded: Buffer;
  readonly #text: string;
  #at: number;
  #textAt = 0;
  #atSign = -1;

  /** `start`: a start of a line; lines before it are plain. */
  constructor(bytes: Buffer, start: number) {
    this.#length = bytes.length;
    this.#at = start;
    this.#text = bytes.toString('utf8', start);
    this.isClean = isClean(this.#text) && !this.#text.includes('\ufffd');
    const folded = this.isClean ? foldLookAlikes(this.#text) : undefined;
    this.#folded = folded === undefined ? NO_BYTES : Buffer.alloc(folded.length);
    for (let at = 0; at < this.#folded.length; at++) {
      const unit = folded?.charCodeAt(at) ?? 0;
      if (unit < 0x80) this.#folded[at] = unit;
    }
  }

  /** An offset in the first such line at or after `from`, a start of a line; the block's length if there is none. */
  next(from: number): number {
    const { length } = this.#folded;
    if (length === 0) return this.#length;
    while (this.#at < from) this.#move(this.#folded.indexOf(NEWLINE, this.#textAt) + 1 || length);
    if (this.#atSign < this.#textAt) this.#atSign = this.#folded.indexOf(AT_SIGN, this.#textAt);
    if (this.#atSign === -1) this.#atSign = length;
    const found = scanAnchors(this.#folded, this.#textAt, this.#atSign);
    if (found === length) return this.#length;
    this.#move(this.#folded.lastIndexOf(NEWLINE, found) + 1);
    return this.#at;
  }

  #move(textAt: number): void {
    this.#at += Buffer.byteLength(this.#text.slice(this.#textAt, textAt));
    this.#textAt = textAt;
  }
}
