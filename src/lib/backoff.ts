/** Waits between tries: doubling from `firstMs` to `maxMs`, each shortened by up to half at random. */
export interface BackOff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * The wait before try number `attempt` (0 is the first repetition). Without `random` (0 ≤ x < 1) nothing is subtracted.
 */
export function delayOf({ firstMs, maxMs }: BackOff, attempt: number, random: () => number = () => 0): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 20));
  return Math.round(fullMs * (1 - random() / 2));
}
