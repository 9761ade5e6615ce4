import { expect, it } from 'vitest';
import { problemOfPattern, problemOfPatterns } from '../../../src/lib/patterns/linear-pattern.ts';

it.each([
  'CUST-\\d{6}',
  '(?:a|b)+c',
  '[(+*]{2,4}x',
  '\\(a+\\)+',
  'a+b+',
  '(a+)+b',
  '(?<year>\\d{4})-',
  '(?i)cust-\\d',
  '(?i:cust)-\\d',
  '[(?-]A',
  'it"s \\-\\/x',
  '\\w{1,64}=\\S+',
])('accepts %s', (source) => {
  expect(problemOfPattern(source)).toBeUndefined();
});

it.each([
  ['(', 'is not a regular expression (RE2, as in Go): missing closing ), ('],
  ['a*', 'matches the empty text'],
  ['', 'matches the empty text'],
  ['a'.repeat(513), 'is too long'],
  ['(a)\\1', 'has a back reference'],
  ['(?<a>b)\\k<a>', 'has a back reference'],
  ['a(?=b)', 'looks ahead or behind'],
  ['a(?!b)', 'looks ahead or behind'],
  ['(?<=a)b', 'looks ahead or behind'],
  ['(?<!a)b', 'looks ahead or behind'],
  ['x\\u0041', 'write \\x{2028} for \\u2028'],
  ['\\Aab', 'write ^ or $'],
  ['ab\\z', 'write ^ or $'],
  ['\\Qa+b\\E', 'a \\ before each mark'],
  ['(?-m:^a)', 'takes back a flag'],
  ['a{1,1001}', 'repeats more than 1,000 times'],
  ['\\w{300}\\w{300}', 'lower the bounds of its repeats'],
])('refuses %s: %s', (source, problem) => {
  expect(problemOfPattern(source)).toContain(problem);
});

it('bounds what all patterns of a policy cost together, as whoever writes a log chooses the line', () => {
  const small = Array.from({ length: 17 }, (_, index) => `CUST${index}-\\d{6}`);
  expect(problemOfPatterns(small)).toBeUndefined();
  const joined = `CUST(?:${Array.from({ length: 50 }, (_, index) => index).join('|')})-\\d{6}`;
  expect(problemOfPatterns([joined, '(?i)acme-\\w+', '\\b[\\w.]+@[\\w.]+\\.acme\\b'])).toBeUndefined();
  const large = Array.from({ length: 2 }, (_, index) => `\\b[\\w.]{1,64}@\\w{1,32}\\.acme${index}\\b`);
  expect(large.map((source) => problemOfPattern(source))).toEqual([undefined, undefined]);
  expect(problemOfPatterns(large)).toContain('take too long together');
  expect(problemOfPatterns(['('])).toBeUndefined();
});
