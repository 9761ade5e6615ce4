import { expect, it } from 'vitest';
import { formatDuration, MAX_DURATION_MS, parseDuration, printDuration } from '../../src/lib/duration.ts';

it.each([
  ['1s', 1_000],
  ['90s', 90_000],
  ['5m', 300_000],
  ['1h', 3_600_000],
  ['1h30m', 5_400_000],
  ['1h0m5s', 3_605_000],
  ['7d', MAX_DURATION_MS],
])('%s is %i ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

it.each([
  '',
  '0s',
  '0m0s',
  '5',
  's',
  '5M',
  '5 m',
  '-5m',
  '+5m',
  '1.5h',
  '5m5m',
  '30m1h',
  '5ms',
  '7d1s',
  '999999999s',
  '５m',
  '1e3s',
])('%j is no duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

it.each([
  ['90s', '1m30s'],
  ['60m', '1h'],
  ['25h', '1d1h'],
])('%s is printed as %s, which means the same', (typed, printed) => {
  const ms = parseDuration(typed) ?? 0;
  expect(printDuration(ms)).toBe(printed);
  expect(parseDuration(printed)).toBe(ms);
});

it('has no bound but the given one: a policy may allow more than seven days', () => {
  expect(parseDuration('8d')).toBeUndefined();
  expect(parseDuration('8d', Number.POSITIVE_INFINITY)).toBe(8 * 86_400_000);
  expect(parseDuration('1h30m', 5_399_999)).toBeUndefined();
});

it.each([
  [900, '0.9 s'],
  [185_000, '3 min 5 s'],
  [7_800_000, '2 h 10 min'],
  [47.9 * 3_600_000, '47 h 54 min'],
  [48 * 3_600_000, '2 d'],
  [76 * 3_600_000, '3 d 4 h'],
])('%i ms are %s to people', (ms, words) => {
  expect(formatDuration(ms)).toBe(words);
});
