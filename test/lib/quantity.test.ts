import { expect, it } from 'vitest';
import { quantityOf } from '../../src/lib/quantity.ts';

it.each([
  ['500m', 0.5],
  ['2', 2],
  ['.5', 0.5],
  ['1.5Gi', 1.5 * 1024 ** 3],
  ['144Mi', 144 * 1024 ** 2],
  ['128974848', 128974848],
  ['129e6', 129e6],
  ['129M', 129e6],
  ['12E', 12e18],
  ['', undefined],
  ['-1', undefined],
  ['1KiB', undefined],
  ['1 Gi', undefined],
  ['NaN', undefined],
])('reads %s as %s', (text, expected) => {
  const read = quantityOf(text);
  if (expected === undefined) expect(read).toBeUndefined();
  else expect(read).toBeCloseTo(expected, 9);
});
