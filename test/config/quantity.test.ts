import { expect, it } from 'vitest';
import { durationMs, sizeBytes } from '../../src/config/quantity.ts';

it.each([
  ['30s', 30_000],
  ['15m', 900_000],
  ['2h', 7_200_000],
  ['7d', 604_800_000],
])('the duration %s is %d ms', (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

it.each([
  ['1Ki', 1_024],
  ['100Mi', 104_857_600],
  ['2Gi', 2_147_483_648],
])('the size %s is %d bytes', (text, bytes) => {
  expect(sizeBytes(text)).toBe(bytes);
});

it.each(['', '0s', '5', 's', '-5m', '1.5h', '5 m', '5M', '1h30m', '05m', '99999999d'])('%j is no duration', (text) => {
  expect(durationMs(text)).toBeNaN();
});

it.each(['', '0Mi', '5', '5M', '5MB', '5mi', '-5Mi', '1.5Gi', '5Ti'])('%j is no size', (text) => {
  expect(sizeBytes(text)).toBeNaN();
});
