/**
 * The candidate that a person most likely meant, or undefined when none is near: at most a third of the letters
 * differ (insertions, deletions, replacements, swapped neighbours), letter case apart. Long words are not compared.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > 80) return undefined;
  const lower = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = candidate.length > 80 ? Number.POSITIVE_INFINITY : editDistance(lower, candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Optimal string alignment distance. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = at(above, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const swapped =
        a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1] ? at(before, column - 2) + 1 : replaced;
      current.push(Math.min(replaced, swapped, at(above, column) + 1, at(current, column - 1) + 1));
    }
    [before, above] = [above, current];
  }
  return at(above, b.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY;
