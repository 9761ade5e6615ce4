import type { PatternSearch } from '../../lib/patterns/linear-pattern.ts';
import { findSecrets } from './find-secrets.ts';
import { mergeRanges, type SecretRange, type Span } from './secret-range.ts';

/** Redacts line by line and remembers what it needs for secrets that span several lines. */

const ARMOR = '-----BEGIN';
const ARMOR_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const ARMOR_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** A whole line of a key's body, or a long piece of one after a logger's prefix. */
const ARMOR_LINE =
  /^(?:[\s>|"'+-]*[A-Za-z0-9+/]{1,80}={0,2}(?:\\n)?["',]*|(?:Proc-Type|DEK-Info|Version|Comment): .*)\s*$/;
const ARMOR_PIECE = /[A-Za-z0-9+/]{32,}={0,2}/g;

/** The key of a YAML block scalar, or a `name:` whose `value:` follows on the next line. */
const SECRET_NAME =
  '(?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|[-_]pass|(?:api|access|private|account|signing|encryption|secret|master|auth)[-_.]?key)(?:[-_]?v?\\d{1,3})?';
const BLOCK_KEY = new RegExp(`^(\\s*)(?:-\\s+)?["']?[\\w.-]*${SECRET_NAME}["']?:\\s*[|>][+-]?\\d?\\s*$`, 'i');
const NAME_LINE = new RegExp(`^\\s*(?:-\\s+)?["']?name["']?:\\s*["']?[\\w.-]*${SECRET_NAME}["']?,?\\s*$`, 'i');
const VALUE_LINE = /^(\s*["']?value["']?:\s*["']?)([^\s"'](?:.*[^\s"',])?)/i;

/** The longest private keys in use (RSA 16384) take about 200 lines. The bounds end every state at last. */
const MAX_ARMOR_LINES = 300;
const MAX_BLOCK_LINES = 100;

type Open =
  | { readonly kind: 'armor'; readonly linesLeft: number }
  | { readonly kind: 'block'; readonly indent: number; readonly linesLeft: number }
  | { readonly kind: 'named' };

interface LineScan {
  readonly ranges: readonly SecretRange[];
  readonly next: Open | undefined;
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
      return { ranges, next: { kind: 'armor', linesLeft: MAX_ARMOR_LINES } };
    }
    ranges.push({ start: begin.index, end: ARMOR_END.lastIndex, kind: 'private-key' });
    ARMOR_BEGIN.lastIndex = ARMOR_END.lastIndex;
  }
  return { ranges, next: undefined };
}

function insideArmor(text: string, open: Open & { kind: 'armor' }): LineScan & { readonly from: number } {
  ARMOR_END.lastIndex = 0;
  if (ARMOR_END.exec(text) !== null) {
    const end = ARMOR_END.lastIndex;
    return { ranges: [{ start: 0, end, kind: 'private-key' }], next: undefined, from: end };
  }
  const next: Open | undefined = open.linesLeft > 1 ? { ...open, linesLeft: open.linesLeft - 1 } : undefined;
  if (text.length < 256 && ARMOR_LINE.test(text)) {
    return { ranges: [{ start: 0, end: text.length, kind: 'private-key' }], next, from: text.length };
  }
  const pieces = [...text.matchAll(ARMOR_PIECE)];
  const ranges = pieces.map((piece) => ({
    start: piece.index,
    end: piece.index + piece[0].length,
    kind: 'private-key',
  }));
  return { ranges, next, from: 0 };
}

function insideBlock(text: string, open: Open & { kind: 'block' }): LineScan {
  const indent = indentOf(text);
  if (text.trim() !== '' && indent <= open.indent) return { ranges: [], next: undefined };
  const next: Open | undefined = open.linesLeft > 1 ? { ...open, linesLeft: open.linesLeft - 1 } : undefined;
  return { ranges: text.trim() === '' ? [] : [{ start: indent, end: text.length, kind: 'secret' }], next };
}

function afterName(text: string): readonly SecretRange[] {
  const [, label = '', value = ''] = VALUE_LINE.exec(text) ?? [];
  return value === '' ? [] : [{ start: label.length, end: label.length + value.length, kind: 'secret' }];
}

function opens(text: string): Open | undefined {
  // Both forms are short lines.
  if (text.length > 512) return undefined;
  const block = text.includes(':') ? BLOCK_KEY.exec(text) : null;
  if (block !== null) return { kind: 'block', indent: (block[1] ?? '').length, linesLeft: MAX_BLOCK_LINES };
  return NAME_LINE.test(text) ? { kind: 'named' } : undefined;
}

/** The state of one log. Call `line` with its lines in order. */
export class LineRedactor {
  /** Secrets redacted so far. A key over several lines counts once. */
  redactions = 0;
  #open: Open | undefined;
  readonly #patterns: PatternSearch;

  constructor(patterns: PatternSearch) {
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
    const found = findSecrets({ text, from: 0, to: text.length, startsLine: true }, this.#patterns);
    if (this.#open === undefined && found.length === 0 && !text.includes(ARMOR)) {
      this.#open = opens(text);
      return text;
    }
    const wasArmor = this.#open?.kind === 'armor';
    const carried = this.#carry(text);
    const armor = findArmor(text, carried.from);
    this.#open = armor.next ?? carried.next ?? opens(text);

    const ranges = mergeRanges([...carried.ranges, ...armor.ranges, ...found]);
    this.redactions += Math.max(0, ranges.length - (wasArmor ? carried.ranges.length : 0));
    const [first] = carried.ranges;
    if (wasArmor && first?.start === 0 && first.end === text.length) return undefined;
    return replaceRanges(text, { from: 0, to: text.length, ranges });
  }

  /** Secrets that start in the span of a line too long to examine in one piece. */
  find(span: Span): readonly SecretRange[] {
    const armor = findArmor(span.text, span.from).ranges.filter((range) => range.start < span.to);
    const ranges = mergeRanges([...armor, ...findSecrets(span, this.#patterns)]);
    this.redactions += ranges.length;
    return ranges;
  }

  #carry(text: string): LineScan & { readonly from: number } {
    const open = this.#open;
    if (open?.kind === 'armor') return insideArmor(text, open);
    if (open?.kind === 'block') return { ...insideBlock(text, open), from: 0 };
    return { ranges: open?.kind === 'named' ? afterName(text) : [], next: undefined, from: 0 };
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
