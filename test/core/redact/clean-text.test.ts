import { expect, it } from 'vitest';
import { cleanText, foldRewrites, unfinishedEscapeStart } from '../../../src/core/redact/clean-text.ts';

it('leaves clean text as it is', () => {
  expect(cleanText('tab\there, 日本 😀')).toBe('tab\there, 日本 😀');
});

it('folds to the last state that wrote anything', () => {
  expect(foldRewrites('a\rb\r\r')).toBe('b');
  expect(foldRewrites('\r\r')).toBe('');
});

it.each([
  ['a\x1b', 1],
  ['a\x1b[12;', 1],
  ['a\x1b]8;;http', 1],
  ['a\x1b]8;;http\x1b', 1],
  ['a\x1b(', 1],
  ['a\u009b1', 1],
  ['a\x1b[1m', 5],
  ['a\x1b]8;;x\x07', 8],
  ['abc', 3],
])('knows whether %j ends inside an escape sequence', (text, start) => {
  expect(unfinishedEscapeStart(text)).toBe(start);
});
