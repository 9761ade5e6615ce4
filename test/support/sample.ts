import fc from 'fast-check';
import { it } from 'vitest';
import { random } from '../../bench/random.ts';

/** `npm run test:full` tries everything; `npm test` tries a sample that depends on the seed alone. */
export const isFull = process.env.KDEBUG_TEST === 'full';

/** The seed of a run to repeat. */
export const seedGiven = process.env.KDEBUG_TEST_SEED;
const SEED = Number(seedGiven ?? 1);

/** A test of the full run alone: it takes long, and what it shows is shown in short elsewhere. */
export const itInFull = it.runIf(isFull);

/** One number for the full run, a smaller one for the sample. */
export const inFullOr = (full: number, sample: number): number => (isFull ? full : sample);

/** Printed once, however many lists have the name. */
const printed = new Set<string>();

/** All of `items` in the full run, else `count` of them, in their order. Prints which part of what was chosen. */
export function sampleOf<T>(what: string, items: readonly T[], count: number): readonly T[] {
  if (isFull || count >= items.length) return items;
  const draw = random(SEED);
  const order = items.map((_, index) => ({ index, at: draw() })).sort((a, b) => a.at - b.at);
  const chosen = new Set(order.slice(0, count).map(({ index }) => index));
  if (!printed.has(what)) process.stdout.write(`sample: ${count} of ${items.length} ${what} (seed ${SEED})\n`);
  printed.add(what);
  return items.filter((_, index) => chosen.has(index));
}

/** fast-check draws the same values in every sample; the full run draws new ones unless a seed is given. */
export function seedProperties(): void {
  if (!isFull || seedGiven !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED });
}
