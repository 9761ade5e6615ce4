import { describe, expect, it } from 'vitest';
import { delayOf } from '../../src/lib/backoff.ts';

describe('delayOf', () => {
  const backOff = { firstMs: 100, maxMs: 1_000 };

  it('doubles from the first wait to the longest', () => {
    expect([0, 1, 2, 3, 4, 5].map((attempt) => delayOf(backOff, attempt))).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    expect(delayOf(backOff, 5_000)).toBe(1_000);
  });

  it('takes off up to half at random', () => {
    expect(delayOf(backOff, 1, () => 0)).toBe(200);
    expect(delayOf(backOff, 1, () => 0.5)).toBe(150);
    expect(delayOf(backOff, 1, () => 0.999)).toBe(100);
  });
});
