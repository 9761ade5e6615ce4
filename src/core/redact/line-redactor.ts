import type { PatternSearch } from '../../lib/patterns/linear-pattern.ts';
import { findSecrets } from './find-secrets.ts';
import { findNamedValues } from './named-value.ts';
import { looksLikePassword } from './secret-forms.ts';
import { mergeRanges, type SecretRange, type Span } from './secret-range.ts';

/** Redacts line by line and remembers what it needs for secrets that span several lines. */

const ARMOR = '-----BEGIN';
const ARMOR_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const ARMOR_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** A whole line of a key's body, or a long piece of one after a logger's prefix. */
const ARMOR_LINE =
  /^(?:[\s>|"'+-]*[A-Za-z0-9+/]{1,80}={0,2}(?:\\n)?["',]*|(?:Proc-Type|DEK-Info|Version|Comment): .*)\s*$/;
const ARMOR_PIECE = /[A-Za-z0-9+/]{32,}={0,2}/g;

/** The key of a YAML block scalar, a `name:` whose `value:` follows on the next line, or a key whose value stands below. */
const SECRET_NAME =
  '(?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|[-_]pass|(?:api|access|private|account|signing|encryption|secret|master|auth)[-_.]?key)(?:[-_]?v?\\d{1,3})?';
/** With a tag, which may be redacted already, or an anchor: `!!binary |`, `&a >-2`. */
const BLOCK = '(?:[!&[]\\S*\\s+){0,2}[|>][+-]?\\d?[+-]?';
/** What a logger writes in front. */
const LOGGER = '(?:.{0,80}?[\\]|>])?';
const BLOCK_KEY = new RegExp(`^\\s*(?:-\\s+)?["']?[\\w.-]*${SECRET_NAME}["']?\\s*:\\s*${BLOCK}\\s*$`, 'i');
const NAME_LINE = new RegExp(
  `^${LOGGER}\\s*(?:-\\s+)?["']?(?:name|key)["']?\\s*:\\s*["']?[\\w.-]*${SECRET_NAME}["']?,?\\s*$`,
  'i',
);
const VALUE_BELOW = new RegExp(`^\\s*["']?value["']?\\s*:\\s*(?:${BLOCK})?\\s*$`, 'i');
const VALUE_LINE = new RegExp(`^(${LOGGER}\\s{0,80}["']?value["']?\\s*:\\s*["']?)([^\\s"'](?:.*[^\\s"',])?)`, 'i');
const COMMENT = /(?:^|\s)#\s.*$/s;

/** The key alone, or behind what a logger writes in front. */
const KEY_ABOVE = new RegExp(`(?:^\\s*|[:\\]|>]\\s{1,4})(?:-\\s+)?["']?[\\w.-]*?(${SECRET_NAME})["']?\\s*:\\s*$`, 'i');
/** `the password of the database is:`, `cannot use token:`. */
const WORDS_ABOVE = new RegExp(`(${SECRET_NAME})["']?(?: [\\w-]{1,30}){0,6}\\s*:\\s*$`, 'i');
const NESTED = /^["']?[\w.-]+["']?:(?:\s|$)/;

/** The longest private keys in use (RSA 16384) take about 200 lines. The bounds end every state at last. */
const MAX_ARMOR_LINES = 300;
const MAX_BLOCK_LINES = 100;

/** What an earlier line began: reads the next line. */
type Open = (text: string) => LineScan;

interface LineScan {
  readonly ranges: readonly SecretRange[];
  /** Where what began earlier has ended in the line. */
  readonly from?: number;
  /** All of the line belongs to a key that is already marked. */
  readonly isMarked?: boolean;
  readonly next?: Open | undefined;
}

const indentOf = (text: string): number => text.search(/\S|$/);

/**
 * A private key from its BEGIN to its END. Without an END it runs to the end of the text and continues in the next
 * lines.
 */
function findArmor(text: string, from: number): LineScan {
  const ranges: SecretRange[] = [];
  ARMOR_BEGIN.lastIndex = from;
  for (let begin = ARMOR_BEGIN.exec(text); begin !== null; begin = ARMOR_BEGIN.exec(text)) {
    ARMOR_END.lastIndex = ARMOR_BEGIN.lastIndex;
    if (ARMOR_END.exec(text) === null) {
      ranges.push({ start: begin.index, end: text.length, kind: 'private-key' });
      return { ranges, next: armor(MAX_ARMOR_LINES) };
    }
    ranges.push({ start: begin.index, end: ARMOR_END.lastIndex, kind: 'private-key' });
    ARMOR_BEGIN.lastIndex = ARMOR_END.lastIndex;
  }
  return { ranges };
}

function armor(linesLeft: number): Open | undefined {
  if (linesLeft === 0) return undefined;
  return (text) => {
    ARMOR_END.lastIndex = 0;
    const isEnd = ARMOR_END.exec(text) !== null;
    const next = isEnd ? undefined : armor(linesLeft - 1);
    const end = isEnd ? ARMOR_END.lastIndex : text.length;
    if (isEnd || (text.length < 256 && ARMOR_LINE.test(text))) {
      const range = { start: 0, end, kind: 'private-key' };
      return { ranges: [range], from: end, isMarked: end === text.length, next };
    }
    const ranges = [...text.matchAll(ARMOR_PIECE)].map(({ 0: piece, index }) => ({
      start: index,
      end: index + piece.length,
      kind: 'private-key',
    }));
    return { ranges, next };
  };
}

/** The lines that are indented deeper than the key above them. */
function block(indent: number, linesLeft = MAX_BLOCK_LINES): Open | undefined {
  if (linesLeft === 0) return undefined;
  return (text) => {
    const start = indentOf(text);
    const next = block(indent, linesLeft - 1);
    if (start === text.length) return { ranges: [], next };
    return start <= indent ? { ranges: [] } : { ranges: [{ start, end: text.length, kind: 'secret' }], next };
  };
}

/** Empty lines, comments and other keys may stand between. */
const afterName =
  (linesLeft = 5): Open =>
  (text) => {
    const bare = text.replace(COMMENT, '');
    if (VALUE_BELOW.test(bare)) return { ranges: [], next: block(indentOf(text)) };
    const [, label = '', value = ''] = VALUE_LINE.exec(text) ?? [];
    if (value !== '') return { ranges: [{ start: label.length, end: label.length + value.length, kind: 'secret' }] };
    const goesOn = linesLeft > 0 && (bare.trim() === '' || NESTED.test(bare.trimStart()));
    return goesOn ? { ranges: [], next: afterName(linesLeft - 1) } : { ranges: [] };
  };

/** Below other words than a key, and where it is neither one word nor indented, the line may say anything. */
const below =
  (name: string, indent: number, isKey: boolean): Open =>
  (text) => {
    const value = text.trimStart().replace(/^-\s+/, '');
    if (value.replace(COMMENT, '') === '') return { ranges: [], next: below(name, indent, isKey) };
    const isWord = !/\s/.test(value.trimEnd());
    const mayBeValue = isKey ? isWord || indentOf(text) > indent : isWord && looksLikePassword(value);
    if (!mayBeValue || NESTED.test(value)) return { ranges: [] };
    const named = `${name}: ${value}`;
    const moved = text.length - named.length;
    const found = [...findNamedValues({ text: named, from: 0, to: named.length, startsLine: true })];
    return { ranges: found.map(({ start, end, kind }) => ({ start: start + moved, end: end + moved, kind })) };
  };

function opens(line: string): Open | undefined {
  // All forms are short lines.
  if (line.length > 512 || !line.includes(':')) return undefined;
  const text = line.replace(COMMENT, '');
  if (BLOCK_KEY.test(text)) return block(indentOf(text));
  if (NAME_LINE.test(text)) return afterName();
  if (!text.trimEnd().endsWith(':')) return undefined;
  const key = KEY_ABOVE.exec(text);
  const name = (key ?? WORDS_ABOVE.exec(text))?.[1];
  return name === undefined ? undefined : below(name, indentOf(text), key !== null);
}

/** The clean lines of a text, in which only what an earlier line began is hidden: the rest is, once lines are chosen. */
export function hideSpanning(lines: readonly string[]): readonly string[] {
  const spanning = new LineRedactor();
  return lines.flatMap((line) => spanning.line(line) ?? []);
}

const MAX_HIDDEN = 20;
const MAX_HIDDEN_LENGTH = 256;

/** The state of one log. Call `line` with its lines in order. */
export class LineRedactor {
  /** Secrets redacted so far. A key over several lines counts once. */
  redactions = 0;
  /** Of what it replaced so far, some values that are no ordinary words: they may stand elsewhere without their name. */
  readonly hidden = new Set<string>();
  #open: Open | undefined;
  readonly #patterns: PatternSearch | undefined;

  /** Without patterns it hides only what an earlier line began, which costs little. */
  constructor(patterns?: PatternSearch) {
    this.#patterns = patterns;
  }

  /**
   * The next line may belong to a secret that began earlier, so it must pass through `line` even if it looks harmless.
   */
  get isInsideSecret(): boolean {
    return this.#open !== undefined;
  }

  forget(): void {
    this.#open = undefined;
  }

  /** A whole line, cleaned and without its newline. Undefined if all of it belongs to a key that is already marked. */
  line(text: string): string | undefined {
    const found = this.#find({ text, from: 0, to: text.length, startsLine: true });
    if (this.#open === undefined && found.length === 0 && !text.includes(ARMOR)) {
      this.#open = opens(text);
      return text;
    }
    const carried = this.#open?.(text) ?? { ranges: [] };
    const armored = findArmor(text, carried.from ?? 0);
    this.#open = armored.next ?? carried.next ?? opens(text);

    const ranges = mergeRanges([...carried.ranges, ...armored.ranges, ...found]);
    const isOfKey = carried.ranges.some(({ kind }) => kind === 'private-key');
    this.redactions += Math.max(0, ranges.length - (isOfKey ? carried.ranges.length : 0));
    for (const { start, end } of ranges) this.#remember(text.slice(start, end));
    if (carried.isMarked) return undefined;
    return replaceRanges(text, { from: 0, to: text.length, ranges });
  }

  /** Secrets that start in the span of a line too long to examine in one piece. */
  find(span: Span): readonly SecretRange[] {
    const armor = findArmor(span.text, span.from).ranges.filter((range) => range.start < span.to);
    const ranges = mergeRanges([...armor, ...this.#find(span)]);
    this.redactions += ranges.length;
    return ranges;
  }

  readonly #find = (span: Span): readonly SecretRange[] => (this.#patterns ? findSecrets(span, this.#patterns) : []);

  #remember(value: string): void {
    const isWorthIt = this.hidden.size < MAX_HIDDEN && value.length <= MAX_HIDDEN_LENGTH;
    if (isWorthIt && looksLikePassword(value)) this.hidden.add(value);
  }
}

interface Replacement {
  readonly from: number;
  readonly to: number;
  /** In order, without overlap, none before `from`. */
  readonly ranges: readonly SecretRange[];
}

/** `text` from `from` to `to` with every range replaced by `[redacted:kind]`; a range may reach beyond `to`. */
export function replaceRanges(text: string, { from, to, ranges }: Replacement): string {
  let at = from;
  let result = '';
  for (const { start, end, kind } of ranges) {
    result += `${text.slice(at, start)}[redacted:${kind}]`;
    at = end;
  }
  return result + text.slice(at, Math.max(at, to));
}
