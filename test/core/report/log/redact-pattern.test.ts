import { expect, it } from 'vitest';
import { compilePattern, problemOfPattern } from '../../../../src/core/report/log/secret-range.ts';

it.each(['CUST-\\d{6}', '(?:a|b)+c', '[(+*]{2,4}x', '\\(a+\\)+', 'a+b+', '(a{2})+b', '(?<year>\\d{4})-'])(
  'accepts %s',
  (source) => {
    expect(problemOfPattern(source)).toBeUndefined();
  },
);

it.each([
  ['(', 'not_a_pattern'],
  ['a*', 'matches_nothing'],
  ['', 'matches_nothing'],
  ['a'.repeat(513), 'too_long'],
  ['(a+)+b', 'may_never_end'],
  ['((?:x|y*)z){2,}', 'may_never_end'],
  ['(a)\\1', 'may_never_end'],
])('refuses %s: %s', (source, problem) => {
  expect(problemOfPattern(source)).toBe(problem);
});

it('keeps the flags that change what is matched', () => {
  expect(compilePattern(/a/iy).flags).toBe('gi');
  expect(compilePattern('a').flags).toBe('g');
});
