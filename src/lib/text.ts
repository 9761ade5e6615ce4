/**
 * At most `length` characters (UTF-16 units) of a text, with `…` as the last one after a cut; never half of a surrogate
 * pair.
 */
export const shorten = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;

/** At most `length` characters, with `…` in the middle after a cut: names differ most at their ends. */
export function shortenMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = text.slice(text.length - Math.ceil((length - 1) / 2)).replace(/^[\udc00-\udfff]/, '');
  return `${shorten(text, length - end.length)}${end}`;
}

/** In quotation marks, which none of its own ends. */
export const inMarks = (text: string): string => `“${text.replace(/[“”„‟«»]/g, '"')}”`;

/** kdebug's own name stays lower case, even at a sentence's start; so does the name of a pod that is gone. */
const STARTS_WITH_NAME = /^(kdebug\b|\S+ is gone\b)/;

/** Turns words into a sentence: capital first, full stop last. */
export const capitalized = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`;

export const sentence = (words: string): string =>
  `${STARTS_WITH_NAME.test(words) ? words : `${words.charAt(0).toUpperCase()}${words.slice(1)}`}${/[.!?)]$/.test(words) ? '' : '.'}`;

/** Longer words get no suggestion: nobody mistypes that much, and the cost stays bounded. */
const MAX_LENGTH = 40;

/**
 * The candidate with the fewest edits (insert, delete, replace, swap of neighbours) from `word`, ignoring case;
 * `undefined` when even that needs too many: more than one for a word of two letters, two up to five, else three. The
 * first of equals.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length === 0 || word.length > MAX_LENGTH) return undefined;
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let fewest = (word.length < 3 ? 1 : word.length < 6 ? 2 : 3) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= fewest) continue;
    const edits = editDistance(wanted, candidate.toLowerCase());
    if (edits < fewest) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

/** Optimal string alignment distance, row by row. */
function editDistance(from: string, to: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = nextRow({ from, to, row }, last, beforeLast);
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}

interface Row {
  readonly from: string;
  readonly to: string;
  readonly row: number;
}

function nextRow({ from, to, row }: Row, last: readonly number[], beforeLast: readonly number[]): readonly number[] {
  const current = [row];
  for (let column = 1; column <= to.length; column += 1) {
    const replaced = (last[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
    const inserted = (current[column - 1] ?? 0) + 1;
    const deleted = (last[column] ?? 0) + 1;
    const isSwap = column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
    const swapped = isSwap ? (beforeLast[column - 2] ?? row) + 1 : Number.POSITIVE_INFINITY;
    current.push(Math.min(replaced, inserted, deleted, swapped));
  }
  return current;
}
