import { expect, it } from 'vitest';
import { afterWords, formatBytes, formatCount, formatDuration, shortDuration } from '../../src/lib/duration.ts';

it.each([
  [-5, '0 s'],
  [2_000, '2 s'],
  [400, '0.4 s'],
  [9_949, '9.9 s'],
  [12_000, '12 s'],
  [59_600, '1 min'],
  [185_000, '3 min 5 s'],
  [3_600_000, '1 h'],
  [7_800_000, '2 h 10 min'],
])('%d ms is %s', (ms, words) => {
  expect(formatDuration(ms)).toBe(words);
});

it.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [3_500, '3.4 KiB'],
  [104_857_600, '100 MiB'],
  [1_073_741_824, '1.0 GiB'],
])('%d bytes is %s', (bytes, words) => {
  expect(formatBytes(bytes)).toBe(words);
});

it.each([
  [0, '0 lines'],
  [1, '1 line'],
  [2_000_000, '2,000,000 lines'],
])('%d is %s', (count, words) => {
  expect(formatCount(count, 'line')).toBe(words);
});

it('what took no time to speak of is never said to have taken 0.0 s', () => {
  expect([0, 30, 949, 950, 2_000].map(afterWords)).toEqual([
    'in under a second',
    'in under a second',
    'in under a second',
    'after 0.9 s',
    'after 2 s',
  ]);
  expect([0, 49, 50].map(shortDuration)).toEqual(['under a second', 'under a second', '0.1 s']);
});
